"""The paper's analytic count of inference compute: its formulas, the figures of its appendix, and any model's cost.

As in the paper, the unit is one multiply-accumulate of a matrix product, and everything else is ignored. A
method's multiplier is its cost of writing n tokens over that of an autoregressive model. Names follow the
paper: `full` and `causal` are its F_transformer, `vocab` its F_vocab.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from benchmarks.measures.statistics import Walk, by_model, walks
from benchmarks.report import paper_tables
from benchmarks.report.tables import Table
from reviser.cli.completion import complete_model
from reviser.cli.options import Option
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8
from reviser.core.trajectory import load_trajectories

if TYPE_CHECKING:
    from reviser.model.config import ModelConfig

GIGA, MEGA = 1e9, 1e6
LENGTH = 128
MOVE_FRACTIONS = (0.20, 0.28, 0.33)
LARGEST_INSERTION = 16
FERTILITIES = 50


@dataclass(frozen=True)
class TransformerShape:
    """The dimensions that determine the cost of a Transformer; `kv_width` is smaller if query heads share keys."""

    layers: int
    width: int
    ff: int
    vocabulary: int
    kv_width: int
    gated: bool

    @classmethod
    def of(cls, config: ModelConfig) -> TransformerShape:
        if config.uses_canvas:
            raise ReviserError("the formulas cover models that see their history alone, not the canvas")
        kv_width = config.kv_heads * config.head_dim
        gated = config.kind == "llama"
        return cls(config.layers, config.width, config.ff, config.vocab_size, kv_width, gated)

    def full(self, n: float) -> float:
        """One pass over n positions with full attention."""
        return self._trunk(n, n * n)

    def causal(self, n: float) -> float:
        """One pass over n positions with causal attention, or n cached steps."""
        return self._trunk(n, n * (n + 1) / 2)

    def vocab(self, n: float) -> float:
        """The output layer: scores over the vocabulary at n positions."""
        return n * self.width * self.vocabulary

    def autoregressive(self, n: float) -> float:
        """Writing n tokens autoregressively, with scores at each."""
        return self.causal(n) + self.vocab(n)

    def continuation(self, prompt: int, steps: int) -> float:
        """Reading `prompt` ids and choosing `steps` more; the last one chosen is never read."""
        return self.causal(prompt + steps - 1) + self.vocab(steps) if steps else 0.0

    def block(self, size: int, cached: float) -> float:
        """A causal block after `cached` positions whose keys and values are kept."""
        return self._trunk(size, size * cached + size * (size + 1) / 2)

    def cross(self, n: float, source: float) -> float:
        """Attention of n positions to `source` others, in every layer."""
        d = self.width
        return self.layers * (2 * n * d * d + 2 * source * d * d + 2 * n * source * d)

    def _trunk(self, n: float, pairs: float) -> float:
        d = self.width
        projections = 2 * d * d + 2 * d * self.kv_width
        mlp = (3 if self.gated else 2) * d * self.ff
        return self.layers * (n * (projections + mlp) + 2 * pairs * d)


REFERENCE = TransformerShape(12, 768, 4 * 768, 50_000, 768, gated=False)
QWEN_32B = TransformerShape(64, 5120, 27648, 152064, 1024, gated=True)
QWEN_7B = TransformerShape(28, 3584, 18944, 152064, 512, gated=True)
LLAMA3_8B = TransformerShape(32, 4096, 14336, 128256, 1024, gated=True)
LLADA_8B = TransformerShape(32, 4096, 12288, 126464, 4096, gated=True)


@dataclass(frozen=True)
class Discrepancy:
    """A discrepancy: the value of the formula as printed where the paper prints other digits."""

    gflops: float
    multiplier: float
    why: str


@dataclass(frozen=True)
class Figure:
    """The cost of one method; with a discrepancy if its printed formula gives another value."""

    method: str
    variant: str
    macs: float
    baseline: float
    departure: Discrepancy | None = None

    @property
    def gflops(self) -> float:
        return round(self.macs / GIGA, 4)

    @property
    def multiplier(self) -> float:
        return round(self.macs / self.baseline, 4)

    def to_dict(self) -> dict[str, object]:
        return {"method": self.method, "variant": self.variant, "gflops": self.gflops, "multiplier": self.multiplier}


@dataclass(frozen=True)
class Term:
    """A part of a formula whose value the appendix prints."""

    name: str
    value: float
    unit: str

    def to_dict(self) -> dict[str, object]:
        return {"name": self.name, "value": self.value, "unit": self.unit}


def reviser(shape: TransformerShape, n: float, move_fraction: float) -> float:
    """Writing n tokens by a Reviser; `move_fraction` is the share of moves among its actions."""
    return shape.autoregressive(n / (1 - move_fraction))


def diffusion(shape: TransformerShape, n: float, steps: int) -> float:
    """SEDD, MDLM, D3PM: every step is a full pass with scores at every position."""
    return steps * (shape.full(n) + shape.vocab(n))


def diffusion_lm(shape: TransformerShape, n: float, steps: int, clamped: float) -> float:
    """Continuous diffusion: scores at the last step and at a share `clamped` of the other steps."""
    return steps * shape.full(n) + (1 + clamped * (steps - 1)) * shape.vocab(n)


def sdlm(shape: TransformerShape, n: int, block: int, committed: int) -> float:
    """SDLM: blocks proposed on a cache; on average `committed` tokens of each are kept."""
    passes = ceil(n / committed)
    return sum(shape.block(block, s * committed) + shape.vocab(block) for s in range(passes))


def unmasking(shape: TransformerShape, n: float, steps: int) -> float:
    """Dream, LLaDA: full passes, with scores only at masked positions under a linear schedule."""
    return steps * shape.full(n) + (steps + 1) / 2 * shape.vocab(n)


def unmasking_in_blocks(shape: TransformerShape, n: int, block: int, steps: int) -> float:
    """LLaDA in blocks from left to right: each block attends to all text before it and is unmasked in `steps` steps."""
    ends = (min((j + 1) * block, n) for j in range(ceil(n / block)))
    return sum(steps * shape.full(end) + (steps + 1) / 2 * shape.vocab(block) for end in ends)


def levenshtein_round(shape: TransformerShape, n: float, depth: float) -> float:
    """One LevT round: deletion and placeholder counts (both through `depth` of the layers), then filling."""
    before, filled = 0.8 * n, 0.4 * n
    heads = before * shape.width * 2 + (before + 1) * 2 * shape.width * (LARGEST_INSERTION + 1)
    return 2 * depth * shape.full(before) + shape.full(n) + heads + shape.vocab(filled)


def insertion(shape: TransformerShape, lengths: Iterable[int]) -> float:
    """InsT: for each length of the growing text, a full pass and scores at every gap."""
    return sum(shape.full(length) + shape.vocab(length + 1) for length in lengths)


def one_shot(shape: TransformerShape, n: float) -> float:
    """NAT: an encoder pass, fertilities, one decoder pass with cross-attention, scores."""
    fertility = n * shape.width * FERTILITIES
    return shape.full(n) + fertility + shape.full(n) + shape.cross(n, n) + shape.vocab(n)


def masks_left(n: int, rounds: int) -> list[int]:
    """Mask-Predict's linear schedule: how many tokens each round predicts."""
    return [n * (rounds - t) // rounds for t in range(rounds)]


def mask_predict(shape: TransformerShape, n: int, rounds: int) -> float:
    """CMLM: an encoder pass, then rounds of a decoder pass with scores where masks are left."""
    decoder = shape.full(n) + shape.cross(n, n)
    return shape.full(n) + rounds * decoder + shape.vocab(sum(masks_left(n, rounds)))


def figures() -> list[Figure]:
    """All figures of the paper's appendix, in its order."""
    n, ours = LENGTH, REFERENCE
    baseline = ours.autoregressive(n)
    q32, q7, llama = (shape.autoregressive(n) for shape in (QWEN_32B, QWEN_7B, LLAMA3_8B))
    halving = [2**power for power in range(8)]

    def anchored(method: str, variant: str, macs: float) -> Figure:
        return Figure(method, variant, macs, baseline)

    def gated(method: str, variant: str, macs: float, literal: float, base: float) -> Figure:
        why = (
            "the printed formula names F_transformer^full, of full K and V and a two-matrix MLP; "
            "the printed digits are those of F_transformer^full,gated"
        )
        departure = Discrepancy(round(literal / GIGA, 4), round(literal / base, 4), why)
        return Figure(method, variant, macs, base, departure)

    dream, llada = _ungated(QWEN_7B), _ungated(LLADA_8B)
    return [
        anchored("AR", "baseline", baseline),
        *(_reviser_figure(p, baseline) for p in MOVE_FRACTIONS),
        anchored("SEDD", "T_dec=32", diffusion(ours, n, 32)),
        anchored("SEDD", "T_dec=2048", diffusion(ours, n, 2048)),
        anchored("MDLM", "T_dec=1000", diffusion(ours, n, 1000)),
        anchored("D3PM", "T_dec=1000", diffusion(ours, n, 1000)),
        anchored("Diffusion-LM", "T_dec=200, clamp=0", diffusion_lm(ours, n, 200, 0)),
        anchored("Diffusion-LM", "T_dec=200, clamp=1", diffusion_lm(ours, n, 200, 1)),
        anchored("Diffusion-LM", "T_dec=2000, clamp=0", diffusion_lm(ours, n, 2000, 0)),
        Figure("AR (Qwen2.5-32B)", "baseline", q32, q32),
        Figure("AR (Qwen2.5-7B)", "baseline", q7, q7),
        Figure("AR (LLaMA3-8B)", "baseline", llama, llama),
        Figure("SDLM-32B-D4", "D=4, k=2", sdlm(QWEN_32B, n, 4, 2), q32),
        gated("Dream-7B", "T_dec=10", unmasking(QWEN_7B, n, 10), unmasking(dream, n, 10), q7),
        gated("Dream-7B", "T_dec=20", unmasking(QWEN_7B, n, 20), unmasking(dream, n, 20), q7),
        gated("LLaDA-8B", "T_dec=256", unmasking(LLADA_8B, n, 256), unmasking(llada, n, 256), llama),
        gated(
            "LLaDA-8B",
            "semi-AR, b=32, T_b=16",
            unmasking_in_blocks(LLADA_8B, n, 32, 16),
            unmasking_in_blocks(llada, n, 32, 16),
            llama,
        ),
        anchored("LevT", "no EE, R=5", 5 * levenshtein_round(ours, n, 1)),
        anchored("LevT", "no EE, R=10", 10 * levenshtein_round(ours, n, 1)),
        anchored("LevT", "EE 0.5, R=5", 5 * levenshtein_round(ours, n, 0.5)),
        anchored("LevT", "EE 0.5, R=10", 10 * levenshtein_round(ours, n, 0.5)),
        anchored("InsT", "balanced-tree", insertion(ours, halving)),
        anchored("InsT", "serial", insertion(ours, range(1, n + 1))),
        anchored("NAT", "one-shot", one_shot(ours, n)),
        anchored("CMLM", "Mask-Predict, T_mp=10", mask_predict(ours, n, 10)),
    ]


def _ungated(shape: TransformerShape) -> TransformerShape:
    return TransformerShape(shape.layers, shape.width, shape.ff, shape.vocabulary, shape.width, gated=False)


def _reviser_figure(move_fraction: float, baseline: float) -> Figure:
    actions = LENGTH / (1 - move_fraction)
    literal = REFERENCE.autoregressive(round(actions, 2))
    macs = REFERENCE.autoregressive(actions)
    departure = None
    if round(literal / GIGA, 4) != round(macs / GIGA, 4):
        why = "the printed costs are those of the unrounded n_eff, not of the printed n_eff"
        departure = Discrepancy(round(literal / GIGA, 4), round(literal / baseline, 4), why)
    return Figure("Reviser", f"p_move={move_fraction:.2f}", macs, baseline, departure)


def terms() -> list[Term]:
    """The parts of formulas that the appendix prints, in its order."""
    n, ours = LENGTH, REFERENCE
    halving, serial = [2**power for power in range(8)], range(1, n + 1)

    def giga(name: str, macs: float) -> Term:
        return Term(name, round(macs / GIGA, 4), "G")

    def mega(name: str, macs: float) -> Term:
        return Term(name, round(macs / MEGA, 4), "M")

    anchors = [giga("F_transformer^causal(128)", ours.causal(n)), giga("F_vocab(128)", ours.vocab(n))]
    for move_fraction in MOVE_FRACTIONS:
        length = n / (1 - move_fraction)
        anchors += [
            Term(f"n_eff(p_move={move_fraction:.2f})", round(length, 2), ""),
            giga(f"F_transformer^causal({length:.2f})", ours.causal(length)),
            giga(f"F_vocab({length:.2f})", ours.vocab(length)),
        ]
    return [
        *anchors,
        giga("F_transformer^full(128)", ours.full(n)),
        giga("F_transformer^full(102.4)", ours.full(0.8 * n)),
        mega("F_mult(102.4, 768, 2)", 0.8 * n * ours.width * 2),
        mega("F_mult(103.4, 1536, 17)", (0.8 * n + 1) * 2 * ours.width * (LARGEST_INSERTION + 1)),
        giga("F_vocab(51.2)", ours.vocab(0.4 * n)),
        giga("F_iter^LevT, no EE", levenshtein_round(ours, n, 1)),
        giga("F_iter^LevT, EE", levenshtein_round(ours, n, 0.5)),
        giga("sum of F_transformer^full, balanced", sum(map(ours.full, halving))),
        giga("sum of F_vocab, balanced", sum(ours.vocab(t + 1) for t in halving)),
        giga("sum of F_transformer^full, serial", sum(map(ours.full, serial))),
        giga("sum of F_vocab, serial", sum(ours.vocab(t + 1) for t in serial)),
        giga("F_xattn(128, 128)", ours.cross(n, n)),
        mega("F_fert(128)", n * ours.width * FERTILITIES),
        Term("sum of m_t", sum(masks_left(n, 10)), ""),
        giga("F_transformer^full(128) + F_xattn(128, 128)", ours.full(n) + ours.cross(n, n)),
        giga("sum of F_vocab(m_t)", ours.vocab(sum(masks_left(n, 10)))),
    ]


@dataclass(frozen=True)
class MeasuredCost:
    """The cost of measured runs as a multiple of writing the same tokens autoregressively.

    `predicted` is the paper's formula at the measured move fraction and mean length. `counted` sums the actions
    that were taken, including Stop. `with_prompt` includes the cost of reading the prompt, for both models, and of
    attending to it in later steps.
    """

    runs: int
    tokens: float
    actions: float
    move_fraction: float
    predicted: float
    counted: float
    with_prompt: float


def measure(shape: TransformerShape, walks: Sequence[Walk]) -> MeasuredCost:
    """The predicted and the counted cost of runs of a model of this shape."""
    written = [walk for walk in walks if walk.tokens]
    if not written:
        raise ReviserError("no run has written a token, so there is nothing to compare with")
    tokens = sum(walk.tokens for walk in written) / len(written)
    actions = sum(walk.actions for walk in written) / len(written)
    moves = sum(walk.moves for walk in written) / sum(walk.actions - walk.stops for walk in written)
    # A Reviser also reads its start marker.
    mine = sum(shape.continuation(walk.seeded + 1, walk.actions) for walk in written)
    theirs = sum(shape.continuation(walk.seeded, walk.tokens) for walk in written)
    return MeasuredCost(
        runs=len(written),
        tokens=tokens,
        actions=actions,
        move_fraction=moves,
        predicted=reviser(shape, tokens, moves) / shape.autoregressive(tokens),
        counted=sum(shape.autoregressive(walk.actions) for walk in written)
        / sum(shape.autoregressive(walk.tokens) for walk in written),
        with_prompt=mine / theirs,
    )


def find_shape(name: str | None) -> TransformerShape:
    """The shape of a preset or of a stored model; without a name, that of the paper's reference model."""
    if name is None:
        return REFERENCE
    from reviser.checkpoints import find_model, inspect
    from reviser.model.config import preset, preset_names

    return TransformerShape.of(preset(name) if name in preset_names() else inspect(find_model(name)).config)


@dataclass(frozen=True, kw_only=True)
class FlopsOptions:
    """The options of `flops`: the form of the paper's figures, or recorded runs of a model."""

    json: Annotated[bool, Option("print JSON")] = False
    terms: Annotated[bool, Option("also the parts of the formulas, and departures")] = False
    trajectories: Annotated[
        Path | None, Option("what these recorded runs cost, predicted and counted", metavar="FILE")
    ] = None
    model: Annotated[
        str | None,
        Option(
            "with --trajectories: the model's name, path or preset",
            default="the paper's reference model",
            complete=complete_model,
        ),
    ] = None


def run(options: FlopsOptions) -> None:
    """Prints the paper's inference costs, or those of recorded runs."""
    if options.trajectories is not None:
        print(measured_report(options.model, options.trajectories, as_json=options.json))
    elif options.model is not None:
        raise ReviserError("the cost of a model (--model) needs --trajectories")
    else:
        print(paper_report(as_json=options.json, with_terms=options.terms))


def paper_report(*, as_json: bool, with_terms: bool) -> str:
    """A report of all figures of the appendix, computed and as printed."""
    computed = figures()
    if as_json:
        rows = [figure.to_dict() for figure in computed]
        if not with_terms:
            return json.dumps(rows, indent=1)
        everything = {
            "figures": rows,
            "terms": [term.to_dict() for term in terms()],
            "departures": [
                figure.to_dict() | {"to_the_letter": asdict(figure.departure)}
                for figure in computed
                if figure.departure
            ],
        }
        return json.dumps(everything, indent=1)
    intro = (
        f"Cost of {LENGTH} tokens in giga multiply-accumulates, and as a multiple of an "
        "autoregressive model's:\nfrom the paper's formulas, and as the paper prints them.\n"
    )
    parts = [intro, figures_table(computed).markdown(), _discrepancies(computed)]
    if with_terms:
        parts.append(terms_table(terms()).markdown())
    return "\n".join(parts)


def figures_table(computed: Sequence[Figure]) -> Table:
    columns = ("method", "variant", "GMAC", "multiplier", "printed GMAC", "printed multiplier", "")
    return Table(
        columns,
        tuple(
            (
                figure.method,
                figure.variant,
                digits(figure.gflops),
                digits(figure.multiplier),
                *(printed := paper_tables.FLOPS[figure.method, figure.variant]),
                "same" if (digits(figure.gflops), digits(figure.multiplier)) == printed else "not",
            )
            for figure in computed
        ),
        names=2,
    )


def terms_table(computed: Sequence[Term]) -> Table:
    return Table(
        ("term", "value", "printed", "unit"),
        tuple((term.name, digits(term.value), paper_tables.FLOPS_TERMS[term.name], term.unit) for term in computed),
    )


def _discrepancies(computed: Sequence[Figure]) -> str:
    """The figures whose computed digits differ from the printed ones, by reason."""
    reasons: dict[str, list[str]] = {}
    for figure in computed:
        if departure := figure.departure:
            found = f"{digits(departure.gflops)} G, {digits(departure.multiplier)} times"
            reasons.setdefault(departure.why, []).append(f"  {figure.method}, {figure.variant}: {found}")
    lines = ["Read to the letter as printed, some formulas give other digits than those printed:"]
    for why, cases in reasons.items():
        lines += [f"- {why}:", *cases]
    return "\n".join(lines) + "\n"


def digits(value: float) -> str:
    """Up to four decimals and no zeros at the end, as the paper prints them."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def measured_report(model: str | None, file: Path, *, as_json: bool) -> str:
    """A report of the cost of the runs in a trajectory file, for each model in it."""
    shape = find_shape(model)
    groups = by_model(walks(load_trajectories(file, read_utf8(file))))
    measured = {name: measure(shape, group) for name, group in groups.items()}
    if as_json:
        return json.dumps({"shape": asdict(shape)} | {"models": {n: asdict(x) for n, x in measured.items()}}, indent=1)
    size = f"{shape.layers} layers, width {shape.width}, MLP {shape.ff}, vocabulary {shape.vocabulary}"
    named = model or "the paper's reference model"
    return (
        f"Cost as a multiple of an autoregressive model of the same shape ({named}: {size}).\n\n"
        f"{measured_table(measured).markdown()}"
    )


def measured_table(measured: dict[str, MeasuredCost]) -> Table:
    columns = ("runs of", "runs", "tokens", "actions", "moves", "predicted", "counted", "with the prompt")
    return Table(
        columns,
        tuple(
            (
                name,
                str(entry.runs),
                f"{entry.tokens:.1f}",
                f"{entry.actions:.1f}",
                f"{entry.move_fraction:.1%}",
                f"{entry.predicted:.4f}",
                f"{entry.counted:.4f}",
                f"{entry.with_prompt:.4f}",
            )
            for name, entry in measured.items()
        ),
    )
