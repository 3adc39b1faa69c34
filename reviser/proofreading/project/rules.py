"""A project's own rules: the files in `.reviser/rules` of its folder, and the presets that its settings name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from reviser.core.errors import ReviserError
from reviser.core.files import STREAM, read_utf8
from reviser.proofreading.rules.english import own_matcher, preset
from reviser.proofreading.rules.own import RuleText

FOLDER: Final = Path(".reviser") / "rules"
"""The folder of a project's rules, relative to the project's."""
LARGEST: Final = 1 << 20
"""The most bytes of a file of rules."""


def rules_for(path: Path, names: Iterable[str] = ()) -> tuple[RuleText, ...]:
    """The rules for a file: the presets with some names, and the files in the nearest folder of rules.

    Raises `ReviserError`, with one sentence, for what cannot be read.
    """
    found = (*map(preset, names), *(RuleText(str(file), _text(file)) for file in _files(path)))
    if found:
        own_matcher(found)
    return found


def _files(path: Path) -> list[Path]:
    """The files in the nearest folder of rules, from a file's folder upward."""
    start = Path.cwd() if path == STREAM else path.resolve().parent
    folder = next((one / FOLDER for one in (start, *start.parents) if (one / FOLDER).is_dir()), None)
    return sorted(folder.glob("*.rules")) if folder else []


def _text(file: Path) -> str:
    if file.stat().st_size > LARGEST:
        raise ReviserError(f"{file} has more than {LARGEST >> 20} MiB, too many rules")
    return read_utf8(file)
