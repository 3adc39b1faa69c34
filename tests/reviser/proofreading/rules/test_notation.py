"""The notation of rules: what it means, and what is said of what it cannot mean."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from reviser.core.errors import ReviserError
from reviser.proofreading.language.speech import speech_in
from reviser.proofreading.rules.english import english, matcher, own_rules
from reviser.proofreading.rules.examples import check_examples
from reviser.proofreading.rules.matching import Matcher, apply
from reviser.proofreading.rules.notation import RuleBook
from reviser.proofreading.rules.own import RuleText
from reviser.proofreading.rules.patterns import PatternReader
from reviser.proofreading.suggestion import Kind

OWN = """\
# House style.
class meal: breakfast lunch
    dinner

rule a meal
  take|takes|
    took [a] <meal> <end> ->
  why: Meals have no article.
  kind: article
  confidence: 0.8
  speech: no
  unless: never
  mends: We took{ a|} lunch.
  leaves: It takes a lunch box.
  leaves: They never took a lunch.

rule happy for
  happy [for] <ing> -> about
  mends: I am happy {for|about} going.
  leaves: I am happy for you.
"""


def checked(text: str, source: str) -> RuleBook:
    """The rules in a text, which hold all their examples."""
    rules = own_rules((RuleText(source, text),))
    check_examples(rules)
    return rules


def book(*lines: str) -> RuleBook:
    found = RuleBook(english().classes, english().forms)
    found.read("\n".join(lines), "own.rules")
    return found


def corrected(text: str, *lines: str) -> str:
    rules = book(*lines)
    return apply(text, Matcher(rules.rules, rules.classes).find(text, (), speech_in(text)))


def test_rules_of_somebody_else() -> None:
    rules = checked(OWN, "own.rules")
    first, second = rules.rules
    assert (first.name, first.ways) == ("a meal", ("take|takes|took [a] <meal> <end> ->",))
    assert (first.why, first.kind, first.confidence) == ("Meals have no article.", Kind.ARTICLE, 0.8)
    assert (first.unless, first.speech, second.speech, second.kind, second.why) == ("never", False, True, None, "")
    found = Matcher(rules.rules, rules.classes).find("She takes a dinner.")
    assert [(one.new, one.confidence, one.rules, one.kind, one.why) for one in found] == [
        ("", 0.8, ("a meal",), Kind.ARTICLE, "Meals have no article.")
    ]
    # The rules for English know nothing of them.
    assert "meal" not in english().classes
    assert matcher().find("She takes a dinner.") == []


def test_ways() -> None:
    way = "  !not very? red|blue [cat] -> dog"
    assert corrected("A very red cat.", "rule r", way) == "A very red dog."
    assert corrected("It is not red cat.", "rule r", way) == "It is not red cat."
    reader = PatternReader({})
    assert len(reader.patterns(book("rule r", way).rules[0])) == 2
    own = "  red [cat <each-plural>] = !ever -> the $2"
    assert corrected("A red cat books books.", "rule r", own) == "A red the book books."
    assert corrected("A red cat books books ever.", "rule r", own) == "A red cat books books ever."
    assert corrected("A red cat books.", "rule r", own) == "A red cat books."


def test_conditions() -> None:
    way = "  [cat] -> dog"
    for condition, text, is_mistake in (
        ("unless: if", "If so, a cat comes.", False),
        ("unless: if", "A cat comes if so.", True),
        ("unless in clause: if", "If so, a cat comes.", True),
        ("unless in clause: if", "If a cat comes, all is well.", False),
        ("unless with: if", "A cat comes if so.", False),
        ("only with: if|when", "A cat comes if so.", True),
        ("only with: if|when", "A cat comes.", False),
        ("speech: no", "“A cat comes,” he said.", False),
    ):
        assert (corrected(text, "rule r", way, f"  {condition}") != text) is is_mistake, (condition, text)


def test_classes() -> None:
    def words(expression: str) -> object:
        return book(f"class c: {expression}").classes["c"]

    assert words("red <me>") == {"red", "me", "him", "us", "them"}
    assert words("go/goes see/have_seen is/") == {"go": "goes", "see": "have seen", "is": ""}
    assert words("a b c - b c + c") == {"a", "c"}
    assert words("s( go try ) - try") == {"go": "goes"}
    assert words("back( past( go stop ) )") == {"went": "go", "stopped": "stop"}
    assert words("done( back( past( go ) ) )") == {"went": "gone"}
    assert words("keys( plural( child way ) ) values( plural( child ) )") == {"child", "way", "children"}
    named = words("*ing mad - king sting")
    assert callable(named)
    assert [named(word) for word in ("going", "mad", "sting", "ring", "Going", "go")] == [True, True, *[False] * 4]


def test_forms_by_rule() -> None:
    forms = english().forms
    s_form = forms.named("s")
    assert s_form
    assert [*map(s_form, ("go", "try", "play", "watch", "have"))] == ["goes", "tries", "plays", "watches", "has"]
    ing = ["making", "lying", "stopping", "seeing", "going"]
    assert [*map(forms.ing, ("make", "lie", "stop", "see", "go"))] == ing
    assert [*map(forms.ed, ("like", "try", "stop", "play"))] == ["liked", "tried", "stopped", "played"]
    assert [*map(forms.past, ("go", "like"))] == ["went", "liked"]
    assert [*map(forms.done, ("go", "like"))] == ["gone", "liked"]
    assert [*map(forms.plural, ("child", "city"))] == ["children", "cities"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rule r\n  [<nothing>] -> x", "the rule “r” cannot be read: there is no class of words <nothing>"),
        (
            "rule r\n  cat -> dog",
            "the rule “r” cannot be read: “cat -> dog” does not say which [words] -> become others",
        ),
        ("rule r\n  [cat] dog", "the rule “r” cannot be read: “[cat] dog” does not say which [words] -> become others"),
        (
            "rule r\n  [cat] -> $2",
            "the rule “r” cannot be read: “[cat] -> $2” puts in more words than it has in brackets",
        ),
        ("rule r\n  [<any>] -> x", "the rule “r” cannot be read: “[<any>] -> x” names no word that must be there"),
        ("rule r\n  [cat] -> x\n  unless: <any>", "the rule “r” cannot be read: <any> is no list of words"),
        ("rule r", "own.rules, line 1: a rule has a name, and at least one way in which the mistake is made"),
        (
            "rule\n  [cat] -> x",
            "own.rules, line 1: a rule has a name, and at least one way in which the mistake is made",
        ),
        ("\n  [cat] -> x", "own.rules, line 2: this belongs to no rule"),
        ("rules r\n", "own.rules, line 1: “rules r” is no rule, no class and no term"),
        ("class c: a\n  b", "own.rules, line 1: nothing belongs to “class c: a”"),
        ("class me: a", "own.rules, line 1: there are two classes <me>"),
        ("class c: ", "own.rules, line 1: it has no words"),
        ("class c: many( a )", "own.rules, line 1: many( … ) is no form of words"),
        ("class c: s( a", "own.rules, line 1: a bracket is left open"),
        ("class c: <any>", "own.rules, line 1: <any> is no list of words"),
        ("verbs: go/went", "own.rules, line 1: a verb has three forms, as in go/went/gone"),
        ("rule r\n  [a] -> b\n  speech: maybe", "own.rules, line 3: speech is “yes” or “no”, and not “maybe”"),
        ("rule r\n  confidence: high", "own.rules, line 2: the confidence lies between 0 and 1, unlike “high”"),
        ("rule r\n  [cat] -> dog", "the rule “r” has no example of what it mends"),
        ("rule r\n  [cat] -> dog\n  mends: A {cat|dog}.", "the rule “r” has no example of what it leaves"),
        (
            "rule r\n  [cat] -> dog\n  mends: A {cat|fox}.\n  leaves: A fox.",
            "the rule “r” makes “A dog.” of “A cat.”, and not “A fox.”",
        ),
        (
            "rule r\n  [cat] -> dog\n  mends: A {cat|dog}.\n  leaves: No cat.",
            "the rule “r” makes “No dog.” of “No cat.”, which it should leave",
        ),
        (
            "rule r\n  [cat] -> dog\n  mends: A cat.\n  leaves: A fox.",
            "the rule “r” has an example in which nothing is {wrong|right}: “A cat.”",
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ReviserError) as error:
        checked(text, "own.rules")
    assert str(error.value) == said


def test_a_kind_that_is_none_is_said_with_those_that_are() -> None:
    with pytest.raises(ReviserError, match=r"own\.rules, line 3: “taste” is no kind of mistake: spelling, agreement, "):
        checked("rule r\n  [a] -> b\n  kind: taste", "own.rules")


def test_the_rules_are_in_packages() -> None:
    root = Path(__file__).parents[4]
    listed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["reviser"]
    files = [*(root / "reviser/proofreading/rules/english").iterdir()]
    assert {path.suffix for path in files} == {".rules"}
    for path in files:
        assert any(fnmatch(str(path.relative_to(root / "reviser")), pattern) for pattern in listed)
