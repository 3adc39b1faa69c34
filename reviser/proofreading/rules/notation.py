"""The notation of rules: files that say what is a mistake, what it becomes, and which sentences show it.

    # A comment.
    class meal: breakfast lunch dinner

    rule take a meal
      why: Meals have no article.
      take|takes|took [a] <meal> <end> -> $1
      mends: We took{ a|} lunch.
      leaves: It takes a lunch box.

A line that starts with a space belongs to what stands above it: a rule has its ways there (`patterns` reads them),
and properties, each with a colon. A line that starts with four spaces or more goes on with the line before. `class`
names words for the rules and classes below it (`classes` reads their expressions); `verbs`, `plurals` and `doubling`
say how forms of words are made (`forms`), and `<verbs>` are the irregular verbs. `term GitHub: git hub, github` says
how a term is spelled, and behind the colon how it is not; other capitals than its own are never right.

Properties are `why`, `kind`, `confidence`, `level` ("error", "warning" or "info"), `speech` ("yes", or "no" for a rule
that leaves speech alone), `unless`, `unless in clause`, `unless with`, `only with`, and as often as wanted `mends` and
`leaves`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from reviser.core.errors import ReviserError
from reviser.proofreading.rules.classes import Classes, word_class
from reviser.proofreading.rules.forms import FORMS, Forms
from reviser.proofreading.rules.patterns import Rule
from reviser.proofreading.suggestion import Kind, Level

_GOES_ON: Final = "    "
_CONDITIONS: Final = {
    "unless": "unless",
    "unless in clause": "unless_in_clause",
    "unless with": "unless_with",
    "only with": "only_with",
}
_PROPERTIES: Final = (*_CONDITIONS, "why", "kind", "confidence", "level", "speech", "mends", "leaves")


class RuleBook:
    """Rules in the order in which they are tried, and the word classes and forms that they use."""

    def __init__(self, classes: Classes, forms: Forms = FORMS) -> None:
        """An empty book with the classes and forms of another one, so that a user's rules can use them."""
        self.rules: list[Rule] = []
        self.terms: dict[str, tuple[str, ...]] = {}
        self.classes = dict(classes)
        self.forms = forms

    def read(self, text: str, source: str) -> None:
        """Add the rules in a text; `source` names it in errors.

        Raises `ReviserError`, with one sentence and a line number, for what cannot be read.
        """
        for number, head, lines in _entries(text, source):
            word, _, rest = head.partition(" ")
            try:
                if word == "rule":
                    self.rules.append(_rule(rest.strip(), lines, source))
                elif lines:
                    raise ReviserError(f"nothing belongs to “{head}”")
                else:
                    self._define(head)
            except _NotationError:
                raise
            except ReviserError as error:
                raise _NotationError(f"{source}, line {number}: {error}") from None

    def _define(self, head: str) -> None:
        """Add a word class, or word forms."""
        named, colon, words = head.partition(":")
        what, _, name = named.partition(" ")
        if what == "term" and name.strip():
            self.terms[name.strip()] = tuple(one.strip() for one in words.split(",") if one.strip())
            return
        if not colon or what not in ("class", "verbs", "plurals", "doubling") or bool(name) is not (what == "class"):
            raise ReviserError(f"“{head}” is no rule, no class and no term")
        if what == "class":
            if name in self.classes:
                raise ReviserError(f"there are two classes <{name}>")
            self.classes[name] = word_class(words, self.classes, self.forms)
        elif what == "verbs":
            verbs = [verb.split("/") for verb in words.split()]
            if any(len(verb) != 3 for verb in verbs):
                raise ReviserError("a verb has three forms, as in go/went/gone")
            self.forms = self.forms._replace(verbs={base: (past, done) for base, past, done in verbs})
            self.classes["verbs"] = frozenset(self.forms.verbs)
        elif what == "plurals":
            pairs = [noun.partition("/") for noun in words.split()]
            self.forms = self.forms._replace(plurals={one: many for one, _, many in pairs})
        else:
            self.forms = self.forms._replace(doubling=frozenset(words.split()))


class _NotationError(ReviserError):
    """An error with its place in the file."""


class _Line(NamedTuple):
    number: int
    text: str


def _entries(text: str, source: str) -> Iterator[tuple[int, str, list[_Line]]]:
    """The entries of a file: each line at the left edge with its number and the lines that belong to it; continued
    lines are joined."""
    entry: tuple[int, str, list[_Line]] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line[0].isspace():
            if entry:
                yield entry
            entry = (number, line.strip(), [])
        elif entry is None:
            raise _NotationError(f"{source}, line {number}: this belongs to no rule")
        elif not line.startswith(_GOES_ON):
            entry[2].append(_Line(number, line.strip()))
        elif entry[2]:
            first, before = entry[2][-1]
            entry[2][-1] = _Line(first, _joined(before, line.strip()))
        else:
            entry = (entry[0], _joined(entry[1], line.strip()), [])
    if entry:
        yield entry


def _joined(before: str, more: str) -> str:
    """A line joined with its continuation; words separated by | stay one element."""
    return before + more if before.endswith("|") else f"{before} {more}"


def _rule(name: str, lines: Iterable[_Line], source: str) -> Rule:
    ways: list[str] = []
    examples: dict[str, list[str]] = {"mends": [], "leaves": []}
    given: dict[str, Any] = {}
    for number, line in lines:
        name_of, colon, value = line.partition(": ")
        try:
            if not colon or name_of not in _PROPERTIES:
                ways.append(line)
            elif name_of in examples:
                examples[name_of].append(value)
            else:
                given |= _property(name_of, value)
        except ReviserError as error:
            raise _NotationError(f"{source}, line {number}: {error}") from None
    if not name or not ways:
        raise ReviserError("a rule has a name, and at least one way in which the mistake is made")
    return Rule(name, tuple(ways), tuple(examples["mends"]), tuple(examples["leaves"]), **given)


def _property(name: str, value: str) -> Mapping[str, Any]:
    """A property as a keyword argument of `Rule`."""
    if name in _CONDITIONS:
        return {_CONDITIONS[name]: value}
    if name == "kind":
        try:
            return {"kind": Kind(value)}
        except ValueError:
            raise ReviserError(f"“{value}” is no kind of mistake: {', '.join(Kind)}") from None
    if name == "level":
        try:
            return {"level": Level(value)}
        except ValueError:
            raise ReviserError(f"“{value}” is no level: {', '.join(Level)}") from None
    if name == "speech":
        if value not in ("yes", "no"):
            raise ReviserError(f"speech is “yes” or “no”, and not “{value}”")
        return {"speech": value == "yes"}
    if name == "confidence":
        try:
            sure = float(value)
        except ValueError:
            sure = 0.0
        if not 0 < sure < 1:
            raise ReviserError(f"the confidence lies between 0 and 1, unlike “{value}”")
        return {"confidence": sure}
    return {name: value}
