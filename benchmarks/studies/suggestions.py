"""How often suggestions are right, and what they save, by how likely they must be.

    python -m benchmarks suggestions [MODEL …] [--texts CORPUS] [--each 12] [--characters 48]
        [--dials 0.1 0.2 …] [--seed 1] [--write docs/results/suggestions.md]

MODEL is as for reviser continue --model, or NAME=MODEL; a GGUF file of a language model serves as well, which then
appends. Mails and notes come with the measurement; --texts is a file of held-out texts with {"text", "source"} a
line, of which documentation, essays and stories are taken. With --write, a JSON file of the same figures, and of
every place, stands beside the page.

At every character of a passage the model says how the text goes on, and how likely all of that is. The dial is how
likely it must be to be shown. From the places alone, every value of the dial is worked out. Chosen is the lowest at
which at least half of what is shown that has two words has both right, and at least half of all that is shown is
right to its end.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated

from benchmarks.report.provenance import provenance, surroundings
from benchmarks.report.tables import Table
from benchmarks.studies.suggestion_places import (
    KINDS,
    Passage,
    Place,
    ask,
    corpus_texts,
    own_texts,
    passages,
    words_right,
)
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.decoding.suggestion import CONFIDENCE, is_worth_showing
from reviser.session.engine import Engine, load_engine

DIALS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_WORD = re.compile(r"\w+(?:['’-]+\w+)*")


@dataclass(frozen=True)
class Figures:
    """What is shown at some places, how much of it is right, and what it saves of what was typed there.

    `first`, `two` and `three` are the shares of those shown with so many words whose first words are right, `whole`
    of those that are right to their end. `saved_whole` are the characters that a user saves who accepts what is
    right as a whole, `saved_words` who accepts the right words one by one; a key to accept counts as a character.
    """

    places: int
    shown: float
    words: float
    first: float | None
    two: float | None
    three: float | None
    whole: float | None
    saved_whole: float
    saved_words: float


def shown_at(place: Place, dial: float) -> str:
    """What is shown at a place: as much as the model is confident of, if that is long enough."""
    sure = place.suggestion.sure(dial)
    return sure.text if is_worth_showing(sure.text, place.after_letter) else ""


def figures(places: Sequence[Place], dial: float) -> Figures:
    """The figures of some places at a value of the dial."""
    shown = [(text, place.truth) for place in places if (text := shown_at(place, dial))]
    counts = [words_right(text, truth) for text, truth in shown]

    def right_words(words: int) -> float | None:
        return _share([right >= words for right, having in counts if having >= words])

    whole = [
        truth.startswith(text) and right == having for (text, truth), (right, having) in zip(shown, counts, strict=True)
    ]
    by_whole, by_words = (saved(places, dial, by_words=each) for each in (False, True))
    return Figures(
        places=len(places),
        shown=len(shown) / max(len(places), 1),
        words=sum(having for _, having in counts) / max(len(counts), 1),
        first=right_words(1),
        two=right_words(2),
        three=right_words(3),
        whole=_share(whole),
        saved_whole=by_whole,
        saved_words=by_words,
    )


def saved(places: Sequence[Place], dial: float, *, by_words: bool) -> float:
    """The share of characters that need not be typed, if the author takes what is right as soon as it is shown."""
    total = kept = 0
    for _, group in groupby(places, key=lambda place: place.passage):
        row = list(group)
        at = 0
        while at < len(row):
            gained, keys = _accepted(shown_at(row[at], dial), row[at].truth, by_words)
            gained = min(gained, len(row) - at)
            if gained > keys:
                kept += gained - keys
                at += gained
            else:
                at += 1
        total += len(row)
    return kept / max(total, 1)


def _accepted(text: str, truth: str, by_words: bool) -> tuple[int, int]:
    """How many characters of a suggestion are accepted, and with how many keys."""
    right, having = words_right(text, truth)
    if not right:
        return 0, 0
    if right == having and truth.startswith(text):
        return len(text), right if by_words else 1
    if not by_words:
        return 0, 0
    return [word.end() for word in _WORD.finditer(text)][right - 1], right


def chosen_dial(places: Sequence[Place], dials: Sequence[float]) -> float | None:
    """The lowest value of the dial at which half of what is shown is right."""
    for dial in sorted(dials):
        found = figures(places, dial)
        if (found.two or 0) >= 0.5 and (found.whole or 0) >= 0.5:
            return dial
    return None


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


_COLUMNS = ("shown", "words", "first right", "two right", "three right", "all right", "saved whole", "saved by words")


def _cells(found: Figures) -> tuple[str, ...]:
    return (
        _percent(found.shown),
        f"{found.words:.1f}",
        *map(_percent, (found.first, found.two, found.three, found.whole)),
        *map(_percent, (found.saved_whole, found.saved_words)),
    )


def curve(places: Sequence[Place], dials: Sequence[float]) -> str:
    """A row for each value of the dial."""
    rows = [(f"{dial:g}", *_cells(figures(places, dial))) for dial in dials]
    return Table(("dial", *_COLUMNS), tuple(rows)).markdown()


def by_kind(places: Sequence[Place], dial: float) -> str:
    """A row for each kind of text, and for places before and in words."""
    groups: list[tuple[str, Callable[[Place], bool]]] = [
        *((kind, lambda place, kind=kind: place.kind == kind) for kind in KINDS),
        ("before a word", lambda place: not place.in_word),
        ("in a word", lambda place: place.in_word),
    ]
    rows = []
    for name, belongs in groups:
        some = [place for place in places if belongs(place)]
        if some:
            rows.append((name, str(len(some)), *_cells(figures(some, dial))))
    return Table(("where", "places", *_COLUMNS), tuple(rows)).markdown()


def calibration(places: Sequence[Place]) -> str:
    """How likely the model finds the first two words, and how often both are right."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for place in places:
        text, words = "", 0
        for piece in place.suggestion.pieces:
            text += piece.text
            words = len(_WORD.findall(text))
            if words == 2:
                right, _ = words_right(text, place.truth)
                bins.setdefault(min(int(piece.chance * 10), 9), []).append((piece.chance, right == 2))
                break
    rows = [
        (
            f"{number / 10:g} to {(number + 1) / 10:g}",
            str(len(found)),
            _percent(sum(chance for chance, _ in found) / len(found)),
            _percent(sum(right for _, right in found) / len(found)),
        )
        for number, found in sorted(bins.items())
    ]
    return Table(("chance of two words", "places", "mean chance", "right"), tuple(rows)).markdown()


