"""The error rate of the rules for sure mistakes, in correct texts and against people's corrections.

    python -m benchmarks phrases TEXTS … [--pairs bea-dev,jfleg-dev] [--most 1000000] [--seed 1] [--found FILE]
    [--write PAGE]

TEXTS are good texts: JSON lines, or text files. From each source the same number of words is taken, from documents in
random order. What the rules find there is mostly a false alarm, or a mistake of the text, so all of it should be read
(--found writes it). Sets are those of `reviser bench proofreading`, or files of JSON lines with "before" and "after".
There a change is right if one of the references makes it. No model is used.
"""

from __future__ import annotations

import random
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from benchmarks.proofreading.sets import check_name, read_set
from benchmarks.report.provenance import write_page
from benchmarks.report.tables import Table
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import check_output, write_atomically
from reviser.proofreading.changes import changes
from reviser.proofreading.rules.english import english, matcher
from reviser.proofreading.rules.matching import RuleMatch, apply
from reviser.prose import Format, Paragraph, paragraphs
from training.data.sources import documents

MILLION: Final = 1_000_000
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_NEAR: Final = 50


@dataclass(frozen=True, kw_only=True)
class PhrasesOptions:
    """Options of the command: texts, sets and output files."""

    texts: Annotated[tuple[str, ...], Argument("good texts: JSON lines or text files", metavar="TEXTS")] = ()
    pairs: Annotated[str, Option("sets, or JSON lines with before and after, with commas between", metavar="SETS")] = ""
    most: Annotated[int, Option("words of good text, at the most")] = MILLION
    seed: Annotated[int, Option("of the order of documents")] = 1
    found: Annotated[Path | None, Option("write all that was found to this file")] = None
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


@dataclass
class Tally:
    """The findings in some texts: counts by rule, and places."""

    words: int = 0
    sentences: int = 0
    found: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    otherwise: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)


