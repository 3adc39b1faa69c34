"""Unknown words are corrected in prose alone, whatever a model thinks of them; and what it thinks is read right."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviser.core.edits import Edit, apply_edits
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.model import Reviser, preset
from reviser.model.torch_decoder import TorchDecoder
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.reading import Passage
from reviser.proofreading.spelling.speller import UnknownWordsPassage, speller_for
from reviser.proofreading.spelling.terms import Terms
from reviser.prose import Format, format_of, paragraphs, safe_edits
from tests.reviser.proofreading.scripted import REVISING
from tests.reviser.proofreading.test_properties import check
from tests.reviser.prose.test_properties import DOCUMENTS, EXAMPLES, PIECES, documents
from tests.toys import ToyTokenizer, quick_decoder

TOKENIZER = ToyTokenizer()
VOCABULARY = dataclasses.replace(Vocabulary(TOKENIZER.size, kinds=REVISING, name="toy"), overtypes=True)
WRONG = ("recieve", "teh", "becuse", "enviroment", "alot", "paris", "i", "Wich")


def model() -> Reviser:
    """A tiny model with strong opinions that are about nothing."""
    torch.manual_seed(0)
    made = Reviser(preset("tiny", vocab_size=VOCABULARY.size, dropout=0.0, context=600)).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.ndim > 1:
                parameter.mul_(4)
    return made


MODEL = model()
POLICY = ModelPolicy(TorchDecoder(MODEL), VOCABULARY)
QUICK_POLICY = ModelPolicy(quick_decoder(MODEL), VOCABULARY)


def misspelt(text: str, format: Format, number: int) -> str:
    """A document with unknown words in the place of some words of its prose."""
    changes = [
        (paragraph, [Edit(found.start(), found[0], WRONG[(number + at) % len(WRONG)])])
        for paragraph in paragraphs(text, format)
        for at, found in enumerate(re.finditer(r"[^\W\d_]+", paragraph.text))
        if (number + at) % 3 == 0
    ]
    return apply_edits(text, safe_edits(text, format, changes))


@pytest.mark.parametrize("dial", [0.0, 0.3])
@pytest.mark.parametrize("format", PIECES, ids=str)
def test_only_prose_changes(format: Format, dial: float) -> None:
    reader = Proofreader(QUICK_POLICY, TOKENIZER, confidence=dial)

    @settings(max_examples=max(EXAMPLES // 25, 3), suppress_health_check=list(HealthCheck))
    @given(text=documents(format), number=st.integers(0, 1000))
    def run(text: str, number: int) -> None:
        check(misspelt(text, format, number), format, number, dial, reader)

    run()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_realistic_documents_keep_their_structure(path: Path) -> None:
    text = path.read_bytes().decode()[:2000]
    reader = Proofreader(QUICK_POLICY, TOKENIZER, confidence=0.0)
    format = format_of(str(path), text)
    changed = check(misspelt(text, format, 1), format, 1, 0.0, reader)
    # In a few words there may be nothing that the model would change.
    assert changed or len(text) < 1000


def test_chances_are_those_of_the_model() -> None:
    speller = speller_for(POLICY, TOKENIZER)
    assert speller is not None
    text = "The cat recieved the mat."
    (paragraph,) = paragraphs(text, Format.PLAIN)
    unknown = speller.unknown(paragraph, Terms())
    tokens = TOKENIZER.encode(text)
    ((place,),) = speller.judged([UnknownWordsPassage(Passage(tokens), text, unknown)], thoroughly=True)

    @torch.inference_mode()
    def chance(before: list[int], wanted: list[int]) -> float:
        ids = [*before, *wanted]
        scores = MODEL.logits(MODEL.hidden(torch.tensor([ids])))[0].log_softmax(-1)
        places = range(len(before) - 1, len(ids) - 1)
        return sum(float(scores[at, ids[at + 1]]) for at in places)

    start, end = place.span
    old, behind = tokens[start:end], tokens[end]
    head = [VOCABULARY.start_id, VOCABULARY.draft_id, *tokens, VOCABULARY.overtype_id]
    written = [*head, *tokens[:start]]
    assert place.kept == pytest.approx(chance(written, [*old, behind]), abs=1e-3)
    new = place.tokens[0]
    assert place.candidates[0].text == "received"
    front = next(at for at, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
    back = next(at for at, (a, b) in enumerate(zip(old[::-1], new[::-1], strict=True)) if a != b)
    gone = [VOCABULARY.delete_id] * (len(old) - front - back)
    ending = len(old) - back
    actions = [*old[:front], *gone, *new[front:ending], *old[ending:], behind]
    assert place.chances[0] == pytest.approx(chance(written, actions), abs=1e-3)
    following = tokens[end : end + 6]
    left = [VOCABULARY.start_id, *tokens[:start]]
    assert place.readings[None] == pytest.approx(chance(left, [*old, *following]), abs=1e-3)
