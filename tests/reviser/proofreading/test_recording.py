"""Changes as a trajectory: it replays to the corrected text, whatever the text and the changes are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.core.trajectory import dump_trajectories, load_trajectories
from reviser.core.vocabulary import Vocabulary
from reviser.proofreading.recording import recorded
from reviser.proofreading.suggestion import Kind, Suggestion, with_suggestions
from reviser.session.replay import replay
from tests.reviser.proofreading.scripted import GPT2, REVISING

VOCABULARY = Vocabulary.gpt2(kinds=REVISING)
TEXTS = st.text(st.sampled_from("ab cé漢👩\n\r.,"), max_size=60)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), TEXTS), max_size=5))
def test_it_replays_to_the_corrected_text(text: str, given: list[tuple[int, int, str]]) -> None:
    changes, place = [], 0
    for skip, length, new in given:
        start = place + skip + bool(changes)
        place = start + length
        if place > len(text):
            break
        changes.append(Suggestion(Edit(start, text[start:place], new), Kind.OTHER, 0.9))
    run = recorded(text, changes, GPT2, VOCABULARY, "some model")
    (again,) = load_trajectories("run.json", dump_trajectories([run]))
    done = replay(again, GPT2)
    assert done.start_text == text
    assert done.final_text == with_suggestions(text, changes) == again.final_text
    assert again.model == "some model"


def test_only_what_changed_is_written_again() -> None:
    text = "I recieve mail. " * 50 + "The end."
    changes = [Suggestion(Edit(2, "recieve", "receive"), Kind.SPELLING, 0.9)]
    run = recorded(text, changes, GPT2, VOCABULARY)
    assert len(run.action_ids) - run.seed_actions < 20


def test_a_tokenizer_that_loses_characters_is_told() -> None:
    class Lossy:
        name, size, markers = "lossy", 256, frozenset[int]()

        def encode(self, text: str) -> list[int]:
            return list(text.lower().encode())

        def token_bytes(self, token: int) -> bytes:
            return bytes([token])

    with pytest.raises(ReviserError, match="tokenizer"):
        recorded("A text.", [], Lossy(), VOCABULARY)
