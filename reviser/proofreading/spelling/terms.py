"""Terms of a document: words of its code that are in no list of words. The prose beside it may well mean them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from reviser.prose import Format, Paragraph

_WORD = re.compile(r"[^\W\d_]{3,}")
# What is no prose of a mail is the prose of others.
_WITHOUT_CODE = frozenset({Format.MAIL, Format.COMMIT})


def terms_in(
    text: str, prose: Sequence[Paragraph], format: Format, known: Callable[[str], bool] | None
) -> frozenset[str]:
    """The unknown words in what is not prose, in small letters."""
    if known is None or format in _WITHOUT_CODE:
        return frozenset()
    words = {word for code in _code(text, prose) for word in _WORD.findall(code)}
    return frozenset(word.lower() for word in words if not known(word))


def as_names(terms: Iterable[str]) -> frozenset[str]:
    """Terms with a capital, which the prose gives to the names of what it is about."""
    return frozenset(term.capitalize() for term in terms)


def _code(text: str, prose: Sequence[Paragraph]) -> Iterator[str]:
    """What stands between the paragraphs, and what of them must stay."""
    place = 0
    for paragraph in prose:
        for start, end in paragraph.segments:
            yield text[place:start]
            place = max(place, end)
        for start, end in paragraph.protected:
            yield paragraph.text[start:end]
    yield text[place:]