@dataclass(frozen=True)
class Measured:
    """A model's suggestions, and the milliseconds that one took."""

    name: str
    places: list[Place]
    milliseconds: float

    def at(self, where: str) -> list[Place]:
        return [place for place in self.places if place.where == where]


def measure(name: str, engine: Engine, given: Sequence[Passage], confidence: float) -> Measured:
    began = time.perf_counter()

    def tell(done: int) -> None:
        print(f"\r{name}: {done} of {counted(len(given), 'passage')}", end="", file=sys.stderr, flush=True)

    places = list(ask(engine, given, confidence, tell))
    print(file=sys.stderr)
    return Measured(name, places, 1000 * (time.perf_counter() - began) / max(len(places), 1))


def load_model(given: str) -> tuple[str, Engine]:
    """The model that `MODEL` or `NAME=MODEL` means, as an engine."""
    named, equals, source = given.partition("=")
    name, source = (named, source) if equals else ("", given)
    if not Path(source).is_file():
        engine = load_engine(None if source == "default" else source)
        return name or engine.name, engine
    from benchmarks.contestants.own_models import engine_of
    from reviser.scoring.loading import default_device, home_checkpoint

    checkpoint = home_checkpoint(source, default_device())
    if checkpoint is None:
        raise ReviserError(f"{source} is no model")
    return name or Path(source).stem, engine_of(name, checkpoint)


def page(measured: Sequence[Measured], dials: Sequence[float], confidence: float) -> str:
    """All figures in Markdown."""
    parts = []
    for one in measured:
        end, between = one.at("end"), one.at("between")
        dial = chosen_dial(end, dials)
        told = f"Lowest dial at which half is right: {dial:g}." if dial else "At no dial is half right."
        parts.append(
            f"## {one.name}\n\n{len(one.places)} places, {one.milliseconds:.0f} ms a suggestion. {told}\n\n{curve(end, dials)}\n"
            f"At {confidence:g}:\n\n{by_kind(end, confidence)}\n"
        )
        if between:
            between_row = Table(
                ("between two parts of a line", "places", *_COLUMNS),
                ((f"{confidence:g}", str(len(between)), *_cells(figures(between, confidence))),),
            )
            parts.append(f"{between_row.markdown()}\n")
        parts.append(f"Chances beside what happened:\n\n{calibration(end)}\n")
    return "\n".join(parts)


