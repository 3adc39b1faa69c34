"""The user's settings, read from what an editor sends; an invalid one is reported, and its default is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from reviser.decoding.suggestion import CONFIDENCE
from reviser.proofreading.suggestion import Kind

Unit = Literal["word", "line", "sentence"]
ListMode = Literal["auto", "on", "off"]

# The model learned prose. Editors have different names for the same language.
PROSE = frozenset(
    {
        "plaintext", "text",
        "markdown",
        "restructuredtext", "rst",
        "latex", "tex", "plaintex",
        "html",
        "git-commit", "gitcommit", "NeogitCommitMessage",
        "mail", "eml", "email",
    }
)  # fmt: skip


@dataclass(frozen=True)
class CompletionSettings:
    """Suggestions while typing."""

    enabled: bool = True
    unit: Unit = "sentence"
    candidates: int = 3
    confidence: float = CONFIDENCE
    max_actions: int = 12
    max_actions_invoked: int = 32
    min_delay_ms: int = 0
    max_delay_ms: int = 400
    list: ListMode = "auto"


@dataclass(frozen=True)
class LiveSettings:
    """The model writing in the document."""

    max_actions: int = 256
    edits_per_second: float = 20.0


@dataclass(frozen=True)
class ReviseSettings:
    """The model revising text; `max_actions` are for each line."""

    max_actions: int = 128
    temperature: float = 0.0
    sureness: float = 2.0


@dataclass(frozen=True)
class DiagnosticsSettings:
    """Proofreading; without a `confidence` or `kinds`, those of the document's project."""

    enabled: bool = True
    confidence: float | None = None
    kinds: tuple[Kind, ...] = ()
    delay_ms: int = 600


@dataclass(frozen=True)
class NextEditsSettings:
    """What else to change after the user's edits; without a `confidence`, that of the judgement."""

    enabled: bool = True
    languages: dict[str, bool] = field(default_factory=dict)
    confidence: float | None = None
    delay_ms: int = 400

    def allows(self, language: str) -> bool:
        return self.enabled and self.languages.get(language, self.languages.get("*", True))


@dataclass(frozen=True)
class ServerSettings:
    """All settings; an editor's names are these in camelCase."""

    enabled: bool = True
    languages: dict[str, bool] = field(default_factory=dict)
    globs: dict[str, bool] = field(default_factory=dict)
    model: str | None = None
    temperature: float = 0.7
    top_k: int = 50
    check_steps_back: bool = True
    seed: int | None = None
    threads: int | None = None
    unload_after_s: float = 300.0
    shared_engine: bool = False
    completion: CompletionSettings = CompletionSettings()
    live: LiveSettings = LiveSettings()
    revise: ReviseSettings = ReviseSettings()
    diagnostics: DiagnosticsSettings = DiagnosticsSettings()
    next_edits: NextEditsSettings = field(default_factory=NextEditsSettings)

    def allows(self, uri: str, language: str) -> bool:
        """Whether the model may work in this document: by the last matching glob, else by its language."""
        if not self.enabled:
            return False
        path = path_of(uri)
        for glob, allowed in reversed(self.globs.items()):
            if _glob(glob).fullmatch(path):
                return allowed
        for name in (language, "*"):
            if name in self.languages:
                return self.languages[name]
        return language in PROSE


def path_of(uri: str) -> str:
    """The path in a document's address, without its leading slash."""
    return unquote(urlsplit(uri).path or uri).lstrip("/")


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """A regular expression for a glob: `*` and `?` stay within a folder, `**` crosses folders; one without a slash
    matches in any folder.
    """
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.lstrip("/"))
    translated = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile("".join(translated.get(part) or re.escape(part) for part in parts), re.DOTALL)


Check = Callable[[Any], bool]