def run(chosen: PhrasesOptions) -> None:
    """Applies the rules to texts and sets and prints the figures."""
    if not chosen.texts and not chosen.pairs:
        raise ReviserError("name texts, or sets with --pairs")
    names = [name for name in chosen.pairs.split(",") if name]
    for name in names:
        if not _is_file(name):
            check_name(name)
    for path in (chosen.write, chosen.found):
        if path:
            check_output(path)
    good = [in_good_text(one, chosen.most // len(chosen.texts), chosen.seed) for one in chosen.texts]
    sets = {name: in_set(name) for name in names}
    text = page(dict(zip(chosen.texts, good, strict=True)), sets)
    print(text, end="")
    if chosen.found:
        lines = [line for tally in (*good, *sets.values()) for line in tally.lines]
        write_atomically(chosen.found, "".join(f"{line}\n" for line in lines).encode())
    if chosen.write:
        command = f"python -m benchmarks phrases {shlex.join(chosen.words)}"
        for one in (*chosen.texts, *names):
            command = command.replace(one, Path(one).name)
        data = [Path(one).name for one in (*chosen.texts, *names)]
        write_page(chosen.write, "Sure mistakes", command, text, Data=f"{', '.join(data)}, seed {chosen.seed}")


# Finding -------------------------------------------------------------------------------------------


def in_good_text(source: str, most: int, seed: int) -> Tally:
    """The findings of the rules in up to `most` words of a source."""
    texts = [*documents(source)]
    random.Random(seed).shuffle(texts)
    tally = Tally()
    for text in texts:
        if tally.words >= most:
            break
        tally.words += len(_WORD.findall(text))
        for paragraph in paragraphs(text, Format.PLAIN):
            for one, sentence in _found_in(paragraph):
                tally.found.update(one.rules)
                tally.lines.append(_line(Path(source).name, one, sentence))
    return tally


def _found_in(paragraph: Paragraph) -> Iterator[tuple[RuleMatch, str]]:
    for (start, end), some in matcher().find_in(paragraph):
        yield from ((one, paragraph.text[start:end]) for one in some)


def in_set(name: str) -> Tally:
    """The findings of the rules in a set's sentences, compared with the references."""
    if _is_file(name):
        befores, afters = documents(name, "before"), documents(name, "after")
        return among_pairs(Path(name).name, ((one, [other]) for one, other in zip(befores, afters, strict=True)))
    given = read_set(name)
    return among_pairs(name, zip(given.sources, given.reference_texts, strict=True))


def _is_file(name: str) -> bool:
    return ".jsonl" in Path(name).suffixes


def among_pairs(name: str, pairs: Iterable[tuple[str, Sequence[str]]]) -> Tally:
    """The findings of the rules in sentences that people corrected."""
    tally = Tally()
    for source, references in pairs:
        tally.sentences += 1
        tally.words += len(_WORD.findall(source))
        for paragraph in paragraphs(source, Format.PLAIN):
            for one, sentence in _found_in(paragraph):
                offset = source.find(sentence)
                verdict = _verdict(source, one, offset, references)
                tally.found.update(one.rules)
                tally.right.update(one.rules if verdict == "right" else ())
                tally.otherwise.update(one.rules if verdict == "otherwise" else ())
                tally.lines.append(_line(f"{name} {verdict}", one, sentence))
    return tally


def _verdict(source: str, one: RuleMatch, offset: int, references: Sequence[str]) -> str:
    """A change against the references: "right", "otherwise" if all of them change the words there, or "left"."""
    placed = one._replace(start=one.start + offset, end=one.end + offset)
    after = apply(source, [placed])
    mine = {(part.start, part.end, part.new) for part in changes(source, after)}
    touched = False
    for reference in references:
        theirs = {(part.start, part.end, part.new) for part in changes(source, reference)}
        if mine <= theirs or _window(after, placed) in reference:
            return "right"
        touched |= any(start <= placed.end and placed.start <= end for start, end, _ in theirs)
    return "otherwise" if touched else "left"


def _window(after: str, one: RuleMatch) -> str:
    """The new text of a change with the word before and the word after it."""
    end = one.start + len(one.new)
    before = re.search(r"\S*\s*\Z", after[: one.start])
    behind = re.match(r"\s*\S*", after[end:])
    assert before is not None
    assert behind is not None
    return before[0] + after[one.start : end] + behind[0]


def _line(where: str, one: RuleMatch, sentence: str) -> str:
    before = sentence[max(0, one.start - _NEAR) : one.start]
    behind = sentence[one.end : one.end + _NEAR]
    shown = f"{before}{{{sentence[one.start : one.end]}|{one.new}}}{behind}"
    return f"{' + '.join(one.rules)}\t{where}\t{shown}"


# The page ------------------------------------------------------------------------------------------


def page(good: dict[str, Tally], sets: dict[str, Tally]) -> str:
    """The Markdown page: how often the rules apply, by text and by rule."""
    words = sum(tally.words for tally in good.values())
    rules = english().rules
    parts = [f"{len(rules)} rules, {sum(len(rule.ways) for rule in rules)} ways in which they match.\n"]
    rows: list[tuple[str, ...]]
    columns: tuple[str, ...]
    if good:
        rows = [
            (Path(name).name, f"{tally.words:,}", str(len(tally.lines)), _rate(len(tally.lines), tally.words))
            for name, tally in good.items()
        ]
        columns = ("good text", "words", "found", "found in a million words")
        parts.append(Table(columns, tuple(rows)).markdown())
    if sets:
        rows = [(Path(name).name, *_shares(tally)) for name, tally in sets.items()]
        columns = ("set", "sentences", "found", "in a reference", "corrected otherwise", "left", "P")
        parts.append(
            f"{Table(columns, tuple(rows)).markdown()}\nP is the share that is in a reference. "
            '"Otherwise" are changes where the references also '
            "change the words, but to others.\n"
        )
    found = sum((tally.found for tally in (*good.values(), *sets.values())), Counter[str]())
    rows = [
        (
            name,
            _rate(sum(tally.found[name] for tally in good.values()), words),
            str(made := sum(tally.found[name] for tally in sets.values())),
            str(right := sum(tally.right[name] for tally in sets.values())),
            str(sum(tally.otherwise[name] for tally in sets.values())),
            f"{right / made:.2f}" if made else "",
        )
        for name in sorted(found, key=lambda name: (-found[name], name))
    ]
    columns = ("rule", "in a million good words", "in sets", "in a reference", "otherwise", "P")
    never = len(english().rules) - len(found)
    parts.append(f"## By rules\n\n{Table(columns, tuple(rows)).markdown()}\n{never} rules found nothing.\n")
    return "\n".join(parts)


def _rate(count: int, words: int) -> str:
    return f"{count * MILLION / words:.1f}" if words else ""


def _shares(tally: Tally) -> tuple[str, ...]:
    # A change that several rules made together counts once.
    verdicts = Counter(line.split("\t")[1].rpartition(" ")[2] for line in tally.lines)
    made = len(tally.lines)
    right = verdicts["right"]
    return (
        f"{tally.sentences:,}",
        str(made),
        str(right),
        str(verdicts["otherwise"]),
        str(verdicts["left"]),
        f"{right / made:.3f}" if made else "",
    )
