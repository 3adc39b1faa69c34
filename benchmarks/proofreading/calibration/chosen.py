"""The texts that commands are given: files of pairs and of finished texts, and public dev sets, some of each."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from benchmarks.proofreading import sets
from benchmarks.proofreading.calibration.sources import Source, finished_source, name_of, pairs_source, public_source
from benchmarks.proofreading.command import get_sets
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError

DEV_SETS: Final = ("bea-dev", "jfleg-dev")


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """Which model is asked about which texts."""

    model: Annotated[str | None, Option("a folder or a name", default="the bundled one")] = None
    pairs: Annotated[
        tuple[str, ...], Option("files of JSON lines with before and after", metavar="FILE", together=True)
    ] = ()
    finished: Annotated[
        tuple[str, ...],
        Option(
            "files of texts to be left alone; FIELD=FILE for another field of JSON lines than text",
            metavar="FILE",
            together=True,
        ),
    ] = ()
    sets: Annotated[str, Option("public dev sets, with commas between; none for no set", metavar="NAMES")] = ",".join(
        DEV_SETS
    )
    limit: Annotated[str | None, Option("texts of each, or NAME=COUNT with commas between", metavar="COUNT")] = None
    threads: Annotated[int | None, Option("threads of the model")] = None
    yes: Annotated[bool, Option("accept the sets' licences: research and evaluation only")] = False
    words: Words = ()


def chosen_sources(chosen: TextOptions) -> list[Source]:
    """The texts that a command was given."""
    public = [] if chosen.sets in ("", "none") else chosen.sets.split(",")
    for name in public:
        sets.check_name(name)
        if name not in DEV_SETS:
            raise ReviserError(f"nothing is fitted or chosen on {name}; there are {', '.join(DEV_SETS)}")
    files = [name_of(path) for path in chosen.pairs]
    finished = [_with_field(given) for given in chosen.finished]
    files += [f"{name_of(path)}-finished" for path, _ in finished]
    names = [*files, *public]
    if not names:
        raise ReviserError("there are no texts: give --pairs, --finished or --sets")
    if len({*names}) < len(names):
        raise ReviserError("two of the texts have the same name")
    limits = _limits(chosen.limit, names)
    if public:
        get_sets(agreed=chosen.yes)
    return [
        *(pairs_source(path, limits[name_of(path)]) for path in chosen.pairs),
        *(finished_source(path, field, limits[f"{name_of(path)}-finished"]) for path, field in finished),
        *(public_source(sets.read_set(name), limits[name]) for name in public),
    ]


def _with_field(given: str) -> tuple[str, str]:
    """A file of finished texts, and the field that they are in."""
    field, equals, path = given.partition("=")
    return (path, field) if equals and not Path(given).exists() else (given, "text")


def _limits(given: str | None, names: Sequence[str]) -> dict[str, int | None]:
    """How many texts to take of each; None for all."""
    limits: dict[str, int | None] = dict.fromkeys(names)
    for part in given.split(",") if given else ():
        name, _, count = part.rpartition("=")
        if not count.isdecimal() or int(count) < 1:
            raise ReviserError("--limit is a number, or NAME=COUNT with commas between")
        for one in named(name, names, "--limit") if name else names:
            limits[one] = int(count)
    return limits


def named(given: str, names: Sequence[str], option: str) -> list[str]:
    found = given.split(",")
    for name in found:
        if name not in names:
            raise ReviserError(f"{option}: there is no {name} among {', '.join(names)}")
    return found


def shown_command(name: str, chosen: TextOptions, *paths: str | Path | None) -> str:
    """The command as a page shows it: files, also those of `paths`, without their folders."""
    command = f"python -m benchmarks {name} {shlex.join(chosen.words)}"
    files = [*chosen.pairs, *(_with_field(given)[0] for given in chosen.finished)]
    for file in (*files, *(str(path) for path in paths if path)):
        command = command.replace(file, Path(file).name)
    return command
