"""No word is glued to the full stop before a run, and elsewhere nothing is in a run's way."""

from __future__ import annotations

import numpy as np
import pytest

from reviser.core.actions import Action, Insert, Replace
from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import KINDS, Vocabulary
from reviser.decoding.rules.spacing import SentenceSpacing, ends_sentence, glued_tokens, joining
from reviser.decoding.sampler import Sampler
from reviser.session.session import Session
from tests.toys import ToyTokenizer, quick_toy_policy

TOKENIZER = ToyTokenizer()
POLICY = quick_toy_policy()
SEEDS = range(12)


@pytest.mark.parametrize(
    "text",
    [
        "It answers questions.", "Is it so?", "It is!", "What?!", 'He said, "Yes."', "(It was late.)",
        "It doesn't.", "A well-known one.", "**It was.**", "In 2024?", "Schluß.", "“It was late.”",
    ],
)  # fmt: skip
def test_a_sentence_ends_here(text: str) -> None:
    assert ends_sentence(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "It answers quest", "It answers questions. ", "It answers questions.\n", "some (e.g.", "i.e.",
        "www.", "www.example.", "https://example.", "3.", "version 3.1.", "J.", "U.S.", "`list.", "...",
        "Well…", "It was,", "name_of.", "x/y.", "/?",
    ],
)  # fmt: skip
def test_no_sentence_ends_here(text: str) -> None:
    assert not ends_sentence(text)


def written(before: str, seed: int, after: str = "") -> str:
    session = Session(POLICY, TOKENIZER, before + after)
    sampler = Sampler(temperature=1.5, seed=seed)
    if after:
        run = session.infill(len(before), sampler=sampler, max_actions=4)
    else:
        run = session.continue_(sampler, max_actions=4)
    for _ in run:
        text = run.text
        assert text.startswith(before)
        assert text.endswith(after)
    return run.written


@pytest.mark.parametrize("after", ["", " The mat."])
def test_a_run_after_a_sentence_begins_apart_from_it(after: str) -> None:
    begun = [text for seed in SEEDS if (text := written("The cat sat.", seed, after))]
    assert len(begun) > len(SEEDS) // 2
    assert not [text for text in begun if text[0].isascii() and text[0].isalnum()]
    again = [text for seed in SEEDS if (text := written("The cat sat.", seed, after))]
    assert begun == again


@pytest.mark.parametrize("before", ["The c", "(e.g.", "www.example.", "3.", "The cat sat.\n\nA", ""])
def test_elsewhere_a_run_may_begin_with_a_letter(before: str) -> None:
    """It is the same run as without the rule."""
    assert any(text[:1].isalnum() for seed in SEEDS if (text := written(before, seed)))


def test_neither_a_replacement_nor_a_removal_brings_a_word_there() -> None:
    vocabulary = Vocabulary(TOKENIZER.size, extensions=("replace",), kinds=frozenset({*KINDS, "replace"}))

    prefix, space, the = TOKENIZER.encode("sat."), ord(" "), TOKENIZER.encode("The")[0]
    canvas = Canvas(vocabulary, [*prefix, space, the], prefix=len(prefix), cursor=len(prefix) + 1)
    scores = np.zeros(vocabulary.size, dtype=np.float32)
    SentenceSpacing(TOKENIZER).change(scores, [], canvas)

    def allows(action: Action | int) -> bool:
        id = action if isinstance(action, int) else vocabulary.id(action)
        return bool(scores[id] == 0)

    assert not allows(Replace(the))
    assert allows(Replace(ord("\n")))
    assert not allows(vocabulary.delete_id)
    assert allows(Insert(the))


@pytest.mark.parametrize(
    ("filling", "following", "fits"),
    [
        (" on the mat.", " It was late.", True),
        (" on the mat. ", " It was late.", False),
        (" on the mat.\n", "\nIt was late.", False),
        (" on the mat. ", "It was late.", True),
        (" on the mat", "it was", False),
        (" on the mat", ", it was", True),
        (" on\u2060 the mat.", " It was late.", False),
    ],
)
def test_a_filling_has_one_space_to_what_follows(filling: str, following: str, fits: bool) -> None:
    assert joining(TOKENIZER, following)(TOKENIZER.encode(filling)) is fits


def test_tokens_that_begin_with_a_word_are_glued() -> None:
    tokenizer = Gpt2Tokenizer()
    glued = glued_tokens(tokenizer)
    texts = [tokenizer.token_bytes(token).decode("utf-8", "ignore") for token in range(tokenizer.size)]
    by_text = {text: bool(glued[token]) for token, text in enumerate(texts)}
    assert all(by_text[text] for text in ("The", "7", "(", "é", "“") if text in by_text)
    assert not any(by_text[text] for text in (" The", "\n", ".", ")", '"', " ("))
    assert [bool(one) for one in glued] == [text[:1].isalnum() or text[:1] in tuple("“‘«(") for text in texts]