def _number(low: float, high: float) -> Check:
    return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _whole(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def _one_of(*values: str) -> Check:
    return lambda value: isinstance(value, str) and value in values


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _switch(value: Any) -> bool:
    return isinstance(value, bool)


def _switches(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(on, bool) for on in value.values())


def _kinds(value: Any) -> bool:
    return isinstance(value, list) and all(kind_of_name(name) is not None for name in value)


def kind_of_name(name: Any) -> Kind | None:
    """The kind of mistake of this name, written with spaces or hyphens; None if there is none."""
    return _KINDS.get(name.replace("-", " ")) if isinstance(name, str) else None


_KINDS = {kind.value: kind for kind in Kind}
_MOST_ACTIONS = 2048

_COMPLETION: dict[str, Check] = {
    "enabled": _switch,
    "unit": _one_of("word", "line", "sentence"),
    "candidates": _whole(1, 10),
    "confidence": _number(0, 1),
    "max_actions": _whole(1, _MOST_ACTIONS),
    "max_actions_invoked": _whole(1, _MOST_ACTIONS),
    "min_delay_ms": _whole(0, 10_000),
    "max_delay_ms": _whole(0, 10_000),
    "list": _one_of("auto", "on", "off"),
}
_LIVE: dict[str, Check] = {"max_actions": _whole(1, _MOST_ACTIONS), "edits_per_second": _number(0.1, 1000)}
_REVISE: dict[str, Check] = {
    "max_actions": _whole(1, _MOST_ACTIONS),
    "temperature": _number(0, 10),
    "sureness": _number(0, 1000),
}
_DIAGNOSTICS: dict[str, Check] = {
    "enabled": _switch,
    "confidence": _optional(_number(0, 1)),
    "kinds": _kinds,
    "delay_ms": _whole(0, 60_000),
}
_NEXT_EDITS: dict[str, Check] = {
    "enabled": _switch,
    "languages": _switches,
    "confidence": _optional(_number(0, 1)),
    "delay_ms": _whole(0, 60_000),
}
_TOP: dict[str, Check] = {
    "enabled": _switch,
    "languages": _switches,
    "globs": _switches,
    "model": _optional(lambda value: isinstance(value, str)),
    "temperature": _number(0, 10),
    "top_k": _whole(0, 1_000_000),
    "check_steps_back": _switch,
    "seed": _optional(_whole(0, 2**32 - 1)),
    "threads": _optional(_whole(1, 1024)),
    "unload_after_s": _number(0, 1e9),
    "shared_engine": _switch,
}


def read_settings(data: Any) -> tuple[ServerSettings, list[str]]:
    """The settings that an editor sent, and a sentence for each invalid entry."""
    problems: list[str] = []
    if data is None:
        return ServerSettings(), problems
    if not isinstance(data, dict):
        return ServerSettings(), ["the settings of Reviser are not an object"]
    rest = dict(data)
    completion = _read(rest.pop("completion", None), _COMPLETION, "completion.", problems)
    live = _read(rest.pop("live", None), _LIVE, "live.", problems)
    revise = _read(rest.pop("revise", None), _REVISE, "revise.", problems)
    diagnostics = _read(rest.pop("diagnostics", None), _DIAGNOSTICS, "diagnostics.", problems)
    next_edits = _read(rest.pop("nextEdits", None), _NEXT_EDITS, "nextEdits.", problems)
    if "kinds" in diagnostics:
        diagnostics["kinds"] = tuple(map(kind_of_name, diagnostics["kinds"]))
    # An empty name is how editors with forms say "none".
    if rest.get("model") == "":
        rest["model"] = None
    values = _read(rest, _TOP, "", problems)
    return (
        replace(
            ServerSettings(),
            completion=replace(CompletionSettings(), **completion),
            live=replace(LiveSettings(), **live),
            revise=replace(ReviseSettings(), **revise),
            diagnostics=replace(DiagnosticsSettings(), **diagnostics),
            next_edits=replace(NextEditsSettings(), **next_edits),
            **values,
        ),
        problems,
    )


def _read(data: Any, checks: dict[str, Check], where: str, problems: list[str]) -> dict[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        problems.append(f"the setting {where.rstrip('.')} is not an object")
        return {}
    names = {_camel_case(name): name for name in checks}
    values: dict[str, Any] = {}
    for key, value in data.items():
        name = names.get(key)
        if name is None:
            problems.append(f"there is no setting {where}{key}")
        elif not checks[name](value):
            problems.append(f"the setting {where}{key} cannot be {value!r}")
        else:
            values[name] = value
    return values


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
