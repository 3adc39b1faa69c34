"""The provenance of a text: who wrote each of its characters, followed through edits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Generic, TypeVar

from reviser.core.edits import Edit

Author = TypeVar("Author")


class Provenance(Generic[Author]):
    """The author of each character of a text; original characters have none."""

    def __init__(self, length: int) -> None:
        """All of a text of this length is original."""
        self._authors: list[Author | None] = [None] * length

    def follow(self, edit: Edit, author: Author) -> None:
        """Record an edit of the text."""
        self._authors[edit.start : edit.end] = [author] * len(edit.new)

    @property
    def written(self) -> list[Author]:
        """The authors of the characters that are not original, in order."""
        return [author for author in self._authors if author is not None]

    def between(self, start: int, end: int) -> Iterator[tuple[int, int, Author]]:
        """The stretches of a part of the text that are not original: start, end and author."""
        place = start
        for author, letters in groupby(self._authors[start:end]):
            reach = place + sum(1 for _ in letters)
            if author is not None:
                yield place, reach, author
            place = reach
