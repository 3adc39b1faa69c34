"""What follows a person's edits: candidates, their judgement, the guard, and refusals."""

import json
from pathlib import Path

import pytest

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.next_edits.evidence import EditSort, sort_of
from reviser.next_edits.following import EditedDocument, EditFollower, RefusedEdit, candidates, follower
from reviser.next_edits.guard import NextEditGuard
from reviser.next_edits.history import meant_edits
from reviser.next_edits.judgement import MODEL, NextEditJudgement, judgement_for, judgements_text, read_judgements
from reviser.next_edits.prompt import recent_edit
from reviser.next_edits.reading import NextEditReader
from reviser.proofreading.spelling.dictionary import dictionary
from reviser.prose import Format
from reviser.session.engine import load_engine

OLD = """# E-mail

You get an e-mail. Each e-mail has a subject, and `e-mail` is code.

See <https://example.org/e-mail> and the [E-mail page](e-mail.md).

```
e-mail
```
"""
NEW = OLD.replace("an e-mail", "an email", 1)
EVEN = NextEditJudgement({}, 0.0, 0.5)
"""Finds all candidates equally likely."""


def edited(old: str, new: str, format: Format = Format.MARKDOWN, **more: object) -> EditedDocument:
    return EditedDocument(new, format, meant_edits(old, new), **more)  # type: ignore[arg-type]


def test_repeats_are_suggested_in_prose_alone() -> None:
    document = edited(OLD, NEW)
    found = EditFollower(EVEN).suggestions(document)
    assert [(one.old, one.new) for one in found] == [("E-mail", "Email"), ("e-mail", "email"), ("E-mail", "Email")]
    assert {one.reason for one in found} == {"You changed 'e-mail' to 'email'"}
    lines = [NEW.count("\n", 0, one.start) + 1 for one in found]
    assert lines == [1, 3, 5]


def test_who_edits_an_address_may_edit_others_alike() -> None:
    old = "See [one](https://old.org/one) and [two](https://old.org/two).\n\n```\nhttps://old.org\n```\n"
    found = EditFollower(EVEN).suggestions(edited(old, old.replace("old", "new", 1)))
    assert [(one.start, one.new) for one in found] == [(old.index("old.org/two"), "new")]


def test_a_document_without_edits_has_no_suggestions() -> None:
    assert EditFollower(EVEN).suggestions(edited(OLD, OLD)) == []


def test_edits_of_other_documents_are_followed() -> None:
    (edit,) = meant_edits(OLD, NEW)
    other = EditedDocument("An e-mail.\n", Format.MARKDOWN, elsewhere=[recent_edit(NEW, edit)])
    assert [one.new for one in EditFollower(EVEN).suggestions(other)] == ["email"]


def test_marks_may_change_the_structure_as_the_person_did() -> None:
    old = "* First\n* Second\n\n```\n* code\n```\n"
    found = EditFollower(EVEN).suggestions(edited(old, old.replace("*", "-", 1)))
    assert [(one.start, one.old, one.new) for one in found] == [(old.index("* S"), "*", "-")]


def test_words_that_would_change_the_structure_are_left() -> None:
    guard = NextEditGuard("A word\nand more\n", Format.MARKDOWN)
    assert guard.safe([Edit(7, "and", "# or")]) == []
    assert guard.safe([Edit(7, "and", "or")]) == [Edit(7, "and", "or")]


def test_a_refused_suggestion_does_not_come_back_and_lowers_its_like() -> None:
    document = edited(OLD, NEW)
    first, *others = EditFollower(EVEN).judged(document)
    refused = EditedDocument(NEW, document.format, document.made, refused=[RefusedEdit.of(NEW, first.change)])
    left = EditFollower(EVEN).judged(refused)
    assert [one.change for one in left] == [one.change for one in others]
    same = first.change.old, first.change.new
    for one, before in zip(left, others, strict=True):
        alike = (one.change.old.casefold(), one.change.new.casefold()) == tuple(map(str.casefold, same))
        assert one.confidence < before.confidence if alike else one.confidence == before.confidence
    moved = "More text.\n\n" + NEW
    later = EditedDocument(moved, document.format, [edit.moved(12) for edit in document.made], refused=refused.refused)
    assert len(EditFollower(EVEN).judged(later)) == len(left)


def test_more_edits_alike_are_more_evidence() -> None:
    twice = NEW.replace("Each e-mail", "Each email")
    (one, *_), (two, *_) = (candidates(edited(OLD, new)) for new in (NEW, twice))
    assert "twice" not in one.features
    assert two.features["twice"] == 1


@pytest.mark.parametrize(
    ("old", "new", "sort"),
    [
        ("e-mail", "email", EditSort.JOINT),
        ("server", "Server", EditSort.CAPITALS),
        ("recieve", "receive", EditSort.SPELLING),
        ("users", "user", EditSort.FORM),
        ("user", "customer", EditSort.WORD),
        ("very ", "", EditSort.DROPPED),
        ("", "the ", EditSort.ADDED),
        ("", ",", EditSort.MARK),
        ("  ", " ", EditSort.SPACE),
        ("name", "`name`", EditSort.MARKUP),
        ("version 1", "version 2", EditSort.NUMBER),
        ("web page", "site", EditSort.PHRASE),
    ],
)
def test_edits_have_sorts(old: str, new: str, sort: EditSort) -> None:
    assert sort_of(old, new, dictionary().knows) is sort


def test_a_judgement_is_kept_in_a_file(tmp_path: Path) -> None:
    some = (NextEditJudgement({"twice": 1.5}, -1.0, 0.7), NextEditJudgement({MODEL: 1.0}, 0.5, 0.6, "abc"))
    file = tmp_path / "judgement.json"
    file.write_text(judgements_text(some))
    assert read_judgements(file) == some
    assert judgement_for("abc", file) == some[1]
    assert judgement_for("other", file) is None
    assert some[0].confidence_of({"twice": 1}) > some[0].confidence_of({"unheard of": 9})
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps([{"weights": {}}]))
    with pytest.raises(ReviserError, match="no judgement"):
        read_judgements(bad)


def test_a_model_that_has_not_learned_next_edits_is_refused() -> None:
    engine = load_engine()
    with pytest.raises(ReviserError, match="has not learned next edits"):
        follower(engine)
    with pytest.raises(ReviserError, match="has not learned next edits"):
        NextEditReader(engine.policy, engine.tokenizer)
