"""Terms of a document: words in its code that are not in the word list, and that its prose may use."""

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
    """The unknown words outside of the prose, in lower case."""
    if known is None or format in _WITHOUT_CODE:
        return frozenset()
    words = {word for code in _code(text, prose) for word in _WORD.findall(code)}
    return frozenset(word.lower() for word in words if not known(word))


def as_names(terms: Iterable[str]) -> frozenset[str]:
    """Terms with a capital, as the prose may write them."""
    return frozenset(term.capitalize() for term in terms)


def _code(text: str, prose: Sequence[Paragraph]) -> Iterator[str]:
    """The text between the paragraphs, and the protected parts of them."""
    place = 0
    for paragraph in prose:
        for start, end in paragraph.segments:
            yield text[place:start]
            place = max(place, end)
        for start, end in paragraph.protected:
            yield paragraph.text[start:end]
    yield text[place:]
