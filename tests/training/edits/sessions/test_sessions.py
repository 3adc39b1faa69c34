"""Sessions: read, found in a history, made up, and turned into samples."""

import json
import subprocess
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from reviser.cli.options import run_one_of
from reviser.core.edits import Edit, apply_edits
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.decoding.policy import ModelPolicy
from reviser.next_edits.prompt import recent_edit
from reviser.next_edits.reading import NextEditReader
from reviser.next_edits.windows import windows
from reviser.session.engine import load_engine
from training.data.randomness import KeyedRandom
from training.edits.sessions.command import COMMANDS
from training.edits.sessions.history import sessions_of, word_edits
from training.edits.sessions.made_up import SessionKind, ShapeLexicon, _term, made_up_session
from training.edits.sessions.samples import next_edit_sample, sample_of
from training.edits.sessions.session import EditSession, read_sessions, session_state
from training.edits.sessions.shards import StoredNextEdits, next_edit_vocabulary, reversed_session
from training.samples.mixture import Mixture

main = partial(run_one_of, COMMANDS)

TEXT = "\n\n".join(
    f"The user opens page {number}. "
    "A user writes e-mail for example to the other users, and the user waits very long.\n"
    f"- The first item of the list\n- Another Server item\n\n# The Heading Of Part {number}"
    for number in range(8)
)


def git(folder: Path, *words: str) -> None:
    names = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *names, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    page = folder / "page.md"
    for text in (
        "# Title\n\nThe user sends an e-mail.\nOne e-mail is sent.\n\n```\nuser e-mail\n```\n",
        "# Title\n\nThe user sends an email.\nOne email is sent.\n\n```\nuser email\n```\n",
        "# Title\n\nThe user sends an email.\nOne email is sent.\nA new line.\n\n```\nuser email\n```\n",
    ):
        page.write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "change")
    return folder


def applied(session: EditSession) -> str:
    parts, done = [], 0
    for edit in session.edits:
        parts += [session.text[done : edit.start], edit.new]
        done = edit.end
    return "".join([*parts, session.text[done:]])


def test_a_history_gives_the_edits_of_prose(repository: Path) -> None:
    (session,) = sessions_of(repository)
    assert [(edit.old, edit.new) for edit in session.edits] == [("e-mail", "email")] * 2
    assert "One email is sent.\n\n```\nuser e-mail" in applied(session)


def test_sessions_are_read_as_they_were_written(repository: Path, tmp_path: Path) -> None:
    out = tmp_path / "sessions.jsonl"
    assert main(["find", str(repository), "--out", str(out)]) == 0
    assert list(read_sessions(out)) == list(sessions_of(repository))


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"text": "a"}', '{"text": "a", "edits": [[0, 0, 9, "b"]]}', '{"text": 1}']
)
def test_what_is_no_session_is_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(ReviserError, match="not a session"):
        list(read_sessions(file))


def test_a_folder_without_a_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReviserError, match="git cannot read"):
        list(sessions_of(tmp_path))


def test_a_commit_gives_so_many_sessions_and_edits_so_many_at_least(repository: Path) -> None:
    other = repository / "other.md"
    for text in ("Send an e-mail.\nAn e-mail is short.\n", "Send an email.\nAn email is short.\n"):
        other.write_text(text)
        (repository / "third.md").write_text(text + "More.\n")
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "change")
    assert len(list(sessions_of(repository))) == 3
    assert len(list(sessions_of(repository, of_each=1))) == 2
    assert list(sessions_of(repository, least=3)) == []


def test_an_article_follows_the_word_that_is_put_behind_it() -> None:
    passage = " ".join(["The reader asks a reader, and every other reader has an answer."] * 3)
    lexicon = ShapeLexicon(["operator"], ["Operator"])
    with_article = 0
    for seed in range(60):
        edits = _term(passage, lexicon, KeyedRandom(seed))
        if any(edit.old == "reader" and edit.new == "operator" for edit in edits):
            with_article += Edit(16, "a", "an") in edits
            assert "a operator" not in apply_edits(passage, edits)
    assert with_article


def test_lines_written_anew_are_no_edits() -> None:
    assert word_edits("The cat sat on the mat.", "A wholly different thing happened") is None
    assert word_edits("See the e-mail.", "See the email.") == [Edit(8, "e-mail", "email")]


def test_made_up_sessions_are_of_all_kinds_and_can_be_taken_back() -> None:
    lexicon = ShapeLexicon(["customer", "window"], ["Berlin", "Machine"])
    kinds: Counter[SessionKind] = Counter()
    for number in range(600):
        made = made_up_session(TEXT, lexicon, KeyedRandom(number))
        if made is None:
            continue
        kinds[made.kind] += 1
        session = made.session
        assert all(session.text[edit.start : edit.end] == edit.old for edit in session.edits)
        assert all(edit.old != edit.new for edit in session.edits)
        back = reversed_session(session)
        assert back.text == applied(session)
        assert applied(back) == session.text
    assert set(kinds) == set(SessionKind)


