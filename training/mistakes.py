"""Slips of the pen as edits: good sentences with common mistakes put in, and the way back as what to learn.

    python -m training mistakes TEXTS … --out mistakes.jsonl --count 200000

Histories of documents are full of changes of mind and have few plain mistakes, so a model that learns from them
alone hardly corrects any. Here a passage of a text is the finished one, and before it comes the same passage as somebody
in a hurry would have typed it: a word twice or left out, two in the wrong order, one for another that sounds like it, a
verb that does not agree, letters astray, marks missing. Passages come with the lines around them as often as real
edits do.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path

from rich.console import Console
from rich.progress import track

from reviser.errors import ReviserError
from reviser.files import write_atomically
from training.data import documents
from training.edits import Edit
from training.randomness import Random

SHORTEST, LONGEST = 40, 400
"""Characters of a passage: most real edits are about texts between these."""
NEIGHBOURED = 0.34
"""How often a passage is shown with the lines around it."""
_NEIGHBOUR = 240
_MORE = 0.35  # how likely one mistake more is

_LITTLE = frozenset(
    re.findall(
        r"\w+",
        """
        a an and are as at be but by for from had has have he her his if in is it not of on or she so that the
        their them then they this to was we were which will with would you
        """,
    )
)
_ALIKE = (
    ("their", "there", "they're"),
    ("its", "it's"),
    ("your", "you're"),
    ("then", "than"),
    ("to", "too"),
    ("were", "where", "we're"),
    ("whose", "who's"),
    ("lose", "loose"),
    ("quite", "quiet"),
    ("whether", "weather", "wether"),
    ("affect", "effect"),
    ("accept", "except"),
    ("passed", "past"),
    ("led", "lead"),
    ("of", "off"),
    ("through", "threw", "trough"),
    ("know", "now"),
    ("here", "hear"),
    ("which", "witch"),
    ("advice", "advise"),
    ("definitely", "definately"),
    ("separate", "seperate"),
    ("receive", "recieve"),
    ("until", "untill"),
    ("occurred", "occured"),
    ("because", "becuase"),
)
_AGREEING = (
    ("is", "are"),
    ("was", "were"),
    ("has", "have"),
    ("does", "do"),
    ("doesn't", "don't"),
    ("isn't", "aren't"),
    ("wasn't", "weren't"),
)
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]*[A-Z])")


def _others(groups: Sequence[tuple[str, ...]]) -> dict[str, list[str]]:
    """For each word the others of its group, where it is a word that a person may well have meant."""
    return {word: [one for one in group if one != word] for group in groups for word in group}


# The third of a group that is no word at all is only ever written by mistake.
_NO_WORDS = {"wether", "definately", "seperate", "recieve", "untill", "occured", "becuase"}
_SOUNDS_LIKE = {word: rest for word, rest in _others(_ALIKE).items() if word not in _NO_WORDS}
_AGREES_NOT = _others(_AGREEING)


# Mistakes ----------------------------------------------------------------------------------------

Place = re.Match[str]
Slip = Callable[[str, Place, Random], "tuple[int, int, str] | None"]
"""What becomes of a text's word: from where to where it is replaced, and by what; None if it does not suit."""