def as_data(measured: Sequence[Measured], dials: Sequence[float], confidence: float) -> list[dict[str, object]]:
    """The same for programs, without the texts."""
    return [
        {
            "model": one.name,
            "milliseconds": round(one.milliseconds, 1),
            "chosen": chosen_dial(one.at("end"), dials),
            "confidence": confidence,
            "curve": {f"{dial:g}": asdict(figures(one.at("end"), dial)) for dial in dials},
            "kinds": {
                kind: asdict(figures(some, confidence))
                for kind in KINDS
                if (some := [place for place in one.at("end") if place.kind == kind])
            },
            "between": asdict(figures(one.at("between"), confidence)),
        }
        for one in measured
    ]


@dataclass(frozen=True, kw_only=True)
class SuggestionOptions:
    """Which models suggest, on which texts."""

    models: Annotated[
        tuple[str, ...], Argument("a model, a GGUF file, or NAME=MODEL", metavar="MODEL", default="the embedded one")
    ] = ()
    texts: Annotated[Path | None, Option("held-out texts: documentation, essays, stories")] = None
    each: Annotated[int, Option("texts of each kind")] = 12
    characters: Annotated[int, Option("of a passage")] = 48
    dials: Annotated[tuple[float, ...], Option("confidences to measure at", together=True)] = DIALS
    confidence: Annotated[float, Option("the one at which kinds of texts are shown")] = CONFIDENCE
    seed: Annotated[int, Option("of the choice of passages")] = 1
    write: Annotated[Path | None, Option("write this Markdown file, and JSON beside it")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        SuggestionOptions,
        run,
        arguments,
        prog="python -m benchmarks suggestions",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: SuggestionOptions) -> None:
    if chosen.each < 1 or chosen.characters < 1:
        raise ReviserError("at least one text of each kind and one character of each is needed")
    texts = [text for kind in ("mail", "notes") for text in [t for t in own_texts() if t.kind == kind][: chosen.each]]
    if chosen.texts:
        texts += corpus_texts(chosen.texts, chosen.each, chosen.seed)
    given = passages(texts, chosen.characters, chosen.seed)
    measured = [measure(*load_model(model), given, chosen.confidence) for model in chosen.models or ["default"]]
    told = page(measured, chosen.dials, chosen.confidence)
    print(told)
    if chosen.write:
        corpus = f" --texts {chosen.texts.name}" if chosen.texts else ""
        facts = {
            "Models": ", ".join(one.name for one in measured),
            "Data": f"{len(texts)} texts, {len(given)} passages of {chosen.characters} characters",
            "Seed": str(chosen.seed),
        }
        command = f"python -m benchmarks suggestions {' '.join(_told(m) for m in chosen.models)}{corpus} --each {chosen.each} --characters {chosen.characters} --seed {chosen.seed}"
        write_atomically(chosen.write, f"# Suggestions\n\n{provenance(command, **facts)}\n{_LEGEND}\n{told}".encode())
        data = {
            "command": command,
            **surroundings(),
            **facts,
            "models": as_data(measured, chosen.dials, chosen.confidence),
        }
        write_atomically(chosen.write.with_suffix(".json"), (json.dumps(data, indent=1) + "\n").encode())


def _told(model: str) -> str:
    """A model's name without the folders of this machine."""
    named, equals, source = model.partition("=")
    return shlex.quote(f"{named}={Path(source).name}" if equals else Path(model).name)


_LEGEND = """\
A model is asked at every character of a passage. *Shown* is the share of these places at which something is shown, *words* how many words that has on
average; then the shares of those with one, two and three words or more whose first words are the author's, and of all that are right to their end.
*Saved* is the share of characters that an author need not type: by accepting each suggestion that is right as a whole with one key, or
the right words of each one by one. The rest of a word that was begun counts as a word. Between two parts of a line, a model that cannot move reads only
what stands before.
"""
