"""The continuation protocol: the choice of texts, the length of prompts, and the settings of generation.

A text is eligible if it has `shortest` to `longest` GPT-2 tokens; its first `prompt_tokens` are the prompt, and
the rest up to `total_tokens` is the real continuation. Each seed orders the same pool of eligible texts in its
own way, and fewer prompts are a prefix of more.

The openings of the everyday benchmark are whole prompts without a continuation (`whole_prompt`).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from urllib.parse import urlsplit

from benchmarks.builtin import builtin_texts
from benchmarks.builtin.passages import passages
from benchmarks.protocol.records import Prompt
from benchmarks.protocol.results import Row
from reviser.core.errors import ReviserError
from reviser.core.text import visible_text
from reviser.core.tokenizer import Gpt2Tokenizer
from training.data.sources import documents, expand

BUILTIN, C4 = "builtin", "c4"
POOL = 10_000
_TOKENIZER = Gpt2Tokenizer()
C4_FILES = tuple(f"en/c4-validation.{part:05d}-of-00008.json.gz" for part in range(8))


@dataclass(frozen=True)
class Setup:
    """The settings of the protocol; the defaults are the paper's.

    `data` is "builtin", "c4", a JSONL or text file, a folder of them, or `hf:NAME@CONFIG#SPLIT`.
    """

    data: str = BUILTIN
    prompts: int = 1000
    seeds: tuple[int, ...] = (123, 124, 125)
    shortest: int = 144
    longest: int = 216
    prompt_tokens: int = 35
    total_tokens: int = 180
    max_actions: int = 256
    temperature: float = 0.9
    top_k: int = 50
    diffusion_steps: int = 128

    def __post_init__(self) -> None:
        if not 0 < self.prompt_tokens < self.shortest <= self.longest:
            raise ReviserError("prompts must be shorter than the shortest text that is taken")
        if not self.prompt_tokens < self.total_tokens:
            raise ReviserError("the total length must leave room for a continuation")
        if min(self.prompts, self.max_actions, self.diffusion_steps, self.top_k) < 1:
            raise ReviserError("prompts, actions, diffusion steps and top-k must be 1 or more")
        if self.temperature < 0:
            raise ReviserError("the temperature must be 0 or more")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ReviserError("a run needs seeds, each of them once")

    @property
    def new_tokens(self) -> int:
        """The maximum number of tokens of a continuation."""
        return self.total_tokens - self.prompt_tokens

    def writing(self) -> dict[str, float]:
        """The settings of generation, without those of the prompts."""
        return {
            "total_tokens": self.total_tokens,
            "max_actions": self.max_actions,
            "temperature": self.temperature,
            "top_k": self.top_k,
            "diffusion_steps": self.diffusion_steps,
        }

    def to_dict(self) -> Row:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Row) -> Setup:
        return replace(cls(**data), seeds=tuple(data["seeds"]))


def best_source(say: Callable[[str], None]) -> str:
    """The source C4 if the hub can be reached, else the built-in texts."""
    if hub_can_be_reached():
        return C4
    say("the hub cannot be reached, so the built-in texts are used (--data names others)")
    return BUILTIN


def hub_can_be_reached(seconds: float = 3.0) -> bool:
    """Whether the Hugging Face hub answers within `seconds`."""
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        return False
    address = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    port = address.port or (80 if address.scheme == "http" else 443)
    try:
        socket.create_connection((address.hostname or "", port), seconds).close()
    except OSError:
        return False
    return True


def prompts_by_seed(setup: Setup) -> dict[int, list[Prompt]]:
    """Each seed's prompts."""
    pool = eligible(texts_of(setup.data, setup), setup)
    if not pool:
        raise ReviserError(f"{setup.data} holds no text of {setup.shortest} to {setup.longest} GPT-2 tokens")
    return {seed: _drawn(pool, seed)[: setup.prompts] for seed in setup.seeds}


def _drawn(pool: list[Prompt], seed: int) -> list[Prompt]:
    order = list(pool)
    random.Random(seed).shuffle(order)
    return order


def eligible(texts: Iterable[str], setup: Setup, most: int = POOL) -> list[Prompt]:
    """The prompts of the first `most` eligible texts, without duplicates."""
    pool: dict[str, Prompt] = {}
    for text in texts:
        if prompt := prompt_of(text, setup, setup.data):
            pool.setdefault(prompt.id, prompt)
        if len(pool) == most:
            break
    return list(pool.values())


def whole_prompt(id: str, text: str, source: str) -> Prompt:
    """A prompt that is a whole text, without a real continuation."""
    return Prompt(id, text, tuple(_TOKENIZER.encode(text)), "", source)


def prompt_of(text: str, setup: Setup, source: str) -> Prompt | None:
    """The prompt of a text; None if its length is not eligible or the cut would split a character."""
    tokens = _TOKENIZER.encode(text)
    if not setup.shortest <= len(tokens) <= setup.longest:
        return None
    given = tokens[: setup.prompt_tokens]
    try:
        shown = b"".join(map(_TOKENIZER.token_bytes, given)).decode()
    except UnicodeDecodeError:
        return None
    rest = tokens[setup.prompt_tokens : setup.total_tokens]
    reference = visible_text(b"".join(map(_TOKENIZER.token_bytes, rest)))
    id = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Prompt(id, shown, tuple(given), reference, source)


def texts_of(source: str, setup: Setup) -> Iterator[str]:
    """Yields the texts of a source."""
    if source == BUILTIN:
        yield from builtin_texts()
    elif source == C4:
        yield from _c4_texts()
    else:
        for name in expand([source]):
            found = documents(name)
            if _is_listed(name):
                yield from found
            else:
                yield from passages("".join(found), setup.shortest, setup.longest)


def _is_listed(name: str) -> bool:
    """Whether a source is a list of separate texts."""
    return name.startswith("hf:") or ".jsonl" in name


def _c4_texts() -> Iterator[str]:
    """Yields the English validation split of allenai/c4, from the hub or its local cache."""
    from huggingface_hub import hf_hub_download

    for file in C4_FILES:
        try:
            path = hf_hub_download("allenai/c4", file, repo_type="dataset")
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                yield from (json.loads(line)["text"] for line in lines)
        except Exception as error:  # the hub's client raises many kinds
            reason = str(error).partition("\n")[0]
            raise ReviserError(f"C4 cannot be read from the hub: {reason}") from None
