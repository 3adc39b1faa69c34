"""Detection of finished texts: a signed letter, a document whose outermost element is closed, a text that repeats
itself."""

from __future__ import annotations

import re
from typing import Final

_LONGEST_NAME: Final = 5
"""The most words of a name or title in a signature, of a complimentary close, and of a greeting."""
_LONGEST_SIGNATURE: Final = 5
"""The most lines after the complimentary close of a letter."""
_TIMES: Final = 3
"""A text that ends with a sentence or line so many times in a row would only repeat it again."""
_LINES: Final = 4
"""The same for lines that differ only in their numbers."""
_WORDS: Final = 5
"""The same for single words."""

_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_SENTENCE: Final = re.compile(r"[^\n.!?…]*\w[^\n.!?…]*(?:[.!?…]+[\"'”’)\]]*|\n|\Z)")
_ENDS_SENTENCE: Final = re.compile(r"[.!?…][\"'”’)\]]*\s*$", re.MULTILINE)
_CLOSE: Final = re.compile(r"[^\W\d_][^.!?:;,|#*`<>{}=\\\n]*(?P<comma>,?)")
_ABBREVIATION: Final = re.compile(r"\b[A-Z]\w{0,3}\.")
_IN_TEXT: Final = re.compile(r"[.!?:;|#*`<>{}=\\]")
_ROOT: Final = re.compile(r"\s*(?:<[?!][^>]*>\s*)*<(?P<name>[A-Za-z][\w:-]*)[\s>]")


def is_finished(text: str) -> bool:
    """Whether a text is complete, so that nothing should follow it."""
    text = text.rstrip()
    return bool(text) and (_is_letter(text) or _is_closed(text) or _repeats_itself(text))


def _is_letter(text: str) -> bool:
    """Whether a text ends like a letter: with a complimentary close, such as "Best regards,", and a name.

    A close without a comma counts if the text begins with a greeting that ends in one.
    """
    lines = text[-2000:].split("\n")
    last: list[str] = []
    while lines and len(last) <= _LONGEST_SIGNATURE:
        line = lines.pop().strip()
        close = _CLOSE.fullmatch(line)
        starts_paragraph = not lines or not lines[-1].strip()
        if last and close and line[0].isupper() and len(line.split()) <= _LONGEST_NAME:
            if close["comma"]:
                return _ends_sentence(lines)
            together = len(last) == 1 or last[-1]
            if starts_paragraph and together and _is_greeted(text) and _ends_sentence(lines):
                return True
        if line and not _is_signature(line):
            return False
        if last and not last[-1]:
            # A paragraph of its own belongs to no signature.
            return False
        last.append(line)
    return False


def _is_signature(line: str) -> bool:
    """Whether a line is a name, perhaps with titles: short parts, each with a capital letter."""
    if _IN_TEXT.search(_ABBREVIATION.sub("", line)):
        return False
    parts = [part.strip() for part in line.split(",")]
    return all(part[:1].isupper() and len(part.split()) <= _LONGEST_NAME for part in parts)


def _ends_sentence(lines: list[str]) -> bool:
    """Whether the last line that is not blank ends a sentence."""
    said = next((line for line in reversed(lines) if line.strip()), "")
    return _ENDS_SENTENCE.search(said) is not None


def _is_greeted(text: str) -> bool:
    """Whether a text begins with a line that ends in a comma, as a greeting does."""
    first = text.lstrip().split("\n", 1)[0].strip()
    return first.endswith((",", "!")) and len(first.split()) <= _LONGEST_NAME + 1


def _is_closed(text: str) -> bool:
    """Whether a text ends with the closing tag of its outermost element."""
    if text.endswith("\\end{document}"):
        return True
    root = _ROOT.match(text)
    return root is not None and re.search(rf"</{re.escape(root['name'])}\s*>\Z", text) is not None


def runs_on(written: str) -> bool:
    """Whether the last lines of a text differ only in their numbers."""
    lines = [line for line in written[-1000:].split("\n") if line.strip()][-_LINES:]
    return len(lines) == _LINES and len({_NUMBER.sub("0", line) for line in lines}) == 1


def _repeats_itself(text: str) -> bool:
    """Whether the last sentences, lines or words of a text are all the same."""
    if len(words := text[-1000:].split()[-_WORDS:]) == _WORDS and len(set(words)) == 1 and words[0].isalpha():
        return True
    found = [one.group().strip() for one in _SENTENCE.finditer(text[-2000:])][-_TIMES:]
    ended = text.endswith((".", "!", "?", "…")) or "\n" in text
    return ended and len(found) == _TIMES and len(set(found)) == 1
