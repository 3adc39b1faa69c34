"""The command of the everyday benchmark: contestants, the critic, and files of results."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from benchmarks.everyday.checking import (
    NOTES,
    CriticFigures,
    JoinFigures,
    check_critic,
    check_joins,
    critic_table,
    join_table,
)
from benchmarks.everyday.constructed import join_cases, obvious_cases, prose
from benchmarks.everyday.contest import Outcome, judge, written
from benchmarks.everyday.critic import Critic
from benchmarks.everyday.fetching import CRITIC, confirm, default_file, fetch
from benchmarks.everyday.joins import QUANTILE, Reader, real_strangeness, threshold_of
from benchmarks.everyday.page import markdown, page, tables
from benchmarks.everyday.prompts import KINDS, Opening, openings
from benchmarks.everyday.writers import load_writer
from benchmarks.protocol.runs import Bars, Cache, RunFolder, default_cache, key_of
from benchmarks.protocol.setup import BUILTIN, Setup, texts_of
from benchmarks.report.provenance import surroundings
from reviser.cli.arguments import Parser
from reviser.cli.entry import complain
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.decoding.rollout import MOVE_TEMPERATURE
from reviser.scoring.loading import default_device, fingerprint, home_checkpoint, short_name

# Real texts from which the threshold of joins comes; the constructed cases are made of others.
_REAL_TEXTS = 60


def _arguments(given: Sequence[str] | None, prog: str) -> argparse.Namespace:
    parser = Parser(
        prog=prog,
        description="Let models go on from a hundred everyday openings, and compare what they write.",
        epilog="A contestant is a model folder or name, `default`, `plain:MODEL` for one of ours that may only insert "
        "and stop, a GGUF file or `smollm2` for the base, or a causal language model by folder or hub name; "
        "NAME= before it names it. The first is compared with each of the others.",
    )
    parser.add_argument("contestants", nargs="*", metavar="[NAME=]MODEL")
    parser.add_argument(
        "--kinds", help=f"of openings, with commas between; by default {','.join(KINDS)}"
    )
    parser.add_argument("--each", type=int, metavar="N", help="only the first N openings of a kind")
    parser.add_argument("--seeds", type=int, nargs="+", default=[123, 124], metavar="N")
    parser.add_argument("--length", type=int, default=145, help="tokens of a continuation (145)")
    parser.add_argument("--temperature", type=float, default=0.9)
    parser.add_argument("--top-k", type=int, default=50)
    parser.add_argument(
        "--move-temperature",
        type=float,
        default=MOVE_TEMPERATURE,
        help=f"how freely it is chosen where to go ({MOVE_TEMPERATURE})",
    )
    parser.add_argument(
        "--base", default="smollm2", help="reads the texts and judges joins: a GGUF file or name"
    )
    parser.add_argument(
        "--real", default=BUILTIN, metavar="TEXTS", help="real text that joins are held against"
    )
    parser.add_argument("--critic", type=Path, metavar="FILE", help="the critic's GGUF file")
    parser.add_argument("--no-critic", action="store_true", help="compare nothing")
    parser.add_argument("--yes", action="store_true", help="fetch the critic (1.1 GB) unasked")
    parser.add_argument(
        "--check",
        type=int,
        metavar="N",
        help="instead, see how critic and joins do on cases with known answers, from N of the real texts",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for .md, .json and .html")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keeps what was made")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None, prog: str = "reviser bench everyday") -> int:
    """Measure as the arguments say; 2 for a mistake."""
    arguments = _arguments(given, prog)
    command = shlex.join([*prog.split(), *(sys.argv[1:] if given is None else given)])
    try:
        with Cache(arguments.cache or default_cache()) as cache:
            if arguments.check is not None:
                _check(arguments, command, cache)
            else:
                _contest(arguments, command, cache)
    except ReviserError as error:
        return complain(error)
    return 0


def load_reader(source: str) -> Reader:
    """The base that reads texts and judges their joins."""
    checkpoint = home_checkpoint(source, default_device())
    if checkpoint is None:
        raise ReviserError(f"there is no model {source} that could read the texts")
    return Reader.of_checkpoint(short_name(source), fingerprint(source), checkpoint)


def _load_critic(arguments: argparse.Namespace, bars: Bars) -> Critic:
    path: Path = arguments.critic or default_file()
    if arguments.critic is None and not path.is_file():
        confirm(agreed=arguments.yes)
        with bars.task("parts of the critic", CRITIC.count) as progress:
            fetch(CRITIC, path, progress)
    bars.say(f"reading the critic from {path}")
    return Critic.load(path)


def _real_texts(source: str, count: int) -> list[str]:
    return list(islice(prose(texts_of(source, Setup())), count))


def _threshold(reader: Reader, source: str, cache: Cache, bars: Bars) -> float:
    texts = _real_texts(source, _REAL_TEXTS)
    key = key_of(
        kind="everyday threshold", reader=reader.fingerprint, texts=texts, quantile=QUANTILE
    )
    kept = cache.get(key)
    if kept is None:
        bars.say(f"{reader.name} reads real text")
        kept = threshold_of(real_strangeness(reader, texts))
        cache.put(key, kept)
    return float(kept)


def _contest(arguments: argparse.Namespace, command: str, cache: Cache) -> None:
    if not arguments.contestants:
        raise ReviserError("name at least one model: see --help")
    chosen = openings(arguments.kinds.split(",") if arguments.kinds else KINDS, arguments.each)
    if not chosen:
        raise ReviserError("--each must be at least 1")
    setup = _setup(arguments)
    bars = Bars()
    contestants = [
        load_writer(given, setup, move_temperature=arguments.move_temperature)
        for given in arguments.contestants
    ]
    if len({contestant.name for contestant in contestants}) < len(contestants):
        raise ReviserError("two contestants have the same name; NAME=MODEL gives them others")
    reader = load_reader(arguments.base)
    threshold = _threshold(reader, arguments.real, cache, bars)
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


def _setup(arguments: argparse.Namespace) -> Setup:
    if arguments.length < 1:
        raise ReviserError("--length must be at least 1")
    base = Setup()
    return Setup(
        data="everyday",
        seeds=tuple(arguments.seeds),
        total_tokens=base.prompt_tokens + arguments.length,
        max_actions=arguments.length * 7 // 4,
        temperature=arguments.temperature,
        top_k=arguments.top_k,
    )


def _tell(
    outcome: Outcome,
    chosen: Sequence[Opening],
    facts: dict[str, str],
    arguments: argparse.Namespace,
) -> None:
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
        folder = _folder(arguments.out)
        folder.write_json("everyday.json", data)
        write_atomically(folder.file("everyday.md"), markdown(outcome, facts).encode())
        write_atomically(folder.file("everyday.html"), page(outcome, chosen, facts).encode())
        print(f"page: {folder.path / 'everyday.html'}", file=sys.stderr)


def _folder(path: Path) -> RunFolder:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReviserError(f"{path} cannot be made: {error.strerror}") from None
    return RunFolder(path)


def _check(arguments: argparse.Namespace, command: str, cache: Cache) -> None:
    if arguments.check < 2:
        raise ReviserError("--check needs at least 2 texts")
    bars = Bars()
    texts = _real_texts(arguments.real, _REAL_TEXTS + 2 * arguments.check)[_REAL_TEXTS:]
    if len(texts) < 2:
        raise ReviserError(f"{arguments.real} has too few texts of plain prose")
    reader = load_reader(arguments.base)
    threshold = _threshold(reader, arguments.real, cache, bars)
    joins = [check_joins(reader, join_cases(texts[: arguments.check]), threshold, bars)]
    critics: list[CriticFigures] = []
    facts = {
        "Command": f"`{command}`",
        **surroundings(),
        "Seed": "0",
        "Data": f"{arguments.real}: a paragraph of plain prose from each text; the threshold of joins (the "
        f"{QUANTILE:.0%} quantile) from the first {_REAL_TEXTS}, the cases from those behind them",
    }
    if not arguments.no_critic:
        critic = _load_critic(arguments, bars)
        critics = check_critic(critic, obvious_cases(texts, arguments.check // 2), cache, bars)
        facts["Critic"] = critic.name
    _tell_check(joins, critics, facts, arguments)


def _tell_check(
    joins: Sequence[JoinFigures],
    critics: Sequence[CriticFigures],
    facts: dict[str, str],
    arguments: argparse.Namespace,
) -> None:
    data = {
        "provenance": facts,
        "joins": [asdict(entry) for entry in joins],
        "critic": [asdict(entry) for entry in critics],
    }
    text = f"## Broken joins\n\n{join_table(joins).markdown()}"
    if critics:
        text += f"\n## The critic on obvious cases\n\n{critic_table(critics).markdown()}"
    print(json.dumps(data, indent=1) if arguments.json else text)
    if arguments.out:
        folder = _folder(arguments.out)
        head = "".join(f"- {name}: {value}\n" for name, value in facts.items())
        folder.write_json("check.json", data)
        write_atomically(
            folder.file("check.md"),
            f"# The everyday benchmark's judges\n\n{head}\n{NOTES}\n\n{text}".encode(),
        )
