"""What a proofreader refuses to do to words, however sure its model is."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviser.core.errors import ReviserError
from reviser.core.files import STREAM
from reviser.proofreading.changes import Kind, kind_of
from reviser.proofreading.project.words import Words, project_file, user_file
from reviser.proofreading.vetoes import Guard, Proposal, is_far, names_in, needed
from reviser.prose import Format, paragraphs
from tests.reviser.proofreading.test_proofreader import proofread


def refused(text: str, old: str, new: str, words: Words | None = None) -> bool:
    """Whether a change stays undone of which the model is certain."""
    done = proofread(text, {old: (new, 0.999)}, words=words)
    assert done.text in (text, text.replace(old, new, 1))
    return done.text == text


def proposal(old: str, new: str, confidence: float = 0.6) -> Proposal:
    return Proposal(0, len(old), old, new, confidence, kind_of(old, new))


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("It was in 1985 that it rained.", "1985", "1986"),
        ("If you do not want it, say so.", "do not", "don't"),
        ("Users can’t change their names.", "can’t", "cannot"),
        ("They won't come back here.", "won't", "will not"),
        ("It costs 1,000 a year, or so.", "1,000", "1000"),
        ("We met at 10:30 in the hall.", "10:30", "10.30"),
        ("There were 2 000 people there.", "2 000", "2000"),
        ("About 5% of it is left over.", "5%", "5"),
        ("It rained in the year before.", "year", "year 1985"),
        ("We use utf8 for the files here.", "utf8", "UTF-8"),
        ("See https://exampel.org for the rest.", "exampel", "example"),
        ("Write to jonh@mail.org for more.", "jonh", "john"),
        ("Call recieve_all and wait for it.", "recieve_all", "receive_all"),
        ("Call recieveAll and wait for it.", "recieveAll", "receiveAll"),
        ("Look in src/recieve/main for it.", "recieve", "receive"),
        ("Open recieve.py and look for it.", "recieve", "receive"),
        ("Use the option --recieve for it.", "recieve", "receive"),
        ("The NASA has a rocket for that.", "NASA", "Nasa"),
        ("It is a very old house here.", "very", "very very"),
        ("It is an old house.", " house.", " house. It has a green roof and a door."),
        ("It is, as it were and was once, an old house.", "as it were and was once", "so"),
    ],
)
def test_these_are_never_changed(text: str, old: str, new: str) -> None:
    assert refused(text, old, new)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("It was in 1985 that we left.", "1985 that", "1985, that"),
        ("The NASA have a rocket.", "NASA have", "NASA has"),
        ("See https://example.org for teh rest.", "teh", "the"),
        ("Nobody has 2 dog or more.", "2 dog", "2 dogs"),
        ("IT WAS TEH END OF IT.", "TEH", "THE"),
        ("They dont come back here.", "dont", "don't"),
        ("She don't come back here.", "don't", "doesn't"),
    ],
)
def test_what_is_beside_them_is(text: str, old: str, new: str) -> None:
    assert not refused(text, old, new)


def test_listed_words_stay() -> None:
    words = Words(["Kubernets", "frobnicate", "would of", "GitHub", "co-operate"])
    assert refused("We run Kubernets here.", "Kubernets", "Kubernetes", words)
    assert refused("Frobnicate the file.", "Frobnicate", "Fabricate", words)
    assert refused("They would of gone.", "would of", "would have", words)
    assert refused("They would of gone.", "of", "have", words)
    assert refused("We co-operate here.", "co-operate", "cooperate", words)
    assert refused("It is Kubernets’s fault.", "Kubernets’s", "Kubernetes’s", words)
    # A term with capitals is a spelling of its own: what becomes that is not held back.
    assert not refused("We use Github here.", "Github", "GitHub", words)
    assert not refused("Most of them left.", "of", "off", words)
    assert not refused("We run teh Kubernets here.", "teh", "the", words)


def test_names_that_come_again_stay() -> None:
    text = "We met Jonh at noon. Later Jonh left, and Mary met Thier aunt. Thier aunt saw her."
    assert refused(text, "Jonh left", "John left")
    assert not refused(text, "Mary", "Marie")
    found = names_in(paragraphs(text, Format.PLAIN))
    assert "Jonh" in found
    assert "Mary" not in found
    # A word that is found in small letters too is no name; headings say nothing.
    plain = (
        "# The Grate Wall\n\nThe grate is old. I like Grate. Grate is nice. It is, Becuse. Becuse."
    )
    assert names_in(paragraphs(plain, Format.MARKDOWN)) == frozenset({"Becuse"})


def test_other_words_need_more_confidence() -> None:
    far = [
        ("exapmles", "explanations"),
        ("disking", "disease"),
        ("house", "car"),
        ("nite", "night"),
    ]
    near = [("becuse", "because"), ("teh", "the"), ("definately", "definitely"), ("i", "I")]
    alike = [("in", "at"), ("goes", "went"), ("a", "the"), ("their", "there"), ("better", "best")]
    assert all(is_far(proposal(*pair)) for pair in far)
    assert not any(is_far(proposal(*pair)) for pair in near + alike)
    assert not is_far(proposal("", "the"))
    assert needed(proposal("house", "car"), 0.5) == pytest.approx(0.8)
    assert needed(proposal("house", "hosue"), 0.5) == 0.5
    assert needed(proposal("house", "car"), 1.0) == 1.0
    text = "Here are some exapmles of it."
    for confidence, changed in ((0.7, False), (0.85, True)):
        done = proofread(text, {"exapmles": ("explanations", confidence)})
        assert (done.text != text) is changed


def test_kinds_that_are_not_wanted_are_left() -> None:
    (paragraph,) = paragraphs("I recieve it.", Format.PLAIN)
    change = Proposal(2, 9, "recieve", "receive", 0.9, Kind.SPELLING)
    assert Guard(0.5).objection(change, paragraph) is None
    assert Guard(0.5, {Kind.ARTICLE}).objection(change, paragraph) == "its kind is not wanted"
    assert Guard(0.95).objection(change, paragraph) == "it is not sure enough"


def test_lists_of_words_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    (project / ".reviser").mkdir(parents=True)
    (project / "docs" / "old").mkdir(parents=True)
    words = project / ".reviser" / "words.txt"
    words.write_text("# names\nJonh\n\n  Frodo Beutlin  \n")
    assert project_file(project / "docs" / "old" / "a.md") == words
    assert project_file(tmp_path / "a.md") is None
    monkeypatch.chdir(project / "docs")
    assert project_file(STREAM) == words
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    assert user_file() == tmp_path / "home" / "words.txt"
    found = Words.read(words) | Words(["Sauron"])
    assert [*found.spans("Jonh saw Frodo\nBeutlin and Sauron.")] == [(0, 4), (9, 22), (27, 33)]
    assert not Words(["", "  ", "?"])
    with pytest.raises(ReviserError, match="no file"):
        Words.read(tmp_path / "none.txt")
    with pytest.raises(ReviserError, match="standard input"):
        Words.read(STREAM)