def _twice(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    if word[0].lower() not in _LITTLE:
        return None
    return word.end(), word.end(), f" {word[0].lower()}"


def _left_out(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    if word[0] not in _LITTLE or text[word.end() : word.end() + 1] != " ":
        return None
    return word.start(), word.end() + 1, ""


def _swapped(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    following = WORD.match(text, word.end() + 1)
    if text[word.end() : word.end() + 1] != " " or following is None:
        return None
    if word[0] == following[0] or not (word[0].islower() and following[0].islower()):
        return None
    return word.start(), following.end(), f"{following[0]} {word[0]}"


def _sounding_alike(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    return _instead(word, _SOUNDS_LIKE, random)


def _disagreeing(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    return _instead(word, _AGREES_NOT, random)


def _instead(
    word: Place, table: dict[str, list[str]], random: Random
) -> tuple[int, int, str] | None:
    others = table.get(word[0].lower().replace("’", "'"))
    if others is None or not (word[0].islower() or word[0].istitle()):
        return None
    other = others[random.below(len(others))]
    return word.start(), word.end(), other.capitalize() if word[0].istitle() else other


def _wrong_article(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    if word[0] not in ("a", "an") or text[word.end() : word.end() + 1] != " ":
        return None
    return word.start(), word.end(), "an" if word[0] == "a" else "a"


def _without_apostrophe(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    bare = word[0].replace("'", "").replace("’", "")
    return None if bare == word[0] else (word.start(), word.end(), bare)


def _misspelt(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    letters = word[0]
    if len(letters) < 4 or not letters.isascii() or not letters.isalpha():
        return None
    at = 1 + random.below(len(letters) - 2)
    head, one, two, tail = letters[:at], letters[at], letters[at + 1], letters[at + 2 :]
    wrong = (
        head + two + one + tail,
        head + two + tail,
        head + one + one + two + tail,
        head + _beside(one, random) + two + tail,
    )[random.below(4)]
    return None if wrong == letters else (word.start(), word.end(), wrong)


def _beside(letter: str, random: Random) -> str:
    """A letter that is next to this one on a keyboard."""
    for row in _KEYS:
        at = row.find(letter.lower())
        if at >= 0:
            near = row[max(at - 1, 0) : at] + row[at + 1 : at + 2]
            return near[random.below(len(near))]
    return letter


def _without_mark(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    mark = text[word.end() : word.end() + 1]
    last = word.end() + 1 == len(text)
    if mark == "," or (mark in (".", "?") and last):
        return word.end(), word.end() + 1, ""
    return None


def _with_comma(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    if word[0] not in ("that", "of", "and", "to", "with", "is") or text[word.end() :][:1] != " ":
        return None
    return word.end(), word.end(), ","


def _small(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    begins = word.start() == 0 or text[: word.start()].rstrip().endswith((".", "!", "?"))
    if not (word[0] == "I" or (begins and word[0].istitle())):
        return None
    return word.start(), word.end(), word[0].lower()


def _joined(text: str, word: Place, random: Random) -> tuple[int, int, str] | None:
    following = WORD.match(text, word.end() + 1)
    if text[word.end() : word.end() + 1] != " " or following is None or len(word[0]) > 4:
        return None
    return (word.end(), word.end() + 1, "") if following[0].islower() else None


SLIPS: tuple[tuple[int, Slip], ...] = (
    (5, _twice),
    (5, _left_out),
    (2, _swapped),
    (4, _sounding_alike),
    (4, _disagreeing),
    (1, _wrong_article),
    (1, _without_apostrophe),
    (7, _misspelt),
    (4, _without_mark),
    (1, _with_comma),
    (2, _small),
    (1, _joined),
)
_TRIES = 40


def with_mistakes(text: str, random: Random) -> str:
    """The text with a mistake or a few, no two of them in the same place; rarely none that suits is found."""
    changes: list[tuple[int, int, str]] = []
    words = list(WORD.finditer(text))
    wanted = 1
    while wanted < 4 and random.share() < _MORE:
        wanted += 1
    for _ in range(_TRIES if words else 0):
        if len(changes) == wanted:
            break
        slip = _drawn(random)
        suits = [change for word in words if (change := slip(text, word, random))]
        if not suits:
            continue
        start, end, new = suits[random.below(len(suits))]
        if all(end < other or start > last for other, last, _ in changes):
            changes.append((start, end, new))
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _drawn(random: Random) -> Slip:
    number = random.below(sum(weight for weight, _ in SLIPS))
    for weight, slip in SLIPS:
        number -= weight
        if number < 0:
            return slip
    raise AssertionError("the weights add up")


# Passages ----------------------------------------------------------------------------------------


def passages(text: str, random: Random) -> Iterator[tuple[str, str, str]]:
    """Pieces of a text that are worth correcting, each with the lines before and after it, if they are shown.

    A line that is too long is cut after sentences, and its pieces are shown by themselves.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if len(line) <= LONGEST:
            shown = random.share() < NEIGHBOURED
            left = lines[number - 1][-_NEIGHBOUR:] if shown and number else ""
            right = lines[number + 1][:_NEIGHBOUR] if shown and number + 1 < len(lines) else ""
            if _is_prose(line):
                yield left, line, right
            continue
        for piece in _sentences(line, random):
            if _is_prose(piece):
                yield "", piece, ""


def _sentences(line: str, random: Random) -> Iterator[str]:
    """One to three sentences at a time, as long as they are not too long."""
    ends = [found.end() for found in _SENTENCE_END.finditer(line)] + [len(line)]
    start = 0
    while ends:
        count = min(1 + random.below(3), len(ends))
        while count > 1 and ends[count - 1] - start > LONGEST:
            count -= 1
        piece = line[start : ends[count - 1]]
        start += len(piece)
        del ends[:count]
        if len(piece.strip()) <= LONGEST:
            yield piece.strip()


def _is_prose(text: str) -> bool:
    """Whether a text is long enough, and mostly words: code and tables have slips of their own."""
    if len(text) < SHORTEST or text[-1:] not in ".!?\"'”’)":
        return False
    letters = sum(character.isalpha() or character == " " for character in text)
    return letters >= 0.9 * len(text) and text.isprintable()


def mistakes(texts: Iterator[str], seed: int) -> Iterator[Edit]:
    """Edits that correct mistakes, some of each text's; the same for the same texts and seed."""
    for number, text in enumerate(texts):
        random = Random(seed, number)
        for left, passage, right in passages(text, random):
            wrong = with_mistakes(passage, random)
            if wrong != passage:
                yield Edit(wrong, passage, left, right)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training mistakes", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("sources", nargs="+", help="texts: JSON lines or plain, also compressed")
    parser.add_argument("--out", type=Path, required=True, help="file of edits, as JSON lines")
    parser.add_argument("--count", type=int, help="edits to make; by default all there are")
    parser.add_argument("--every", type=int, default=1, help="take one passage in so many (1)")
    parser.add_argument("--field", default="text", help="of the JSON lines (text)")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    try:
        if chosen.every < 1:
            raise ReviserError("--every is 1 or more")
        texts = chain.from_iterable(documents(source, chosen.field) for source in chosen.sources)
        made = islice(mistakes(texts, chosen.seed), 0, None, chosen.every)
        shown = track(
            islice(made, chosen.count), "writing", total=chosen.count, console=Console(stderr=True)
        )
        rows = [json.dumps(asdict(edit), ensure_ascii=False) for edit in shown]
        if not rows:
            raise ReviserError("there is no prose in these texts")
        write_atomically(chosen.out, "".join(f"{row}\n" for row in rows).encode())
    except ReviserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{len(rows):,} edits")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
