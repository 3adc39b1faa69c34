"""The figures that the paper prints, to be shown beside measured ones and never in their place.

"Reviser: Revision-Capable Text Generation via Autoregressive Cursor Actions" (Sean Diab). They were
measured on 1000 prompts of C4's validation split for each of three seeds, with Skywork-Critic-8B as
judge, GPT-2 Large and Dream-7B as evaluators, and BERT pseudo-log-likelihood features for MAUVE.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "paper"


@dataclass(frozen=True)
class Arena:
    """Of two continuations, how often the judge chose Reviser's, in per cent."""

    reviser: str
    baseline: str
    reviser_wins: float
    table: str


ARENAS = (
    Arena("Reviser 100M", "AR Baseline 100M", 61.3, "Reviser vs. AR baseline"),
    Arena("Reviser 300M", "AR Baseline 300M", 54.4, "Reviser vs. AR baseline"),
    Arena("Reviser 100M", "Cerebras 111M", 72.1, "Reviser vs. AR baselines"),
    Arena("Reviser 100M", "Pythia 160M", 68.8, "Reviser vs. AR baselines"),
    Arena("Reviser 100M", "GPT-2 117M", 58.6, "Reviser vs. AR baselines"),
    Arena("Reviser 100M", "OPT 125M", 53.9, "Reviser vs. AR baselines"),
    Arena("Reviser 300M", "Cerebras 256M", 71.3, "Reviser vs. AR baselines"),
    Arena("Reviser 300M", "Pythia 410M", 51.3, "Reviser vs. AR baselines"),
    Arena("Reviser 300M", "GPT-2 345M", 50.4, "Reviser vs. AR baselines"),
    Arena("Reviser 300M", "OPT 350M", 49.9, "Reviser vs. AR baselines"),
    Arena("Reviser 100M", "SEDD Small 169M", 85.93, "Reviser vs. SEDD and MDLM"),
    Arena("Reviser 300M", "SEDD Absorb 353M", 68.47, "Reviser vs. SEDD and MDLM"),
    Arena("Reviser 100M", "MDLM 170M", 78.33, "Reviser vs. SEDD and MDLM"),
)

# Model: under GPT-2 Large, under Dream-7B.
EVAL_PPL = {
    "AR Baseline 100M": (13.5210, 13.9584),
    "Reviser 100M": (30.6355, 22.6693),
    "SEDD Small 169M": (158.7165, 117.0477),
    "MDLM 170M": (144.6948, 94.3026),
    "AR Baseline 300M": (12.5122, 12.0203),
    "Reviser 300M": (17.7700, 15.7733),
    "SEDD Absorb 353M": (98.6821, 83.2764),
}

MAUVE = {
    "AR Baseline 100M": 0.9038,
    "AR Baseline 300M": 0.9103,
    "Reviser 300M": 0.9349,
    "GPT-2 117M": 0.8770,
    "GPT-2 Medium 345M": 0.8230,
    "Reviser 100M": 0.8392,
    "SEDD Absorb 353M": 0.3594,
    "SEDD Small 169M": 0.1798,
    "MDLM 170M": 0.1509,
}

# Statistic (by its key in benchmarks.measures.statistics): Reviser 100M, Reviser 300M.
TRAJECTORIES = {
    "actions_per_output_token": (1.51, 1.40),
    "insert_fraction": (0.67, 0.72),
    "move_fraction": (0.33, 0.28),
    "mean_move_distance": (4.92, 6.05),
    "move_mass_1": (0.405, 0.374),
    "move_mass_2": (0.233, 0.227),
    "move_mass_4": (0.158, 0.155),
    "move_mass_8": (0.100, 0.111),
    "backward_move_fraction": (0.655, 0.645),
    "mean_insertion_position": (0.41, 0.42),
    "end_append_fraction": (0.039, 0.031),
    "non_end_append_fraction": (0.961, 0.969),
    "backward_revision_fraction": (1.0, 1.0),
}

