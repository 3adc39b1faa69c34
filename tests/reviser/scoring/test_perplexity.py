from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from reviser.checkpoints.home import Checkpoint, save_checkpoint
from reviser.checkpoints.operators import append_operators
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.model import Reviser
from reviser.scoring import evaluators
from reviser.scoring.evaluators import (
    AutoregressiveEvaluator,
    DenoisingEvaluator,
    EvaluatedText,
    load_evaluator,
    read_text,
)
from reviser.scoring.perplexity import Loss, PromptedText, summarise
from tests.benchmarks import tiny_models
from tests.benchmarks.exact import MASK, ExactTable
from tests.reviser.checkpoints.parts import toy_checkpoint

TEXTS = [
    PromptedText("the thing in", " all the tins"),
    PromptedText("a", " b"),
    PromptedText("the all in the", ""),
    PromptedText("in the hall,", " a tall thing — and all 漢 of it"),
]


class FixedEvaluator:
    name = "fixed"
    kind = "autoregressive"


def test_sums_up_over_examples_and_over_tokens() -> None:
    losses = [Loss((math.log(2),) * 3, 6), Loss((math.log(8),), 4), Loss((), 0)]
    found = summarise(FixedEvaluator(), losses)  # type: ignore[arg-type]
    assert found.examples == 2
    assert found.empty == 1
    assert found.tokens == 4
    assert found.mean == pytest.approx(5)
    assert found.median == pytest.approx(5)
    assert found.over_tokens == pytest.approx(2 ** (6 / 4))
    assert found.median_token == pytest.approx(2)
    assert found.bits_per_byte == pytest.approx(6 / 10)


def test_nothing_written_has_no_perplexity() -> None:
    with pytest.raises(ReviserError, match="no continuation"):
        summarise(FixedEvaluator(), [Loss((), 0)])  # type: ignore[arg-type]


def test_a_token_across_the_boundary_belongs_to_the_continuation(gpt2: Gpt2Tokenizer) -> None:
    tokens = read_text(gpt2, PromptedText("an elep", "hant walks"))
    assert tokens.given == 1
    assert read_text(gpt2, PromptedText("an elephant", " walks")) == EvaluatedText(
        gpt2.encode("an elephant walks"), 3 - 1
    )


def test_only_the_prompt_is_cut_to_fit() -> None:
    assert EvaluatedText([1, 2, 3, 4], 3).fitted(3) == EvaluatedText([2, 3, 4], 2)
    assert EvaluatedText([1, 2, 3, 4], 3).fitted(None).ids == [1, 2, 3, 4]
    with pytest.raises(ReviserError, match="does not fit"):
        EvaluatedText([1, 2, 3, 4], 1).fitted(3)


@pytest.mark.parametrize("family", [tiny_models.gpt2, tiny_models.pythia, tiny_models.opt])
def test_transformers_models_score_the_continuation_alone(family: object, tmp_path: Path) -> None:
    evaluator = load_evaluator(str(family(tmp_path)), torch.device("cpu"))  # type: ignore[operator]
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text, loss in zip(TEXTS, evaluator.losses(TEXTS), strict=True):
        ids = tokenizer(text.prompt + text.continuation, return_tensors="pt")["input_ids"]
        given = len(tokenizer(text.prompt)["input_ids"])
        labels = ids.clone()
        labels[:, :given] = -100
        assert loss.size == len(text.continuation.encode())
        assert len(loss.nats) == ids.shape[1] - given
        if loss.nats:
            with torch.no_grad():
                expected = float(model(ids, labels=labels).loss)
            assert loss.total / len(loss.nats) == pytest.approx(expected, rel=1e-4)


def imported_base(seed: int = 0) -> Checkpoint:
    """A pretrained model whose operators nobody has trained."""
    made = toy_checkpoint(seed)
    bare = Reviser(type(made.model.config).from_dict(made.model.config.to_dict() | {"vocab_size": 265}))
    vocabulary = append_operators(bare, made.tokenizer, "toy")
    return Checkpoint(bare.eval(), vocabulary, made.tokenizer, made.tokenizer_json)


def test_an_imported_model_scores_by_its_own_ids_alone(tmp_path: Path) -> None:
    base = imported_base()
    save_checkpoint(tmp_path / "base", base)
    (loss,) = load_evaluator(str(tmp_path / "base"), torch.device("cpu")).losses([PromptedText("the", " all")])
    ids = base.tokenizer.encode("the all")
    given = len(base.tokenizer.encode("the"))
    with torch.no_grad():
        scores = base.model(torch.tensor([ids]))[0, :, : base.vocabulary.base_size].log_softmax(-1)
    expected = [-float(scores[at - 1, ids[at]]) for at in range(given, len(ids))]
    assert loss.nats == pytest.approx(expected, rel=1e-4)


def test_a_model_trained_here_starts_at_its_marker() -> None:
    made = toy_checkpoint()
    from dataclasses import replace

    vocabulary = replace(made.vocabulary, kinds=frozenset({"insert", "stop"}))
    trained = replace(made, vocabulary=vocabulary)
    (loss,) = AutoregressiveEvaluator.of_checkpoint("trained", trained).losses([PromptedText("", "all")])
    ids = [vocabulary.start_id, *made.tokenizer.encode("all")]
    with torch.no_grad():
        scores = made.model(torch.tensor([ids]))[0].log_softmax(-1)
    expected = [-float(scores[at - 1, ids[at]]) for at in range(1, len(ids))]
    assert loss.nats == pytest.approx(expected, rel=1e-4)


