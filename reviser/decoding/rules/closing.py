"""The closing rule: a run closes what it has opened, such as a code fence, an environment, a bracket or emphasis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.rules.structure import OpenStructure, closings

# Actions before the limit from which there must be room to close what stands open.
_RESERVE: Final = 40
_STRUCTURAL: Final = re.compile(r"[\n`~\\()\[\]{}<>\"“”„«»*_$|]")
# What is written next to these is looked at, too.
_BINDING: Final = re.compile(r"(?:`{3}|~{3}|\\|\|)\Z")
_END: Final = re.compile(r"(?<!\\)\\end(?P<begun>\{[A-Za-z]*\*?)?\Z")
_BEGIN: Final = re.compile(r"(?<!\\)\\begin(?:\{[A-Za-z]*\*?)?\Z")
_BEGUN: Final = re.compile(r"\\begin(?:\{(?:[A-Za-z]+(?:\*?(?:\}.*)?)?)?)?", re.DOTALL)
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})\s*")


class ClosingRule(ScoreProcessor):
    """A rule that closes what a run has opened before the run stops or starts another paragraph.

    An environment is ended by its own name, a code fence by its own mark, and a row of a table has as many cells as the
    one above it. `structure` is that of the text before the run, `end` the length of the history at which the run is
    cut off, or None if there is no limit. A run that `fills` a gap leaves open what stands open around it; closing that
    ends the run. With `own`, the run closes only what it has opened itself: text that it does not see may follow.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        tokenizer: Tokenizer,
        structure: OpenStructure,
        end: int | None,
        *,
        fills: bool,
        own: bool = False,
    ) -> None:
        self._vocabulary = vocabulary
        self._tokenizer = tokenizer
        self._structure = structure
        self._end = end
        self._fills = fills
        self._own = own or fills
        self._texts: dict[int, tuple[str, bool, bool]] = {}

    def instead(self, id: int, history: Sequence[int], canvas: Canvas) -> Sequence[int] | None:
        stops = id == self._vocabulary.stop_id
        if id >= self._vocabulary.base_size and not stops:
            return None
        text, structural, _ = ("", True, False) if stops else self._text(id)
        left = _RESERVE + 1 if self._end is None else self._end - len(history)
        if not structural and left > _RESERVE and not self._is_bound(canvas):
            return None
        if canvas.cursor != canvas.high and not stops:
            # What is put back there must not change what stands behind it.
            return () if any(mark in text for mark in "`~\\") else None
        whole = self._structure.before + self.written(canvas)
        if not stops and (instead := self._fitting(id, text, whole)) is not None:
            return instead
        if stops or self._fills or left <= _RESERVE or self._ends_paragraph(text, whole):
            return self._closing(id, text, whole, canvas, left)
        return None

    def written(self, canvas: Canvas) -> str:
        """The text that the run has written."""
        tokens = canvas.between(canvas.low, canvas.high)
        return b"".join(map(self._tokenizer.token_bytes, tokens)).decode("utf-8", "ignore")

    def fits(self, tokens: Sequence[int]) -> bool:
        """Whether a filling closes everything that it opens, and nothing else."""
        before = self._structure.before
        text = before + b"".join(map(self._tokenizer.token_bytes, tokens)).decode("utf-8", "ignore")
        return not self._structure.to_close(text, own=True) and not self._closes_around(before, text)

    def _text(self, id: int) -> tuple[str, bool, bool]:
        """The text of a token, whether it may open or close something, and whether that depends on the next token."""
        found = self._texts.get(id)
        if found is None:
            text = self._tokenizer.token_bytes(id).decode("utf-8", "ignore")
            found = text, _STRUCTURAL.search(text) is not None, _BINDING.search(text) is not None
            self._texts[id] = found
        return found

    def _is_bound(self, canvas: Canvas) -> bool:
        """Whether the text before the cursor restricts what may follow."""
        cursor = canvas.cursor
        if cursor == canvas.low:
            tail = self._structure.before[-80:]
            return _BINDING.search(tail) is not None or _END.search(tail) is not None
        (last,) = canvas.between(cursor - 1, cursor)
        return self._text(last)[2]

    def _fitting(self, id: int, text: str, whole: str) -> Sequence[int] | None:
        """The replacement of a token that does not fit the line or environment that it is in; None if it fits."""
        ends = _END.search(whole + text if text == "end" else whole)
        if ends and self._structure.is_tex(whole):
            # The name of an environment is known where it ends.
            environments = self._structure.blocks(whole).environments
            name = f"{{{environments[-1].name}}}" if environments else ""
            begun = ends["begun"] or ""
            if not name.startswith(begun) or not name:
                return ()
            return [*([id] if text == "end" else []), *self._tokens(name.removeprefix(begun))]
        if (begun_at := _BEGIN.search(whole)) and not _BEGUN.fullmatch(begun_at.group() + text):
            return self._tokens("}") if begun_at.group()[-1].isalpha() and "{" in begun_at.group() else ()
        line = whole[whole.rfind("\n") + 1 :]
        instead = self._fitting_fence(text, whole, line)
        return self._fitting_row(text, whole, line) if instead is None else instead

    def _fitting_fence(self, text: str, whole: str, line: str) -> Sequence[int] | None:
        before = self._structure.blocks(whole[: len(whole) - len(line)]).fence
        if before is None:
            # A model that closes what is no fence takes the text for the end of a program.
            ends = not line.strip() and _FENCE.fullmatch(text) and self._structure.is_program(whole.rstrip())
            return (self._vocabulary.stop_id,) if ends else None
        if self._fills and before.at < len(self._structure.before):
            return None
        mark = before.closing.strip()
        if line.strip() == mark:
            # Nothing stands behind what closes a fence.
            return None if text.startswith("\n") else ()
        if not line.strip() and (found := _FENCE.fullmatch(text)) and not found[1].startswith(mark):
            return self._tokens(mark)
        return None

    def _fitting_row(self, text: str, whole: str, line: str) -> Sequence[int] | None:
        if not line.startswith("|"):
            return None
        above = whole[: len(whole) - len(line)].rstrip("\n").rpartition("\n")[2]
        if not above.startswith("|") or whole[: len(whole) - len(line)].endswith("\n\n"):
            return None
        wanted, cells = above.count("|"), line.count("|")
        if "\n" in text:
            return None if cells >= wanted else ()
        return () if cells >= wanted and line.rstrip().endswith("|") else None

    def _ends_paragraph(self, text: str, whole: str) -> bool:
        return "\n\n" in text or (text.startswith("\n") and whole.endswith("\n"))

    def _closing(self, id: int, text: str, whole: str, canvas: Canvas, left: int) -> Sequence[int] | None:
        """The ids that close what is open, followed by the drawn one, or that end the run near its limit; None if none
        are needed."""
        stop = self._vocabulary.stop_id
        if self._fills and text and self._closes_around(whole, whole + text):
            return (stop,) if canvas.high > canvas.low else ()
        stops = id == stop
        opened = self._structure.to_close(whole, own=self._own)
        if not stops and self._ends_paragraph(text, whole):
            opened = [one for one in opened if not one.closing.startswith("\n")]
        elif stops and self._is_row_begun(whole):
            return ()
        if not opened:
            return None
        made = closings(opened, whole)
        if stops and not _says_something(whole[opened[-1].at :], made):
            return ()
        ids = self._tokens(made)
        if not stops and not self._ends_paragraph(text, whole) and left > len(ids) + 2:
            return None
        back = [self._vocabulary.id(move) for move in self._vocabulary.moves(canvas.high - canvas.cursor)]
        return [*back, *ids, id if stops or left > _RESERVE else stop]

    def _is_row_begun(self, whole: str) -> bool:
        """Whether a text ends within a row of a table."""
        line = whole[whole.rfind("\n") + 1 :]
        return self._fitting_row("\n", whole, line) is not None

    def _closes_around(self, whole: str, text: str) -> bool:
        """Whether `text` closes what was open before the run and is still open in `whole`."""
        around = len(self._structure.before)
        first = [one for one in self._structure.opened(whole) if one.at < around]
        return bool(first) and first != [one for one in self._structure.opened(text) if one.at < around]

    def _tokens(self, text: str) -> list[int]:
        return self._tokenizer.encode(text)


def _says_something(opened: str, closing: str) -> bool:
    """Whether there is any content between an opening mark and its closing mark."""
    lines = opened.split("\n")
    within = "\n".join(lines[1:]) if closing.startswith("\n") or len(lines) > 1 else opened
    return any(character.isalnum() for character in within)
