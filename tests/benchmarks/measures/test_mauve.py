from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.measures.mauve_score import BertLikelihoods, load_features, mauve_each, mauve_of_features, truncated
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from tests.benchmarks import tiny_models

CPU = torch.device("cpu")


def by_formula(p: np.ndarray, q: np.ndarray, scale: float = 5.0, points: int = 25) -> float:
    """The area under the divergence frontier of two distributions over the same clusters."""

    def divergence(one: np.ndarray, other: np.ndarray) -> float:
        kept = one > 0
        return float((one[kept] * np.log(one[kept] / other[kept])).sum())

    curve = [(0.0, 1.0), (1.0, 0.0)]
    for weight in np.linspace(1e-6, 1 - 1e-6, points):
        between = weight * p + (1 - weight) * q
        curve.append((np.exp(-scale * divergence(q, between)), np.exp(-scale * divergence(p, between))))
    by_x, by_y = np.array(sorted(curve)), np.array(sorted(curve, key=lambda point: point[1]))
    area = np.trapezoid(by_x[:, 1], by_x[:, 0]) + np.trapezoid(by_y[:, 0], by_y[:, 1])
    return float(area / 2)


def clusters(counts: list[int], seed: int) -> np.ndarray:
    """Vectors close to so many unit vectors, so that every clustering finds the same clusters."""
    noise = np.random.default_rng(seed)
    rows = [np.eye(len(counts))[kind] for kind, count in enumerate(counts) for _ in range(count)]
    return (np.array(rows) + 1e-3 * noise.standard_normal((len(rows), len(counts)))).astype(np.float32)


def test_is_the_area_under_the_divergence_frontier() -> None:
    # Forty texts make four clusters.
    one, other = [10, 10, 10, 10], [25, 5, 5, 5]
    found = mauve_of_features(clusters(one, 0), clusters(other, 1), "known")
    expected = by_formula(np.array(one) / 40, np.array(other) / 40)
    assert found.clusters == 4
    assert found.score == pytest.approx(expected, abs=1e-6)
    assert found.spread == pytest.approx(0, abs=1e-6)
    assert 0.2 < found.score < 0.9


def test_the_same_texts_score_one_and_foreign_ones_next_to_nothing() -> None:
    texts = clusters([20, 20, 0, 0], 0)
    assert mauve_of_features(texts, texts, "same").score == pytest.approx(1, abs=1e-3)
    assert mauve_of_features(texts, clusters([0, 0, 20, 20], 1), "foreign").score < 0.05


def test_clustering_few_texts_is_not_warned_of_and_other_words_come_through(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mauve import compute_mauve

    texts = clusters([20, 20], 0)
    compute_mauve(texts, texts, seed=25, verbose=False)
    assert "WARNING clustering" in capfd.readouterr().err  # what there is to leave out

    def talking(*arguments: object, **options: object) -> object:
        os.write(2, b"something else\n")
        return compute_mauve(*arguments, **options)

    monkeypatch.setattr("benchmarks.measures.mauve_score._measure", lambda: talking)
    mauve_of_features(texts, texts, "few", [25, 26])
    assert capfd.readouterr().err == "something else\nsomething else\n"


def test_needs_several_texts() -> None:
    with pytest.raises(ReviserError, match="several texts"):
        mauve_of_features(clusters([1], 0), clusters([5], 0), "few")


def test_cuts_texts_at_gpt2_tokens(gpt2: Gpt2Tokenizer) -> None:
    long = "word " * 300
    (cut,) = truncated([long, ""])
    assert len(gpt2.encode(cut)) == 100
    assert long.startswith(cut)


def test_bert_likelihoods_mask_one_token_at_a_time(tmp_path: Path) -> None:
    features = BertLikelihoods(str(tiny_models.bert(tmp_path)), CPU)
    text = "abc. def"
    import transformers

    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    ids = tokenizer(text)["input_ids"]
    found = features.likelihoods(text)
    assert len(found) == len(ids) - 2
    for place in range(1, len(ids) - 1):
        masked = torch.tensor([ids])
        masked[0, place] = tokenizer.mask_token_id
        with torch.no_grad():
            scores = model(masked).logits[0, place].log_softmax(-1)
        assert found[place - 1] == pytest.approx(float(scores[ids[place]]), abs=1e-5)
    rows = features([text, "a"])
    assert rows.shape == (2, 32)
    assert (np.diff(rows[0]) >= 0).all()


def test_last_states_are_those_after_the_last_token(tmp_path: Path) -> None:
    features = load_features(f"gpt2:{tiny_models.gpt2(tmp_path)}", CPU)
    import transformers

    model = transformers.AutoModel.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    texts = ["the all", "in the hall there is a thing", "a"]
    for row, text in zip(features(texts), texts, strict=True):
        with torch.no_grad():
            state = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, -1]
        assert np.allclose(row, state.numpy(), atol=1e-4)


def test_sentence_embeddings_leave_padding_out(tmp_path: Path) -> None:
    features = load_features(f"minilm:{tiny_models.bert(tmp_path)}", CPU)
    short, long = "ab cd", "abcdefg. hijklm, nopq"
    assert np.allclose(features([short, long])[0], features([short])[0], atol=1e-5)


def test_measures_several_groups_against_the_same_references(tmp_path: Path) -> None:
    source = f"minilm:{tiny_models.bert(tmp_path)}"
    letters = np.random.default_rng(0)
    references = ["".join(letters.choice(list("abcdef "), 20)) for _ in range(40)]
    others = ["zzz zz z"] * 40
    found = mauve_each(references, {"same": references, "other": others}, source, device=CPU)
    assert found["same"].score > 0.95 > found["other"].score


def test_features_have_names() -> None:
    with pytest.raises(ReviserError, match="choose bert, gpt2 or minilm"):
        load_features("word2vec", CPU)
