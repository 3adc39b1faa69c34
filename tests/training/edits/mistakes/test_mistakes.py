"""Made-up mistakes: every kind is made, as people make it, and every passage can be put right again."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from reviser.cli.options import run_one_of, run_with
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer, decode
from reviser.core.vocabulary import Vocabulary
from tests.training.edits.test_edit_samples import overtyped
from training.data.corpus import Corpus
from training.data.randomness import KeyedRandom
from training.data.shards import run as run_make_data
from training.edits.edit_samples import Revisions
from training.edits.mistakes.command import COMMANDS
from training.edits.mistakes.generator import MistakeTable
from training.edits.mistakes.kinds import MistakeKind, Recipe
from training.edits.mistakes.source import BlendedEdits, MadeUpMistakes
from training.edits.mistakes.spelling import WAYS, misspelt
from training.edits.mistakes.table import Lexicon, load_table, make_table, save_table
from training.samples.mixture import Mixture

make_data = partial(run_with, run_make_data)
main = partial(run_one_of, COMMANDS)

PROSE = (
    "The boats were coming home when she saw that the light was on. It's a long way to the harbour, and nobody knows "
    "whether an old man, who doesn't speak, has the key. He would have told them about the well-known house, but they "
    "did not listen to his advice. Each other day she walked into the village. Because of the weather, the children "
    "were quickly tired; they wanted to go home. In London I met a friend of mine. She is better than me at cooking. "
    "There are a lot of people at the station. We arrived late because the train was slow. They're looking for their "
    "keys. The information was very useful. "
)
LEARNED = frozenset({"insert", "move", "stop", "delete"})


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    texts = folder / "texts.jsonl"
    # Words must be common to be in the table, and some much more common than others.
    rows = [json.dumps({"text": PROSE * 3}) for _ in range(40)]
    texts.write_text("\n".join(rows) + "\n")
    assert make_data([str(folder / "shards"), str(texts), "--tokenizer", "gpt2", "--workers", "1"]) == 0
    return folder / "shards"


@pytest.fixture(scope="module")
def table(shards: Path) -> MistakeTable:
    return make_table(Corpus.open(shards), Gpt2Tokenizer())


def vocabulary(shards: Path) -> Vocabulary:
    return dataclasses.replace(Corpus.open(shards).vocabulary(), kinds=LEARNED)


def source(shards: Path, table: MistakeTable, overtype: float = 0.0, **recipe: object) -> MadeUpMistakes:
    chosen = Recipe(**recipe)  # type: ignore[arg-type]
    corpus, mixture = Corpus.open(shards), Mixture(max_history=384, overtype=overtype)
    return MadeUpMistakes(corpus, table, vocabulary(shards), mixture, chosen, 3)


def single(shards: Path, table: MistakeTable, kind: MistakeKind, count: int = 60) -> set[tuple[str, str]]:
    """Passages with one mistake of a kind: before and after."""
    made = source(shards, table, shares={kind.name.lower(): 1.0}, clean=0.0, rates=(0.0,), left=0.0, right=0.0)
    tokenizer = Gpt2Tokenizer()
    return {
        (decode(tokenizer, before), decode(tokenizer, after)) for _, before, after, _ in made.parts(0, count) if before
    }


@pytest.mark.parametrize("kind", [kind for kind in MistakeKind if kind is not MistakeKind.SPLIT])
def test_every_kind_is_made_alone(shards: Path, table: MistakeTable, kind: MistakeKind) -> None:
    found = single(shards, table, kind)
    assert found
    assert all(before != after for before, after in found)


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (MistakeKind.ARTICLE_DROP, "saw that the light", "saw that light"),
        (MistakeKind.CONFUSED, "better than me", "better then me"),
        (MistakeKind.APOSTROPHE, "It's a long way", "Its a long way"),
        (MistakeKind.HYPHEN, "well-known", "well known"),
        (MistakeKind.PHRASE, "would have told", "would of told"),
        (MistakeKind.PHRASE, "a lot of", "alot of"),
        (MistakeKind.NOUN, "The information", "The informations"),
        (MistakeKind.VERB, "They're looking", "They're looks"),
        (MistakeKind.WORD_FORM, "better than me", "best than me"),
        (MistakeKind.CASE, "In London I", "In london I"),
        (MistakeKind.CASE, "In London I", "In London i"),
        (MistakeKind.END_DROP, "very useful.", "very useful"),
        (MistakeKind.COMMA_DROP, "old man, who", "old man who"),
        (MistakeKind.PREPOSITION_DROP, "listen to his", "listen his"),
    ],
)
def test_known_mistakes_come_up(shards: Path, table: MistakeTable, kind: MistakeKind, right: str, wrong: str) -> None:
    found = single(shards, table, kind, count=800)
    assert any(wrong in before and right in after for before, after in found)


def test_a_run_on_joins_two_sentences(shards: Path, table: MistakeTable) -> None:
    for before, after in single(shards, table, MistakeKind.RUN_ON):
        assert before.count(".") == after.count(".") - 1


def test_tokens_are_those_of_the_text(shards: Path, table: MistakeTable) -> None:
    tokenizer = Gpt2Tokenizer()
    for left, before, after, _ in source(shards, table, left=0.0).parts(0, 300):
        assert not left
        for tokens in (before, after):
            assert tokenizer.encode(decode(tokenizer, tokens)) == tokens


def test_actions_put_the_passage_right(shards: Path, table: MistakeTable) -> None:
    made, words = source(shards, table), vocabulary(shards)
    histories = made.histories(0, 0, 200)
    for number, (left, before, after, right) in enumerate(made.parts(0, 200)):
        ids = histories.ids[number, : histories.lengths[number]].tolist()
        counted = histories.counted[number, : histories.lengths[number]]
        actions = [id for id, counts in zip(ids, counted, strict=True) if counts]
        assert actions[-1] == words.stop_id
        canvas = Canvas(words, [*left, *before, *right], prefix=len(left), suffix=len(right))
        for id in actions:
            action = canvas.action(id)
            # One order: from the end backward.
            assert action.kind != "move" or action.delta < 0  # type: ignore[attr-defined]
            canvas.apply(action)
        assert canvas.tokens == [*left, *after, *right]


def test_a_passage_is_overtyped_with_what_is_right(shards: Path, table: MistakeTable) -> None:
    made, words = source(shards, table, overtype=1.0), vocabulary(shards)
    histories = made.histories(0, 0, 200)
    for number, (_, before, after, _) in enumerate(made.parts(0, 200)):
        ids = histories.ids[number, : histories.lengths[number]].tolist()
        draft, text, rest = overtyped(words, ids)
        assert (draft, text, rest) == (before, after, [])
        assert histories.counted[number].argmax() == ids.index(words.overtype_id) + 1


def test_samples_are_the_same_however_they_are_asked_for(shards: Path, table: MistakeTable) -> None:
    whole = source(shards, table).histories(0, 0, 60)
    halves = [source(shards, table).histories(0, first, first + 30) for first in (0, 30)]
    assert np.array_equal(whole.ids, np.concatenate([half.ids for half in halves]))
    later = source(shards, table).histories(0, 0, 30, start=30)
    assert np.array_equal(later.ids, halves[1].ids)


def test_as_many_are_clean_as_the_recipe_says(shards: Path, table: MistakeTable) -> None:
    clean = sum(before == after for _, before, after, _ in source(shards, table).parts(0, 1000))
    assert 0.2 < clean / 1000 < 0.34


def test_shares_are_kept(shards: Path, table: MistakeTable) -> None:
    made = source(shards, table, shares={"spelling": 3.0, "verb": 1.0})
    made.histories(0, 0, 600)
    counts = Counter({name: count for name, count in made.counts.items() if count})
    assert set(counts) == {"spelling", "verb"}
    assert 2 < counts["spelling"] / counts["verb"] < 4.5


def test_a_table_survives_being_saved(table: MistakeTable, tmp_path: Path) -> None:
    save_table(tmp_path / "table.npz", table)
    again = load_table(tmp_path / "table.npz")
    for name, part in table._asdict().items():
        assert np.array_equal(part, getattr(again, name)), name
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(ReviserError, match="is not a table of mistakes"):
        load_table(tmp_path / "bad.npz")


def test_misspellings_stay_near_the_word() -> None:
    found = {misspelt("receive", KeyedRandom(seed)) for seed in range(300)}
    assert {"recieve", "receve", "recceive"} <= found
    assert all(SequenceMatcher(None, "receive", wrong).ratio() > 0.7 for wrong in found)
    for _, way in WAYS:
        assert way("necessary", KeyedRandom(1)).isalpha()


def test_words_of_the_corpus_are_no_misspellings() -> None:
    lexicon = Lexicon(Counter({"form": 100, "from": 100}))
    wrong = [other for kind, _, other in lexicon.alternatives("from") if kind is MistakeKind.SPELLING]
    assert wrong
    assert "form" not in wrong


@pytest.mark.parametrize(
    ("recipe", "about"),
    [
        ({"shares": {"haste": 1.0}}, "no kind of mistake called haste"),
        ({"shares": {"verb": 0.0}}, "not all 0"),
        ({"clean": 2}, "share from 0 to 1"),
        ({"sentences": []}, "not all 0"),
        ({"speed": 1}, "does not hold a recipe"),
    ],
)
def test_a_wrong_recipe_is_refused(tmp_path: Path, recipe: dict[str, object], about: str) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(recipe))
    with pytest.raises(ReviserError, match=about):
        Recipe.load(path)


def test_real_edits_are_blended_in(shards: Path, table: MistakeTable, tmp_path: Path) -> None:
    edits = tmp_path / "edits.jsonl"
    edits.write_text(json.dumps({"before": "One tow three.", "after": "One two three."}) + "\n")
    folder = str(tmp_path / "edits")
    assert make_data([folder, str(edits), "--edits", "--tokenizer", "gpt2", "--workers", "1"]) == 0
    mixture = Mixture(max_history=384, unchanged=0.0)
    real = Revisions(Corpus.open(Path(folder)), vocabulary(shards), mixture)
    blended = BlendedEdits(source(shards, table), real, 0.25)
    whole = blended.histories(0, 0, 40)
    lengths = real.histories(0, 0, 1).lengths[0]
    assert sum(int(length) == lengths for length in whole.lengths) >= 10
    parts = [blended.histories(0, first, first + 10) for first in range(0, 40, 10)]
    assert np.array_equal(whole.ids, np.concatenate([part.ids for part in parts]))


def test_the_command(shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = [str(tmp_path / "table.npz"), "--data", str(shards), "--tokenizer", "gpt2"]
    assert main(["table", *named]) == 0
    assert main(["make", *named, "--count", "5", "--single"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()[1:]]
    assert len(rows) == 5
    assert all(row["before"] != row["after"] and row["kind"] for row in rows)
    assert main(["make", str(tmp_path / "none.npz"), *named[1:]]) == 2
    assert capsys.readouterr().err.startswith("reviser: ")