def test_a_model_that_moves_is_no_evaluator() -> None:
    with pytest.raises(ReviserError, match="moves as it writes"):
        AutoregressiveEvaluator.of_checkpoint("reviser", toy_checkpoint())


class TableDenoiser:
    """Exact conditionals of a distribution over triples of three letters."""

    mask_id = MASK
    device = torch.device("cpu")

    def __init__(self) -> None:
        self.exact = ExactTable()

    def log_likelihoods(self, ids: Tensor, where: Tensor, tokens: Tensor) -> Tensor:
        return self.exact.conditionals(ids)[where].log().gather(1, tokens[:, None]).squeeze(1)


def read_letters(text: PromptedText) -> EvaluatedText:
    ids = [ord(letter) - ord("a") for letter in text.prompt + text.continuation]
    return EvaluatedText(ids, len(text.prompt))


def test_the_bound_of_an_exact_denoiser_is_the_exact_likelihood() -> None:
    denoiser = TableDenoiser()
    evaluator = DenoisingEvaluator("table", read_letters, denoiser, draws=3000)
    table = denoiser.exact.table
    for letters in itertools.islice(itertools.product("abc", repeat=3), 0, None, 5):
        whole = PromptedText("", "".join(letters))
        ids = tuple(read_letters(whole).ids)
        (loss,) = evaluator.losses([whole])
        # The sizes of masks are spread evenly over the draws; what varies is the choice of places.
        assert loss.total == pytest.approx(-math.log(table[ids]), abs=0.1)
        (given,) = evaluator.losses([PromptedText(whole.continuation[0], whole.continuation[1:])])
        conditional = table[ids] / table[ids[0]].sum()
        assert given.total == pytest.approx(-math.log(conditional), abs=0.1)


def test_a_text_always_gets_the_same_bound() -> None:
    evaluator = DenoisingEvaluator("table", read_letters, TableDenoiser(), draws=4)
    texts = [PromptedText("a", "bc"), PromptedText("", "cab")]
    assert evaluator.losses(texts) == evaluator.losses(texts[::-1])[::-1]


def test_texts_that_are_read_together_do_not_change_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = DenoisingEvaluator("table", read_letters, TableDenoiser(), draws=6)
    texts = [
        PromptedText("a", "bc"),
        PromptedText("", "cab"),
        PromptedText("abc", ""),
        PromptedText("ab", "b"),
        PromptedText("b", "aa"),
    ]
    alone = [evaluator.losses([text])[0] for text in texts]
    assert alone[2].nats == ()
    for places in (2, 20, 100):
        monkeypatch.setitem(evaluators._PLACES, "cpu", places)
        for one, other in zip(evaluator.losses(texts), alone, strict=True):
            assert one.nats == pytest.approx(other.nats)
            assert one.size == other.size


def test_what_does_not_fit_into_a_denoisers_context_is_left_out() -> None:
    whole = EvaluatedText([0, 1, 2, 0, 1, 2, 0], 3)
    assert whole.cut(None) == whole.cut(9) == whole
    assert whole.cut(5) == EvaluatedText([2, 0, 1, 2, 0], 1)
    assert whole.cut(4) == EvaluatedText([2, 0, 1, 2], 1)
    assert EvaluatedText([0, 1, 2], 0).cut(2) == EvaluatedText([0, 1], 0)
    table = TableDenoiser()
    short = DenoisingEvaluator("table", read_letters, table, draws=6, context=3)
    (loss,) = short.losses([PromptedText("ab", "cacab")])
    assert len(loss.nats) == loss.size == 2


def test_dream_sees_what_follows_and_speaks_of_the_next_place(tmp_path: Path) -> None:
    evaluator = load_evaluator(str(tiny_models.dream(tmp_path)), torch.device("cpu"))
    assert evaluator.kind == "diffusion"
    denoiser = evaluator._denoiser  # type: ignore[attr-defined]
    assert denoiser.mask_id == tiny_models.SIZE
    ids = torch.arange(1, 9)[None]
    later = ids.clone()
    later[0, -1] = 100
    where = torch.zeros_like(ids, dtype=torch.bool)
    where[0, 3] = True
    tokens = torch.tensor([77])
    with torch.no_grad():
        score = denoiser.log_likelihoods(ids, where, tokens)
        assert not torch.allclose(score, denoiser.log_likelihoods(later, where, tokens))
    import transformers

    config = transformers.Qwen2Config.from_dict({**denoiser._model.config.to_dict(), "architectures": None})
    plain = transformers.Qwen2ForCausalLM(config).eval()
    plain.load_state_dict(denoiser._model.state_dict())
    mask = torch.zeros(1, 1, 8, 8)
    with torch.no_grad():
        expected = plain(input_ids=ids, attention_mask=mask).logits.log_softmax(-1)
    assert torch.allclose(score, expected[0, 2, tokens], atol=1e-5)
    found = summarise(evaluator, evaluator.losses(TEXTS))
    assert found.empty == 1
    assert found.bits_per_byte > 0


def test_a_name_that_leads_nowhere_is_an_error_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ReviserError, match="cannot be loaded"):
        load_evaluator(str(tmp_path / "nothing"), torch.device("cpu"))
