"""The paper's two worked obfuscation-restoration tables, state by state."""

from __future__ import annotations

import pytest

from reviser.core.actions import Action, Delete, Insert, Move, Stop
from reviser.core.canvas import Canvas
from reviser.core.vocabulary import Vocabulary

WORDS = ["Hi", ",", "how", "are", "you", "?", "Mary", "had", "a", "little", "lamb.", "hello"]
WORD_ID = {word: id for id, word in enumerate(WORDS)}
VOCABULARY = Vocabulary(base_size=len(WORDS), name="words")

# An action (None: the initial state) and the canvas after it, the cursor as a bar.
Table = list[tuple[Action | None, str]]


def insert(word: str) -> Insert:
    return Insert(WORD_ID[word])


PLAIN_OBFUSCATION: Table = [
    (None, "Hi , | how are you ?"),
    (Delete(), "Hi | how are you ?"),
    (Delete(), "| how are you ?"),
    (Move(+4), "how are you ? |"),
    (Delete(), "how are you |"),
    (Delete(), "how are |"),
    (Delete(), "how |"),
    (Delete(), "|"),
]
PLAIN_RESTORATION: Table = [
    (None, "|"),
    (insert("how"), "how |"),
    (insert("are"), "how are |"),
    (insert("you"), "how are you |"),
    (insert("?"), "how are you ? |"),
    (Move(-4), "| how are you ?"),
    (insert("Hi"), "Hi | how are you ?"),
    (insert(","), "Hi , | how are you ?"),
    (Stop(), "Hi , | how are you ?"),
]
RICHER_OBFUSCATION: Table = [
    (None, "Mary had a | little lamb."),
    (Delete(), "Mary had | little lamb."),
    (Move(-1), "Mary | had little lamb."),
    (Delete(), "| had little lamb."),
    (insert("hello"), "hello | had little lamb."),
    (Move(+2), "hello had little | lamb."),
    (Delete(), "hello had | lamb."),
    (Delete(), "hello | lamb."),
    (Delete(), "| lamb."),
    (Move(+1), "lamb. |"),
    (Delete(), "|"),
]
RICHER_RESTORATION: Table = [
    (None, "|"),
    (insert("lamb."), "lamb. |"),
    (Move(-1), "| lamb."),
    (insert("hello"), "hello | lamb."),
    (insert("had"), "hello had | lamb."),
    (insert("little"), "hello had little | lamb."),
    (Move(-2), "hello | had little lamb."),
    (Delete(), "| had little lamb."),
    (insert("Mary"), "Mary | had little lamb."),
    (Move(+1), "Mary had | little lamb."),
    (insert("a"), "Mary had a | little lamb."),
    (Stop(), "Mary had a | little lamb."),
]


def canvas_of(shown: str) -> Canvas:
    words = shown.split()
    cursor = words.index("|")
    return Canvas(VOCABULARY, [WORD_ID[word] for word in words if word != "|"], cursor=cursor)


def show(canvas: Canvas) -> str:
    words = [WORDS[token] for token in canvas.tokens]
    return " ".join([*words[: canvas.cursor], "|", *words[canvas.cursor :]])


@pytest.mark.parametrize("table", [PLAIN_OBFUSCATION, PLAIN_RESTORATION, RICHER_OBFUSCATION, RICHER_RESTORATION])
def test_each_row_follows_from_the_one_above(table: Table) -> None:
    canvas = canvas_of(table[0][1])
    for action, shown in table[1:]:
        assert action is not None
        canvas.apply(action)
        assert show(canvas) == shown


@pytest.mark.parametrize(
    ("obfuscation", "restoration"), [(PLAIN_OBFUSCATION, PLAIN_RESTORATION), (RICHER_OBFUSCATION, RICHER_RESTORATION)]
)
def test_restoration_is_the_obfuscation_inverted_from_last_to_first(obfuscation: Table, restoration: Table) -> None:
    canvas = canvas_of(obfuscation[0][1])
    inverses: list[Action] = []
    for action, _ in obfuscation[1:]:
        assert action is not None
        inverses = [*action.inverse(canvas), *inverses]
        canvas.apply(action)
    assert [*inverses, Stop()] == [action for action, _ in restoration[1:]]
