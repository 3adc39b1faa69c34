"""The command of the everyday benchmark: models continue a hundred everyday openings, and the texts are compared.

A contestant is a model folder or name, `default`, `plain:MODEL` for one of ours that may only insert and stop,
`unchecked:MODEL` for one whose steps back are all made, a GGUF file or `smollm2` for the base, or a causal language
model by folder or hub name; NAME= before it names it. The first is compared with each of the others.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from benchmarks.contestants.continuation_models import load_contestant, named_source
from benchmarks.contestants.own_models import DecodingOptions
from benchmarks.everyday.contest import ContestResult, judge, written
from benchmarks.everyday.critic import Critic
from benchmarks.everyday.fetching import CRITIC, confirm, default_file, fetch
from benchmarks.everyday.joins import QUANTILE, Reader, prose, real_strangeness, threshold_of
from benchmarks.everyday.page import markdown, page, tables
from benchmarks.everyday.prompts import KINDS, Opening, openings
from benchmarks.protocol.runs import ProgressBars, RunCache, RunFolder, default_cache, key_of
from benchmarks.protocol.setup import BUILTIN, Setup, texts_of
from benchmarks.report.provenance import surroundings
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.decoding.sampler import MOVE_TEMPERATURE
from reviser.scoring.loading import default_device, fingerprint, home_checkpoint, short_name

# Real texts from which the threshold of joins comes.
_REAL_TEXTS = 60


@dataclass(frozen=True, kw_only=True)
class EverydayOptions:
    """Options of the everyday benchmark: models, openings and critic."""

    contestants: Annotated[tuple[str, ...], Argument("models", metavar="[NAME=]MODEL")] = ()
    kinds: Annotated[str | None, Option("kinds of openings, separated by commas", default=",".join(KINDS))] = None
    each: Annotated[int | None, Option("only the first N openings of a kind", metavar="N")] = None
    seeds: Annotated[tuple[int, ...], Option("random seed of the sampling", metavar="N", together=True)] = (123, 124)
    length: Annotated[int, Option("tokens of a continuation")] = 145
    temperature: Annotated[float, Option("sampling temperature")] = 0.7
    top_k: Annotated[int, Option("sample from the K most likely ids")] = 50
    move_temperature: Annotated[float, Option("sampling temperature of moves")] = MOVE_TEMPERATURE
    base: Annotated[str, Option("reads the texts and judges joins: a GGUF file or name")] = "smollm2"
    real: Annotated[str, Option("real text that joins are held against", metavar="TEXTS")] = BUILTIN
    critic: Annotated[Path | None, Option("the critic's GGUF file", metavar="FILE")] = None
    no_critic: Annotated[bool, Option("do not use the critic")] = False
    yes: Annotated[bool, Option("fetch the critic (1.1 GB) without asking")] = False
    out: Annotated[Path | None, Option("folder for .md, .json and .html", metavar="DIR")] = None
    cache: Annotated[Path | None, Option("file that caches texts and judgements", metavar="FILE")] = None
    json: Annotated[bool, Option("print JSON")] = False
    words: Words = ()


def run(arguments: EverydayOptions) -> None:
    """Runs the benchmark according to the options."""
    command = shlex.join(["reviser", "bench", "everyday", *arguments.words])
    with RunCache(arguments.cache or default_cache()) as cache:
        _contest(arguments, command, cache)


def load_reader(source: str) -> Reader:
    """Loads the base model that reads texts and judges their joins."""
    checkpoint = home_checkpoint(source, default_device())
    if checkpoint is None:
        raise ReviserError(f"there is no model {source} that could read the texts")
    return Reader.of_checkpoint(short_name(source), fingerprint(source), checkpoint)


def _load_critic(arguments: EverydayOptions, bars: ProgressBars) -> Critic:
    path = arguments.critic or default_file()
    if arguments.critic is None and not path.is_file():
        confirm(agreed=arguments.yes)
        with bars.task("parts of the critic", CRITIC.count) as progress:
            fetch(CRITIC, path, progress)
    bars.say(f"reading the critic from {path}")
    return Critic.load(path)


def load_threshold(reader: Reader, source: str, cache: RunCache, bars: ProgressBars) -> float:
    texts = list(islice(prose(texts_of(source, Setup())), _REAL_TEXTS))
    key = key_of(kind="everyday threshold", reader=reader.fingerprint, texts=texts, quantile=QUANTILE)
    kept = cache.get(key)
    if kept is None:
        bars.say(f"{reader.name} reads real text")
        kept = threshold_of(real_strangeness(reader, texts))
        cache.put(key, kept)
    return float(kept)


def _contest(arguments: EverydayOptions, command: str, cache: RunCache) -> None:
    if not arguments.contestants:
        raise ReviserError("name at least one model: see --help")
    chosen = openings(arguments.kinds.split(",") if arguments.kinds else KINDS, arguments.each)
    if not chosen:
        raise ReviserError("--each must be at least 1")
    setup = _setup(arguments)
    bars = ProgressBars()
    decoding = DecodingOptions(move_temperature=arguments.move_temperature, rules=True)
    contestants = [
        load_contestant(source, setup, name=name, decoding=decoding)
        for name, source in map(named_source, arguments.contestants)
    ]
    if len({contestant.name for contestant in contestants}) < len(contestants):
        raise ReviserError("two contestants have the same name; NAME=MODEL gives them others")
    reader = load_reader(arguments.base)
    threshold = load_threshold(reader, arguments.real, cache, bars)
    outcome = written(contestants, chosen, setup, reader, threshold, cache, bars)
    facts = {
        "Command": f"`{command}`",
        **surroundings(),
        "Seeds": ", ".join(map(str, setup.seeds)),
        "Reader": f"{reader.name}; a join is broken above {threshold:.2f}",
    }
    if len(contestants) > 1 and not arguments.no_critic:
        critic = _load_critic(arguments, bars)
        judge(outcome, chosen, critic, cache, bars)
        facts["Critic"] = critic.name
    _tell(outcome, chosen, facts, arguments)


def _setup(arguments: EverydayOptions) -> Setup:
    if arguments.length < 1:
        raise ReviserError("--length must be at least 1")
    base = Setup()
    return Setup(
        data="everyday",
        seeds=arguments.seeds,
        total_tokens=base.prompt_tokens + arguments.length,
        max_actions=arguments.length * 7 // 4,
        temperature=arguments.temperature,
        top_k=arguments.top_k,
    )


def _tell(outcome: ContestResult, chosen: Sequence[Opening], facts: dict[str, str], arguments: EverydayOptions) -> None:
    data = {
        "provenance": facts,
        "figures": [asdict(entry) for entry in outcome.figures],
        "standings": [asdict(entry) for entry in outcome.standings],
        "verdicts": [asdict(entry) for entry in outcome.verdicts],
        "runs": [asdict(entry) for entry in outcome.runs],
    }
    if arguments.json:
        print(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        print("\n".join(f"{title}\n\n{table.markdown()}" for title, table in tables(outcome)))
    if arguments.out:
        try:
            arguments.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReviserError(f"{arguments.out} cannot be made: {error.strerror}") from None
        folder = RunFolder(arguments.out)
        folder.write_json("everyday.json", data)
        write_atomically(folder.file("everyday.md"), markdown(outcome, facts).encode())
        write_atomically(folder.file("everyday.html"), page(outcome, chosen, facts).encode())
        print(f"page: {folder.path / 'everyday.html'}", file=sys.stderr)
