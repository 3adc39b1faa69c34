"""The proofreader on small documents, with a policy that knows what to correct."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.policy import ModelPolicy, SessionPolicy
from reviser.decoding.torch_policy import CanvasPolicy
from reviser.model.torch_decoder import TorchDecoder
from reviser.native import NativeDecoder, available
from reviser.proofreading.document import Draft, Proofread
from reviser.proofreading.guard.calibration import SearchThresholds
from reviser.proofreading.overtyping import OvertypingReader
from reviser.proofreading.pipeline import LOOKS, Proofreader
from reviser.proofreading.project.words import Words
from reviser.proofreading.reading import Passage, find_corrections, overtype, rules_for
from reviser.proofreading.suggestion import Kind, with_suggestions
from reviser.prose import Format, Span
from tests.reviser.proofreading.scripted import GPT2, REVISING, Known, Scripted
from tests.toys import ToyTokenizer, toy_model

TYPOS: Known = {"recieve": ("receive", 0.9), "becuse": ("because", 0.8), "a old": ("an old", 0.7), "teh": ("the", 0.95)}


def proofread(
    text: str,
    known: Known | Callable[[str], Known] = TYPOS,
    format: Format = Format.PLAIN,
    confidence: float = 0.5,
    words: Words | None = None,
    within: Span | None = None,
) -> Proofread:
    done = Proofreader(Scripted(known), GPT2, confidence=confidence, phrases=False).proofread(
        Draft(text, format, words or Words(), within)
    )
    assert with_suggestions(text, done.changes) == done.text
    return done


def test_each_change_has_its_place_confidence_and_kind() -> None:
    text = "I recieve mail.\n\nIt is a old house, becuse I like teh view.\n"
    done = proofread(text)
    assert done.text == "I receive mail.\n\nIt is an old house, because I like the view.\n"
    assert [(c.old, c.new, c.kind) for c in done.changes] == [
        ("recieve", "receive", Kind.SPELLING),
        ("a", "an", Kind.ARTICLE),
        ("becuse", "because", Kind.SPELLING),
        ("teh", "the", Kind.SPELLING),
    ]
    assert [round(c.confidence, 2) for c in done.changes] == [0.9, 0.7, 0.8, 0.95]
    assert all(text[c.start : c.end] == c.old for c in done.changes)
    assert done.sentences == 2


def test_the_dial_leaves_what_is_doubted_and_makes_the_rest() -> None:
    text = "It is a old house, becuse I like teh view."
    assert "a old house, because I like the" in proofread(text, confidence=0.75).text
    assert proofread(text, confidence=0.97).text == text
    assert proofread(text, confidence=1.0).changes == ()
    assert len(proofread(text, {"a old": ("an old", 0.2)}, confidence=0.15).changes) == 1
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ReviserError, match="confidence"):
            proofread(text, confidence=wrong)


def test_a_change_is_never_undone_by_a_later_look() -> None:
    back_and_forth: Known = {"hous ": ("house ", 0.9), "house ": ("hous ", 0.9)}
    assert proofread("A hous is nice.", back_and_forth).text == "A house is nice."
    # A doubled word goes, and does not come back beside the other.

    def doubled(text: str) -> Known:
        if "the the" in text:
            return {"the the": ("the", 0.9)}
        return {" cat": (" the cat", 0.9), "saw ": ("saw the ", 0.9)}

    assert proofread("I saw the the cat.", doubled).text == "I saw the cat."


def test_hard_wrapped_paragraphs_keep_their_lines() -> None:
    text = "> I do not recieve it, becuse\n> teh post is slow and would\n> of been late.\n"
    known = TYPOS | {"would of been": ("would have been", 0.9)}
    done = proofread(text, known, Format.MARKDOWN)
    assert done.text == ("> I do not receive it, because\n> the post is slow and would\n> have been late.\n")
    joined = proofread("I can not see any\nbody here.\n", {"any body": ("anybody", 0.9)})
    assert joined.text.count("\n") == 2


def test_headings_items_and_captions_are_no_unfinished_sentences() -> None:
    text = "# getting started\n\n- apples and pears\n- teh rest\n\n| a | b |\n|---|---|\n| some cell | x |\n"
    known: Known = {
        "getting started": ("Getting started.", 0.9),
        "pears": ("pears.", 0.9),
        "apples": ("Apples", 0.9),
        "some cell": ("Some cell.", 0.9),
        "teh rest": ("the rest.", 0.9),
    }
    done = proofread(text, known, Format.MARKDOWN)
    assert done.text == text.replace("teh", "the")
    assert [(c.old, c.new, c.kind) for c in done.changes] == [("teh", "the", Kind.SPELLING)]
    # The parts of a list begin as its author likes, also where they end with a mark; the pronoun is a capital.
    listed = proofread("- teh rest;\n", {"teh": ("The", 0.9)}, Format.MARKDOWN)
    assert listed.text == "- the rest;\n"
    pronoun = proofread("- i think so\n", {"i think": ("I think", 0.9)}, Format.MARKDOWN)
    assert pronoun.text == "- I think so\n"


def test_only_a_part_of_the_text() -> None:
    text = "I see teh cat.\nI see teh dog, teh cow.\nI see teh end.\n"
    start = text.index("I see teh dog")
    done = proofread(text, within=Span(start, text.index("\nI see teh end")))
    assert done.text == text.replace("teh dog, teh cow", "the dog, the cow")
    inside = proofread(text, within=Span(start, start + 9))
    assert inside.text == text.replace("teh dog", "the dog")
    assert proofread(text, within=Span(start, start + 8)).text == text


def test_one_correction_of_two_words_is_two_changes_if_each_is_one() -> None:
    text = "I saw teh quikc fox."
    done = proofread(text, {"teh quikc": ("the quick", 0.9)}, words=Words(["quikc"]))
    assert done.text == "I saw the quikc fox."
    # Else it is made whole or not at all.
    known: Known = {"teh fox quikc": ("the quick fox that", 0.9)}
    assert proofread("I saw teh fox quikc.", known, words=Words(["quikc"])).changes == ()


def test_several_documents_at_once_as_one_by_one() -> None:
    texts = ["I see teh cat. It is a old cat.", "Nothing here.", "", "I recieve teh mail."]
    reader = Proofreader(Scripted(TYPOS), GPT2)
    together = reader.proofread_all([Draft(text) for text in texts])
    assert [done.text for done in together] == [proofread(text).text for text in texts]


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    text = "I see teh cat. " * 40
    Proofreader(Scripted(TYPOS), GPT2).proofread(Draft(text), lambda *of: told.append(of))
    assert told[0] == (0, 40)
    assert told[-1][0] == told[-1][1]
    assert {done for done, _ in told} >= set(range(40))
    assert all(done <= of for done, of in told)


class Alone:
    """A decoder with no more than it must have."""

    def __init__(self, decoder: TorchDecoder) -> None:
        self.prefill, self.decode = decoder.prefill, decoder.decode
        self.truncate = decoder.truncate
        self._decoder = decoder

    @property
    def length(self) -> int:
        return self._decoder.length

    @property
    def capacity(self) -> int:
        return self._decoder.capacity


@pytest.mark.parametrize(
    ("confidence", "wanted"),
    [
        (0.0, "It is an old house, because I like the view."),
        (0.75, "It is a old house, because I like the view."),
        (0.97, "It is a old house, becuse I like teh view."),
        (1.0, "It is a old house, becuse I like teh view."),
    ],
)
def test_the_dial_decides_what_is_made(confidence: float, wanted: str) -> None:
    text = "It is a old house, becuse I like teh view."
    proofreader = Proofreader(Scripted(TYPOS), GPT2, confidence=confidence, phrases=False)
    assert proofreader.proofread(Draft(text)).text == wanted


def test_each_sentence_is_read_by_itself() -> None:
    policy = Scripted({})
    text = "One is here. Two is there.\nThree is gone.\n\nAnother one."
    done = Proofreader(policy, GPT2).proofread(Draft(text))
    assert policy.read == ["One is here.", " Two is there.", " Three is gone.", "Another one."]
    assert set(policy.around) == {("", "")}
    assert done.sentences == 4


def test_parts_of_sentences_are_read_with_what_is_around_them() -> None:
    """A sentence of more than 64 tokens is whole, one of more than 128 is cut, and a full stop may be no end."""
    clause = " and was glad of it, as cats on mats are,"
    policy = Scripted({})
    Proofreader(policy, GPT2).proofread(Draft(f"The cat sat{clause * 8} and slept. It was late."))
    whole = policy.read[0]
    assert 64 < len(GPT2.encode(whole)) <= 128
    assert policy.around[0] == ("", "")
    policy = Scripted({})
    text = f"It was late. The cat sat{clause * 20} and slept. It was late."
    Proofreader(policy, GPT2).proofread(Draft(text))
    assert "".join(policy.read) == text
    part = next(number for number, one in enumerate(policy.read) if "glad" in one)
    before, behind = policy.around[part + 1]
    assert before
    assert "".join(policy.read[: part + 1]).endswith(before)
    assert behind
    assert "".join(policy.read[part + 2 :]).startswith(behind)
    assert max(len(GPT2.encode(side)) for pair in policy.around for side in pair) <= 33
    # What cannot be cut is not read.
    policy = Scripted({})
    Proofreader(policy, GPT2).proofread(Draft("ab" * 5000))
    assert policy.read == []
    policy = Scripted({})
    filler = "The cat sat on the mat and was glad of it, as cats on mats are, and so it stayed. " * 3
    Proofreader(policy, GPT2).proofread(Draft(f"{filler}It cost 5 dols. or so at the market of the town."))
    for (before, _), one in zip(policy.around, policy.read, strict=True):
        assert bool(before) == one.lstrip()[0].islower()


@pytest.mark.parametrize("start", ["12 people", "Many people", '"We', "3rd place"])
def test_a_sentence_is_whole_whatever_it_begins_with(start: str) -> None:
    filler = "The cat sat on the mat and was glad of it, as cats on mats are, and stayed. " * 3
    policy = Scripted({})
    Proofreader(policy, GPT2).proofread(Draft(f"{filler}{start} came in the evening, and it was late."))
    assert len(policy.read) > 1
    assert set(policy.around) == {("", "")}


def test_sentences_that_changed_are_read_again() -> None:
    def known(text: str) -> Known:
        first = text.find("teh")
        return {} if first < 0 else {text[first : first + 5]: (f"the{text[first + 3 :][:2]}", 0.9)}

    policy = Scripted(known)
    text = "All is well. I see teh cat. The end is near. Teh rest stays."
    done = Proofreader(policy, GPT2).proofread(Draft(text))
    assert done.text == text.replace("teh", "the")
    assert "".join(policy.read[:4]) == text
    assert policy.read[4:] == [" I see the cat."]
    # A sentence that changes in each look is read no more often than that.
    policy = Scripted({"teh": ("the", 0.9)})
    text = "I see teh cat and teh dog and teh cow and teh end. All is well."
    done = Proofreader(policy, GPT2).proofread(Draft(text))
    assert policy.read.count(" All is well.") == 1
    assert len(policy.read) == 1 + LOOKS
    assert done.text == text.replace("teh", "the", LOOKS)
    assert [c.start for c in done.changes] == [6, 18, 30]


def test_every_decoder_overtypes_alike() -> None:
    """In a batch of torch, behind a decoder without batches, by a canvas policy, and in the native library."""
    model = toy_model(context=256, canvas_length=256)
    tokenizer = ToyTokenizer()
    vocabulary = Vocabulary(tokenizer.size, kinds=PAPER_KINDS | {"delete"}, name="toy", overtypes=True)
    rules = rules_for(vocabulary)
    policies: list[SessionPolicy] = [
        ModelPolicy(TorchDecoder(model), vocabulary),
        ModelPolicy(Alone(TorchDecoder(model)), vocabulary),
    ]
    if available():
        policies.append(ModelPolicy(NativeDecoder.from_model(model, 32), vocabulary))
    found = []
    for policy in policies:
        readers = [
            OvertypingReader(rules, tokenizer.encode(passage), [260], [261], least=1e-9)
            for passage in ("The cat sat on the mat.", "", " The", "On the cat, the mat sat.")
        ]
        overtype(policy, readers)
        assert all(reader.over for reader in readers)
        # A random model's later choices hang on the last bits of its scores.
        found.append([[(c.start, c.end, c.tokens) for c in r.corrections[:1]] for r in readers])
    assert any(found[0])
    assert all(one == found[0] for one in found)


def test_a_canvas_model_overtypes_and_long_passages_are_given_up() -> None:
    tokenizer = ToyTokenizer()
    vocabulary = Vocabulary(tokenizer.size, kinds=PAPER_KINDS | {"delete"}, name="toy", overtypes=True)
    model = toy_model(context=64, canvas_length=64, canvas_input="linear")
    policy = CanvasPolicy(model, vocabulary)
    passages = [Passage(tokenizer.encode("The cat sat."), [260], [261]), Passage([260] * 80)]
    some, none = find_corrections(policy, passages, SearchThresholds(0.01, 0.01))
    assert all(one.confidence >= 0.01 for one in some)
    assert none == []


def test_models_that_cannot_revise_say_so() -> None:
    # Neither the released models, which have no Delete, nor those that learned to revise by moves.
    for kinds in (PAPER_KINDS, REVISING):
        plain = Scripted({}, vocabulary=Vocabulary.gpt2(kinds=kinds))
        with pytest.raises(ReviserError, match="not trained to revise"):
            Proofreader(plain, GPT2)
    with pytest.raises(ReviserError, match="do not belong together"):
        Proofreader(Scripted({}, vocabulary=Vocabulary(10)), GPT2)


@pytest.mark.parametrize(
    ("text", "written", "wanted"),
    [
        ("We dont know.", "don’t", "We don't know."),
        ("We dont know Anna’s cat.", "don't", "We don’t know Anna’s cat."),
        ("We dont know Anna's “cat”.", "don’t", "We don't know Anna's “cat”."),
    ],
)
def test_apostrophes_are_those_of_the_paragraph(text: str, written: str, wanted: str) -> None:
    assert proofread(text, {"dont": (written, 0.9)}).text == wanted