def test_a_sample_shows_edits_and_makes_those_of_its_window() -> None:
    tokenizer = Gpt2Tokenizer()
    vocabulary = next_edit_vocabulary(tokenizer)
    found = TEXT.index("e-mail"), TEXT.rindex("e-mail")
    session = EditSession(TEXT, tuple(Edit(at, "e-mail", "email") for at in found))
    left = 0
    for number in range(60):
        sample = next_edit_sample(session, tokenizer, vocabulary, KeyedRandom(number), 1024)
        assert sample is not None
        assert sample.ids[-1] == vocabulary.stop_id
        assert sample.ids[sample.given - 1] == vocabulary.overtype_id
        marker = len(sample.ids) - 1 - sample.ids[::-1].index(vocabulary.draft_id)
        draft = sample.ids[marker + 1 : sample.given - 1]
        written = [id for id in sample.ids[sample.given : -1] if id != vocabulary.delete_id]
        deleted = sample.ids[sample.given :].count(vocabulary.delete_id)
        texts = [b"".join(map(tokenizer.token_bytes, ids)).decode(errors="replace") for ids in (draft, written)]
        assert (texts[0] != texts[1]) == (sample.left > 0) == (deleted > 0)
        left += sample.left > 0
    assert 5 < left < 40


def test_half_of_the_windows_and_more_have_nothing_left_where_an_edit_could_be_repeated() -> None:
    tokenizer = Gpt2Tokenizer()
    vocabulary = next_edit_vocabulary(tokenizer)
    places = [at for at in range(len(TEXT)) if TEXT.startswith("user ", at)]
    session = EditSession(TEXT, tuple(Edit(at, "user", "customer") for at in places[:2]))
    samples = [next_edit_sample(session, tokenizer, vocabulary, KeyedRandom(number), 1024) for number in range(80)]
    left = [sample for sample in samples if sample and not sample.left]
    user = tokenizer.encode(" user")[0]
    at_places = [sample for sample in left if user in sample.ids[sample.given :]]
    assert len(left) > len(samples) / 2
    assert len(at_places) > len(left) / 2


def test_training_and_reading_have_the_same_prompt() -> None:
    engine = load_engine()
    assert isinstance(engine.policy, ModelPolicy)
    learned = replace(engine.policy.vocabulary, next_edits=True)
    policy = ModelPolicy(engine.policy.decoder, learned)
    reader = NextEditReader(policy, engine.tokenizer)
    places = [at for at in range(len(TEXT)) if TEXT.startswith("e-mail", at)]
    session = EditSession(TEXT, tuple(Edit(at, "e-mail", "email") for at in places))
    for made in ([0], [0, 1, 2], [4, 1, 3]):
        state = session_state(session, made)
        change = state.to_come[-1]
        window = next(one for one in windows(state.text) if one[0] <= change.start < one[1])
        sample = sample_of(state, state.made, window, engine.tokenizer, learned, 2000)
        assert sample is not None
        assert sample.left > 0
        shown = [recent_edit(state.text, edit) for edit in state.made]
        ((judged, odds),) = reader.odds(state.text, shown, [change])
        assert judged == change
        assert -100 < odds < 100
        assert list(reader.seen[: sample.given]) == sample.ids[: sample.given]
        before = reader.read
        assert list(reader.odds(state.text, shown, [change])) == [(change, odds)]
        assert reader.read - before < sample.given / 2
        proposed = [*reader.proposed(state.text, shown, [(edit.start, edit.start + 5) for edit in state.made])]
        assert all(state.text[one.change.start : one.change.end] == one.change.old for one in proposed)


def test_shards_are_the_same_for_a_seed_and_come_back_as_histories(tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": TEXT}) + "\n" for _ in range(2)))
    options = ["--tokenizer", "gpt2", "--texts", str(texts), "--made-up", "30", "--workers", "1"]
    for name in ("one", "two"):
        assert main(["make", str(tmp_path / name), *options, "--seed", "4"]) == 0
    one, two = (np.load(tmp_path / name / "next-edits-000.npz") for name in ("one", "two"))
    assert (one["ids"] == two["ids"]).all()
    about = json.loads((tmp_path / "one" / "next_edits.json").read_text())
    assert sum(about["samples"].values()) == len(one["lengths"])
    source = StoredNextEdits(tmp_path / "one", 7, Mixture(max_history=1024), seed=1)
    histories = source.histories(0, 0, len(source))
    assert sorted(histories.lengths.tolist()) == sorted(one["lengths"].tolist())
    assert (histories.counted.sum(axis=1) < histories.lengths).all()


def test_samples_need_something_to_be_made_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["make", str(tmp_path / "out"), "--tokenizer", "gpt2"]) == 2
    assert "--sessions or --texts" in capsys.readouterr().err