# Giga multiply-accumulates and the multiplier, with the digits as they are printed.
FLOPS = {
    ("AR", "baseline"): ("15.939", "1"),
    ("Reviser", "p_move=0.20"): ("19.9709", "1.253"),
    ("Reviser", "p_move=0.28"): ("22.2191", "1.394"),
    ("Reviser", "p_move=0.33"): ("23.9006", "1.4995"),
    ("SEDD", "T_dec=32"): ("514.8424", "32.3008"),
    ("SEDD", "T_dec=2048"): ("32949.9154", "2067.2497"),
    ("MDLM", "T_dec=1000"): ("16088.8259", "1009.3993"),
    ("D3PM", "T_dec=1000"): ("16088.8259", "1009.3993"),
    ("Diffusion-LM", "T_dec=200, clamp=0"): ("2239.6404", "140.5131"),
    ("Diffusion-LM", "T_dec=200, clamp=1"): ("3217.7652", "201.8799"),
    ("Diffusion-LM", "T_dec=2000, clamp=0"): ("22352.1669", "1402.356"),
    ("AR (Qwen2.5-32B)", "baseline"): ("4099.3869", "1"),
    ("AR (Qwen2.5-7B)", "baseline"): ("906.6536", "1"),
    ("AR (LLaMA3-8B)", "baseline"): ("962.7605", "1"),
    ("SDLM-32B-D4", "D=4, k=2"): ("8198.9416", "2"),
    ("Dream-7B", "T_dec=10"): ("8768.9307", "9.6718"),
    ("Dream-7B", "T_dec=20"): ("17502.9816", "19.305"),
    ("LLaDA-8B", "T_dec=256"): ("238317.9374", "247.536"),
    ("LLaDA-8B", "semi-AR, b=32, T_b=16"): ("36426.5572", "37.8355"),
    ("LevT", "no EE, R=5"): ("154.6186", "9.7006"),
    ("LevT", "no EE, R=10"): ("309.2373", "19.4013"),
    ("LevT", "EE 0.5, R=5"): ("110.1657", "6.9117"),
    ("LevT", "EE 0.5, R=10"): ("220.3315", "13.8234"),
    ("InsT", "balanced-tree"): ("32.1602", "2.0177"),
    ("InsT", "serial"): ("1036.2024", "65.0105"),
    ("NAT", "one-shot"): ("31.1932", "1.957"),
    ("CMLM", "Mask-Predict, T_mp=10"): ("189.0486", "11.8607"),
}

# Parts of the formulas, as the appendix prints them on the way.
FLOPS_TERMS = {
    "F_transformer^causal(128)": "11.0238",
    "F_vocab(128)": "4.9152",
    "n_eff(p_move=0.20)": "160",
    "F_transformer^causal(160.00)": "13.8269",
    "F_vocab(160.00)": "6.144",
    "n_eff(p_move=0.28)": "177.78",
    "F_transformer^causal(177.78)": "15.3924",
    "F_vocab(177.78)": "6.8267",
    "n_eff(p_move=0.33)": "191.04",
    "F_transformer^causal(191.04)": "16.5644",
    "F_vocab(191.04)": "7.3361",
    "F_transformer^full(128)": "11.1736",
    "F_transformer^full(102.4)": "8.8906",
    "F_mult(102.4, 768, 2)": "0.1573",
    "F_mult(103.4, 1536, 17)": "2.7",
    "F_vocab(51.2)": "1.9661",
    "F_iter^LevT, no EE": "30.9237",
    "F_iter^LevT, EE": "22.0331",
    "sum of F_transformer^full, balanced": "22.061",
    "sum of F_vocab, balanced": "10.0992",
    "sum of F_transformer^full, serial": "714.2568",
    "sum of F_vocab, serial": "321.9456",
    "F_xattn(128, 128)": "3.9259",
    "F_fert(128)": "4.9152",
    "sum of m_t": "700",
    "F_transformer^full(128) + F_xattn(128, 128)": "15.0995",
    "sum of F_vocab(m_t)": "26.88",
}
