"""Hypothesis strategies for canvases and actions over a tiny vocabulary with every operator."""

from __future__ import annotations

from hypothesis import strategies as st

from reviser.core.actions import (
    Action,
    Delete,
    Insert,
    Move,
    Replace,
    SpanCopy,
    SpanDelete,
    SpanInsert,
    SpanMove,
    Stop,
    Swap,
)
from reviser.core.canvas import Canvas
from reviser.core.vocabulary import EXTENSIONS, Vocabulary

TINY = Vocabulary(base_size=6, never_inserted=frozenset({5}), extensions=EXTENSIONS, name="tiny")

small = st.integers(-9, 14)
tokens = st.integers(0, 4)

actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(Insert, st.integers(-1, 6)),
    st.builds(SpanInsert, st.lists(st.integers(-1, 6), max_size=4).map(tuple)),
    st.builds(Move, small),
    st.just(Delete()),
    st.just(Swap()),
    st.builds(Replace, st.integers(-1, 6)),
    st.builds(SpanDelete, small),
    st.builds(SpanMove, small, small, st.booleans()),
    st.builds(SpanCopy, small, small, st.booleans()),
)
actions_and_stop = st.one_of(actions, st.just(Stop()))


@st.composite
def canvases(draw: st.DrawFn, vocabulary: Vocabulary = TINY) -> Canvas:
    content = draw(st.lists(tokens, max_size=12))
    prefix = draw(st.integers(0, len(content)))
    suffix = draw(st.integers(0, len(content) - prefix))
    cursor = draw(st.integers(prefix, len(content) - suffix))
    max_length = draw(st.none() | st.integers(len(content), len(content) + 8))
    return Canvas(vocabulary, content, cursor=cursor, prefix=prefix, suffix=suffix, max_length=max_length)
