"""What a proofreader refuses to do to words, however sure its model is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.core.files import STREAM
from reviser.proofreading.changes import kind_of
from reviser.proofreading.guard.guard import _without_contradictions
from reviser.proofreading.guard.usage import usage_in
from reviser.proofreading.guard.vetoes import Vetoes, is_far, needed
from reviser.proofreading.project.words import Words, project_file, user_file
from reviser.proofreading.spelling.gathering import names_in
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Format, paragraphs
from tests.reviser.proofreading.test_proofreader import proofread


def refused(text: str, old: str, new: str, words: Words | None = None) -> bool:
    """Whether a change stays undone of which the model is certain."""
    done = proofread(text, {old: (new, 0.999)}, words=words)
    assert done.text in (text, text.replace(old, new, 1))
    return done.text == text


def proposal(old: str, new: str, confidence: float = 0.6) -> Suggestion:
    return Suggestion(Edit(0, old, new), kind_of(old, new), confidence)


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
        ("Best Regards,", "Regards", "Regarding"),
        ("Best Regards,", "Regards", "regards"),
        ("I will write again. Lots of Love, Anna", "Love", "love"),
        ("Looking forward to it, Best Regards Anna", "Regards", "regards"),
        ("I hope to see you, best regards", "regards", "regards."),
        ("Yours faithfully,", "faithfully", "faithful"),
        ("Changed: The value is five.", "Changed", "Change"),
        ("I will write again. Yours sincerely, Anna Berg", "Berg", "Berg."),
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


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ('For more, see "Home."', 'Home."', "Home."),
        ('For more, see "Home."', '"Home', "Home"),
        ("He left (early) again.", "(early", "early"),
        ("He left (early) again.", "again", "again)"),
        ("He said “no” to it.", "no” to", "no to"),
    ],
)
def test_no_quotation_and_no_bracket_is_left_open(text: str, old: str, new: str) -> None:
    assert refused(text, old, new)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ('He said "no to it.', "no", 'no"'),
        ("He left (early) again.", "early", "earlier"),
        ("He left (early again.", "early", "early)"),
        ("He left early) again.", "early)", "early"),
        ('He said "no" to it.', '"no"', "no"),
    ],
)
def test_what_is_open_may_be_closed(text: str, old: str, new: str) -> None:
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


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        # Both spellings are right.
        ("We like the colour of the house.", "colour", "color"),
        ("We like the color of the house.", "color", "colour"),
        ("They initialised it at the centre.", "initialised", "initialized"),
        ("They labelled all of it.", "labelled", "labeled"),
        ("It is read at run time.", "run time", "runtime"),
        ("It has two data sets.", "data sets", "datasets"),
        ("The dialogues were short.", "dialogues", "dialogs"),
        ("He walked towards the house.", "towards", "toward"),
        # It would mean something else.
        ("A server may send it.", "may", "can"),
        ("A server should send it.", "should", "must"),
        ("See that project for more.", "that", "this"),
        ("They do follow it.", "do follow", "do not follow"),
        ("They do not follow it.", "do not", "do"),
        ("The server has to take care of it.", "has ", ""),
        ("They had to leave it there.", "had ", ""),
        ("They see those which match the rule.", "which match", "which will not match"),
        ("They will not see it there.", "will not see", "see"),
        ("They said that not all came.", "not all", "all not"),
        # Series and examples have two styles.
        ("It has spaces, tabs and newlines in it.", "tabs", "tabs,"),
        ("It has spaces, tabs, and newlines in it.", "tabs,", "tabs"),
        ("It has spaces, tabs, newlines etc. in it.", "newlines", "newlines,"),
        ("Some of them (e.g. the first one) are new.", "e.g.", "e.g.,"),
        # A name.
        ("It went to the United Nations in May.", "Nations", "Nation"),
        ("It is in the Google Drive Services here.", "Services", "Service"),
        # What a paragraph leads on to.
        ("Dear Anna,", ",", "."),
        ("It is as follows:", ":", "."),
        ("It is merged, for example", "example", "example."),
        ("We use it here, because it helps.", "here,", "here."),
        # Dialect in speech, words that are both needed, halves of a word.
        ("“He didnae come,” she said.", "didnae", "didn't"),
        ("'I ken him,' she said.", "ken", "know"),
        ("That that is, is.", "that ", ""),
        ("We know what it is is good.", " is", ""),
        ("He lives with in the city.", "with ", ""),
        # A label is no sentence.
        ("Note: if it rains, they leave.", "if", "If"),
        ("Note: documents do not need it.", "documents", "The documents"),
        # No sentence with a subject.
        ("Uses the first one that is found.", "Uses", "Use"),
        ("Checking one of them:", "Checking", "Check"),
        ("Seeing more of it may help.", "Seeing", "See"),
    ],
)
def test_matters_of_style_are_the_author_s(text: str, old: str, new: str) -> None:
    assert refused(text, old, new)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("We like the coluor of it.", "coluor", "colour"),
        ("I was very surprized by it.", "surprized", "surprised"),
        ("They controled all of it.", "controled", "controlled"),
        ("It makes no sence to me.", "sence", "sense"),
        ("If I would have time I can go.", "can", "could"),
        ("See this projects for more.", "this", "these"),
        ("He met a Students there.", "Students", "Student"),
        ("It rained, We left it there.", "rained,", "rained."),
        ("It rained, we left, and so on,", "rained,", "rained:"),
        ("Use of it are free.", "are", "is"),
        ("Checking it are hard.", "are", "is"),
        ("Go there is hard.", "Go", "Going"),
        ("They dont never come.", "dont never", "don't ever"),
        ("I want to nto go there.", "nto", "not"),
        ("It is knot here yet.", "knot", "not"),
        ("It rained all day and we left.", "day", "day,"),
        ("When it rained all day they left.", "day", "day,"),
        ("I did saw him not there.", "did saw him not", "did not see him"),
        ("I will be not able to come.", "be not", "not be"),
        ("He has has to go home.", "has has", "has"),
        ("He has went home early.", "has ", ""),
        ("“I beleived tommorow it,” she said.", "tommorow", "tomorrow"),
        ("He didnae come.", "didnae", "didn't"),
        ("He said that that he came.", " that", ""),
        ("The house is is old.", " is", ""),
        ("He lives at in the city.", "at ", ""),
    ],
)
def test_mistakes_that_look_like_them_are_mended(text: str, old: str, new: str) -> None:
    assert not refused(text, old, new)


def sure_enough(text: str, old: str, new: str, confidence: float) -> bool:
    """Whether a change is made somewhere at a confidence, with the dial at 0.5, in a Markdown document."""
    done = proofread(text, {old: (new, confidence)}, format=Format.MARKDOWN)
    assert all((change.old, change.new) == (old, new) for change in done.changes)
    return bool(done.changes)


def test_a_plural_that_comes_again_stays_unless_a_singular_is_asked_for() -> None:
    again = "They are passed to the callbacks. All callbacks are called."
    assert not sure_enough(again, "callbacks", "callback", 0.99)
    assert sure_enough("It has a callbacks. All callbacks are called.", "callbacks", "callback", 0.6)
    assert sure_enough("Open the files paths. The files are new.", "files", "file", 0.6)
    assert sure_enough("We need softwares. Other softwares are new.", "softwares", "software", 0.6)
    # Alone it takes more confidence than other changes.
    once = "They are passed to the callbacks."
    assert not sure_enough(once, "callbacks", "callback", 0.7)
    assert sure_enough(once, "callbacks", "callback", 0.85)
    assert sure_enough("There are many callback here.", "callback", "callbacks", 0.6)


def test_a_capital_that_comes_again_stays() -> None:
    again = "We call it a Context here. Later each Context is left. Some say context."
    assert not sure_enough(again, "Context", "context", 0.99)
    assert sure_enough("We call it a Context here. Some say context.", "Context", "context", 0.6)
    assert not sure_enough("# Events and Signals\n\nThere are some.\n", "Signals", "signals", 0.99)


def test_a_spelling_that_comes_again_and_again_takes_more_confidence() -> None:
    text = "The environ is new. Each environ is copied. An environ is small."
    assert not sure_enough(text, "environ", "environment", 0.75)
    assert sure_enough(text, "environ", "environment", 0.9)
    tool = "Open gedit here. In gedit press it. It starts gedit."
    assert not sure_enough(tool, "gedit", "edit", 0.9)
    assert sure_enough(tool, "gedit", "edit", 0.97)
    assert sure_enough(text.replace("An environ", "It"), "environ", "environment", 0.75)
    joined = "A oneof is a field. This oneof is new, and that oneof is old."
    assert not sure_enough(joined, "oneof", "one of", 0.9)
    assert sure_enough(joined, "oneof", "one of", 0.97)
    assert sure_enough("This oneof them is new.", "oneof", "one of", 0.6)


def test_headings_have_a_grammar_of_their_own() -> None:
    text = "# Screen Clearing\n\nIt is cleared.\n"
    assert not sure_enough(text, "Clearing", "Clear", 0.7)
    assert sure_enough("# The begining\n\nIt is here.\n", "begining", "beginning", 0.6)


def test_ing_forms_stay_where_nothing_asks_for_another() -> None:
    for text, old, new in (
        ("It uses the URL reversing function here.", "reversing", "reverse"),
        ("People may change it and presenting them a page is bad.", "presenting", "present"),
        ("It is done when the program is setting up.", "setting", "set"),
    ):
        assert not sure_enough(text, old, new, 0.7)
        assert sure_enough(text, old, new, 0.85)
    assert sure_enough("He can swimming very well.", "swimming", "swim", 0.6)
    assert sure_enough("They going there every day.", "going", "go", 0.6)
    assert sure_enough("Care should be taking by them.", "taking", "taken", 0.6)
    assert sure_enough("I want to going home now.", "going", "go", 0.6)


def test_these_and_this_without_a_noun_point_elsewhere() -> None:
    assert not sure_enough("Disabling these isn't required here.", "these", "this", 0.7)
    assert not sure_enough("We have seen all of that.", "that", "those", 0.7)
    assert sure_enough("We have seen these file before.", "these", "this", 0.6)


def test_labels_may_be_emphasised() -> None:
    assert not sure_enough("**Tip:** if you need it, use it.", "if", "If", 0.99)
    assert sure_enough("It rained. if you need it, use it.", "if", "If", 0.6)


def test_all_it_does_is_a_phrase() -> None:
    assert not sure_enough("All the tag does is tell them.", "does", "do", 0.7)
    assert sure_enough("All the tags does the same.", "does", "do", 0.6)


def test_words_beside_code_take_more_confidence() -> None:
    text = "For `for` filtering it can help."
    assert not sure_enough(text, "filtering", "filters", 0.7)
    assert not sure_enough("The `block` tag comes here.", "tag", "tags", 0.7)
    assert sure_enough("The `block` teg comes here.", "teg", "tag", 0.6)
    assert sure_enough("The old tag come here.", "come", "comes", 0.6)


def test_nothing_is_written_between_pieces_of_code() -> None:
    text = "It has the parts `a`, `b` and the rest of them."
    assert not sure_enough(text, "`, `", "`, and `", 0.999)
    assert sure_enough("It has the part `a` that tell about `b` here.", "tell", "tells", 0.9)


def test_a_prefix_makes_words_of_words() -> None:
    (paragraph,) = paragraphs("It has multiline magics and a subtel hint.", Format.PLAIN)
    guard = Vetoes(0.5, known={"line", "hint", "subtle", "multilane"}.__contains__)
    compound = Suggestion(Edit(7, "multiline", "multilane"), Kind.SPELLING, 0.9)
    assert guard.objection(compound, paragraph) == "the word is made of another one"
    apart = replace(compound, edit=replace(compound.edit, new="multi line"), kind=Kind.JOINED_OR_SPLIT)
    assert guard.objection(apart, paragraph) == "the word is made of another one"
    for old, new, refused_so in (
        ("dicts", "diets", True),
        ("thats", "that's", False),
        ("citys", "cities", False),
        ("childs", "children", False),
    ):
        text = f"It has {old} in it."
        (plain,) = paragraphs(text, Format.PLAIN)
        words = Vetoes(0.5, known={"dict", "that", "city", "child", "diets", "cities"}.__contains__)
        plural = Suggestion(Edit(7, old, new), Kind.SPELLING, 0.9)
        assert (words.objection(plural, plain) == "the word is made of another one") is refused_so
    for old, new, refused_so in (("healthz", "health", True), ("pathsz", "paths", False), ("sharpp", "sharp", False)):
        (plain,) = paragraphs(f"It has {old} in it.", Format.PLAIN)
        named = Vetoes(0.5, known={"health", "paths", "sharp"}.__contains__)
        letter = Suggestion(Edit(7, old, new), Kind.SPELLING, 0.9)
        assert (named.objection(letter, plain) == "the word is made of another one") is refused_so
    wrong = Suggestion(Edit(30, "subtel", "subtle"), Kind.SPELLING, 0.9)
    assert guard.objection(wrong, paragraph) is None


def test_a_name_becomes_a_name_or_takes_more_confidence() -> None:
    (paragraph,) = paragraphs("We wrote Flaskr in a day. Then Amercia called.", Format.PLAIN)
    guard = Vetoes(0.5, is_name={"America"}.__contains__)
    other = Suggestion(Edit(9, "Flaskr", "Flask"), Kind.SPELLING, 0.7)
    assert guard.objection(other, paragraph) == "it is not sure enough"
    assert guard.objection(replace(other, confidence=0.85), paragraph) is None
    name = Suggestion(Edit(31, "Amercia", "America"), Kind.SPELLING, 0.6)
    assert guard.objection(name, paragraph) is None
    # At the start of a sentence every word has a capital.
    (first,) = paragraphs("Teh end is near.", Format.PLAIN)
    assert guard.objection(Suggestion(Edit(0, "Teh", "The"), Kind.SPELLING, 0.6), first) is None


def test_names_that_come_again_stay() -> None:
    text = "We met Jonh at noon. Later Jonh left, and Mary met Thier aunt. Thier aunt saw her."
    assert refused(text, "Jonh left", "John left")
    assert not refused(text, "Mary", "Marie")
    found = names_in(paragraphs(text, Format.PLAIN))
    assert "Jonh" in found
    assert "Mary" not in found
    # A word that is found in small letters too is no name; headings say nothing.
    plain = "# The Grate Wall\n\nThe grate is old. I like Grate. Grate is nice. It is, Becuse. Becuse."
    assert names_in(paragraphs(plain, Format.MARKDOWN)) == frozenset({"Becuse"})


def test_other_words_need_more_confidence() -> None:
    far = [("exapmles", "explanations"), ("disking", "disease"), ("nite", "night"), ("house", "car")]
    near = [("becuse", "because"), ("teh", "the"), ("definately", "definitely"), ("i", "I")]
    alike = [("in", "at"), ("goes", "went"), ("a", "the"), ("their", "there"), ("better", "best")]
    assert all(needed(proposal(*pair), 0.5) == pytest.approx(0.8) for pair in far)
    assert all(needed(proposal(*pair), 0.5) == 0.5 for pair in near + alike)
    assert not is_far(proposal("", "the"))
    assert needed(proposal("house", "car"), 0.5) == pytest.approx(0.8)
    assert needed(proposal("house", "hosue"), 0.5) == 0.5
    # Words that are put in are seldom the right ones, and commas often a matter of taste.
    assert needed(proposal("", "really"), 0.5) == pytest.approx(0.8)
    assert needed(proposal("", ","), 0.5) == pytest.approx(0.6)
    assert needed(proposal(",", ""), 0.5) == 0.5
    assert needed(proposal("", "the"), 0.5) == 0.5
    assert needed(proposal("house", "car"), 1.0) == 1.0
    text = "Here are some exapmles of it."
    for confidence, changed in ((0.7, False), (0.85, True)):
        done = proofread(text, {"exapmles": ("explanations", confidence)})
        assert (done.text != text) is changed


def test_which_and_that_are_left_to_the_author() -> None:
    text = "It is a sport which teaches us to work together."
    assert proofread(text, {"which": ("that", 0.99)}).text == text


def test_kinds_that_are_not_wanted_are_left() -> None:
    (paragraph,) = paragraphs("I recieve it.", Format.PLAIN)
    change = Suggestion(Edit(2, "recieve", "receive"), Kind.SPELLING, 0.9)
    assert Vetoes(0.5).objection(change, paragraph) is None
    assert Vetoes(0.5, {Kind.ARTICLE}).objection(change, paragraph) == "its kind is not wanted"
    assert Vetoes(0.95).objection(change, paragraph) == "it is not sure enough"


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


def test_no_word_is_written_that_is_in_no_list() -> None:
    (paragraph,) = paragraphs("He gave an exampel of a zorble.", Format.PLAIN)
    known = {"He", "gave", "an", "example", "of", "a", "sample"}
    guard = Vetoes(0.5, known=known.__contains__, usage=usage_in([paragraph]))
    made_up = Suggestion(Edit(11, "exampel", "exampl"), Kind.SPELLING, 0.9)
    right = replace(made_up, edit=replace(made_up.edit, new="example"))
    assert guard.objection(made_up, paragraph) == "it writes a word that is in no list"
    assert guard.objection(right, paragraph) is None
    # What the document has elsewhere may be written.
    assert (
        guard.objection(replace(made_up, edit=replace(made_up.edit, new="zorble"), confidence=0.99), paragraph) is None
    )
    assert Vetoes(0.5).objection(made_up, paragraph) is None


def test_what_is_written_beside_the_end_of_a_letter_is_corrected() -> None:
    assert not refused("Please send my reguards, and write soon.", "reguards", "regards")
    assert not refused("He send his love to you all.", "send", "sends")
    assert not refused("Many thanks, Anna said and go home.", "go", "went")


def test_a_full_stop_becomes_a_comma_only_if_the_model_is_surer() -> None:
    text = "We came home. it was late!"
    assert proofread(text, {".": (",", 0.7)}).text == text
    assert proofread(text, {".": (",", 0.95)}).text == "We came home, it was late!"


def test_a_paragraph_gets_a_final_mark_only_if_the_model_is_surer() -> None:
    text = "We came home in the evening. It was very late, and nobody was there"
    assert proofread(text, {"there": ("there.", 0.7)}).text == text
    assert proofread(text, {"there": ("there.", 0.95)}).text == f"{text}."
    text = "We came home It was very late, and nobody was there."
    assert proofread(text, {"home": ("home.", 0.7)}).text == text.replace("home", "home.")


def test_a_line_that_was_not_wrapped_keeps_its_capital() -> None:
    assert refused("We hope to see you soon,\nThen we can talk.", "Then", "then")
    wrapped = "It was a very long way to go for all of us who had come from there,\nThen we went home."
    assert not refused(wrapped, "Then", "then")


def test_of_two_changes_that_contradict_each_other_the_surer_one_is_made() -> None:
    text = "My colleagues often describes me as kind."
    both = {"colleagues": ("colleague", 0.8), "describes": ("describe", 0.9)}
    assert proofread(text, both).text == "My colleagues often describe me as kind."
    both = {"colleagues": ("colleague", 0.9), "describes": ("describe", 0.8)}
    assert proofread(text, both).text == "My colleague often describes me as kind."
    text = "I read book there."
    assert proofread(text, {" book": (" a book", 0.9)}).text == "I read a book there."
    text = "He is a close friends of mine."
    both = {" a": ("", 0.6), "friends": ("friend", 0.9)}
    assert proofread(text, both).text == "He is a close friend of mine."


def test_changes_that_belong_together_are_both_made() -> None:
    both = {"book": ("books", 0.8), "lies": ("lie", 0.8)}
    assert proofread("The book often lies there.", both).text == "The books often lie there."


def test_a_verb_that_was_read_behind_another_noun_stays_with_it() -> None:
    noun = Suggestion(Edit(4, "book", "books"), Kind.NOUN_NUMBER, 0.4)
    verb = Suggestion(Edit(9, "lies", "lie"), Kind.AGREEMENT, 0.9)
    followed = frozenset({(4, 8)})
    assert _without_contradictions([noun, verb], [verb], followed) == []
    assert _without_contradictions([noun, verb], [noun, verb], followed) == [noun, verb]
    # The verb was read behind the noun as it is.
    assert _without_contradictions([noun, verb], [verb], frozenset()) == [verb]
