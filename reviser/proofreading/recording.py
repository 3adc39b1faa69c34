"""A proofread text as a trajectory: its tokens as the draft, and the changes as actions from the end backward."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from reviser.core.actions import Action, Delete, Insert, Stop
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.core.trajectory import Trajectory
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Run, seed
from reviser.proofreading.suggestion import Suggestion


def recorded(
    text: str, changes: Sequence[Suggestion], tokenizer: Tokenizer, vocabulary: Vocabulary, model: str | None = None
) -> Trajectory:
    """The trajectory that makes these changes, which are in order and do not overlap."""
    tokens = tokenizer.encode(text)
    data = text.encode()
    if b"".join(map(tokenizer.token_bytes, tokens)) != data:
        raise ReviserError("the model's tokenizer does not keep this text, so it cannot be recorded")
    canvas, history = seed(vocabulary, [], draft=tokens)
    run = Run(canvas, history)
    for start, end, new in reversed([*_splices(data, tokens, text, changes, tokenizer)]):
        actions: list[Action] = [*vocabulary.moves(end - canvas.cursor)]
        actions += [Delete()] * (end - start)
        actions += map(Insert, new)
        for action in actions:
            run.take(vocabulary.id(action))
    run.take(vocabulary.id(Stop()))
    return Trajectory.record(run, tokenizer, model)


def _splices(
    data: bytes, tokens: Sequence[int], text: str, changes: Sequence[Suggestion], tokenizer: Tokenizer
) -> Iterator[tuple[int, int, list[int]]]:
    """The changes in tokens: start, end, and the new tokens."""
    ends = [0, *accumulate(len(tokenizer.token_bytes(token)) for token in tokens)]
    # Only between two characters can tokens be cut apart.
    cuts = [number for number, end in enumerate(ends) if not _is_inside(data, end)]
    places = [ends[number] for number in cuts]
    waiting = []
    at, byte = 0, 0
    for change in changes:
        byte += len(text[at : change.start].encode())
        start, end = byte, byte + len(change.old.encode())
        at, byte = change.end, end
        waiting.append((start, end, change.new.encode()))
    groups: list[tuple[int, int, list[tuple[int, int, bytes]]]] = []
    for splice in waiting:
        left, right = bisect_right(places, splice[0]) - 1, bisect_left(places, splice[1])
        if groups and left < groups[-1][1]:
            first, last, some = groups.pop()
            groups.append((first, max(last, right), [*some, splice]))
        else:
            groups.append((left, right, [splice]))
    for left, right, group in groups:
        new = _tokens(data, places[left], places[right], group, tokenizer)
        yield cuts[left], cuts[right], new


def _tokens(
    data: bytes, start: int, end: int, group: Sequence[tuple[int, int, bytes]], tokenizer: Tokenizer
) -> list[int]:
    """The tokens of a range of bytes after the changes in it."""
    pieces, at = list[bytes](), start
    for first, last, new in group:
        pieces += [data[at:first], new]
        at = last
    return tokenizer.encode(b"".join([*pieces, data[at:end]]).decode())


def _is_inside(data: bytes, place: int) -> bool:
    return place < len(data) and 0x80 <= data[place] <= 0xBF
