"""Classes of words that rules name, and the expressions that define them.

An expression is words with spaces between them, and classes, forms and differences of both:

- `word`, or `word/other` for a word that `$` puts into a replacement as the other (`_` stands for a space in it);
- `<name>`: the words of a class that is already defined;
- `*`: any word in small letters, and `*ing`: one of five letters or more with this ending;
- `form( … )`: the words in brackets, each of which becomes its form: `s`, `ing`, `ed`, `past`, `done` or `plural`.
  Words that have become others become forms of these. `back( … )` turns words and what they become round;
  `keys( … )` are the words alone, `values( … )` what they become;
- `- …`: without these words; `+ …`: with them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from reviser.core.errors import ReviserError
from reviser.proofreading.rules.forms import Forms

WordClass = frozenset[str] | Mapping[str, str] | Callable[[str], bool]
"""Words; or a mapping of words to their replacements; or a predicate of words as written."""
Classes = Mapping[str, WordClass]

_OF_ENDING: Final = 5


class _ClassWords:
    """Words with their replacements, if any; accepted endings of other words, and the words excluded from these."""

    def __init__(self, named: dict[str, str | None] | None = None) -> None:
        self.named = {} if named is None else named
        self.endings: list[str] = []
        self.without: set[str] = set()

    def __ior__(self, other: _ClassWords) -> _ClassWords:
        self.named |= other.named
        self.endings += other.endings
        self.without |= other.without
        return self

    def __isub__(self, other: _ClassWords) -> _ClassWords:
        for word in other.named:
            self.named.pop(word, None)
        self.without |= other.named.keys()
        return self

    def made(self) -> WordClass:
        if self.endings:
            words, endings, without = frozenset(self.named), tuple(self.endings), frozenset(self.without)
            return lambda word: _is_one_of(word, words, endings, without)
        pairs = {word: other for word, other in self.named.items() if other is not None}
        return pairs if len(pairs) == len(self.named) else frozenset(self.named)


def _is_one_of(word: str, words: frozenset[str], endings: tuple[str, ...], without: frozenset[str]) -> bool:
    if not (word.isalpha() and word.islower()):
        return False
    if word in words:
        return True
    return word not in without and any(not end or (len(word) >= _OF_ENDING and word.endswith(end)) for end in endings)


def word_class(expression: str, classes: Classes, forms: Forms) -> WordClass:
    """The words that an expression defines; raises `ReviserError` for an invalid one."""
    tokens = iter(expression.split())
    found = _evaluated(tokens, classes, forms, inside=False)
    if not found.named and not found.endings:
        raise ReviserError("it has no words")
    return found.made()


def _evaluated(tokens: Iterator[str], classes: Classes, forms: Forms, *, inside: bool) -> _ClassWords:
    total, part, takes = _ClassWords(), _ClassWords(), False
    for token in tokens:
        if token == ")" and inside:
            break
        if token in ("+", "-"):
            total, part, takes = _joined(total, part, takes=takes), _ClassWords(), token == "-"
        elif token.endswith("(") and len(token) > 1:
            part |= _formed(token[:-1], _evaluated(tokens, classes, forms, inside=True), forms)
        elif token.startswith("*"):
            part.endings.append(token[1:])
        elif token.startswith("<") and token.endswith(">"):
            part |= _of_class(class_named(token[1:-1], classes), token)
        else:
            word, slash, other = token.partition("/")
            part.named[word] = other.replace("_", " ") if slash else None
    else:
        if inside:
            raise ReviserError("a bracket is left open")
    return _joined(total, part, takes=takes)


def _joined(total: _ClassWords, part: _ClassWords, *, takes: bool) -> _ClassWords:
    if takes:
        total -= part
    else:
        total |= part
    return total


def class_named(name: str, classes: Classes) -> WordClass:
    if name not in classes:
        raise ReviserError(f"there is no class of words <{name}>")
    return classes[name]


def _of_class(words: WordClass, token: str) -> _ClassWords:
    if callable(words):
        raise ReviserError(f"{token} is no list of words")
    return _ClassWords(dict(words) if isinstance(words, Mapping) else dict.fromkeys(words))


def _formed(name: str, words: _ClassWords, forms: Forms) -> _ClassWords:
    """The forms of some words, by the name of the form."""
    if name == "back":
        return _ClassWords({other: word for word, other in words.named.items() if other is not None})
    if name == "keys":
        return _ClassWords(dict.fromkeys(words.named))
    if name == "values":
        return _ClassWords({other: None for other in words.named.values() if other is not None})
    made = forms.named(name)
    if made is None:
        raise ReviserError(f"{name}( … ) is no form of words")
    return _ClassWords({word: made(word if other is None else other) for word, other in words.named.items()})
