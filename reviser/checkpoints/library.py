"""The folders where models are kept, and finding one by name; needs no torch."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from reviser.errors import ReviserError

_CONFIG_FILE = "config.json"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that has a name here."""

    name: str
    folder: Path
    embedded: bool


def user_folder() -> Path:
    """Where this user's models are: `$REVISER_HOME/models`, or the platform's place for data."""
    if home := os.environ.get("REVISER_HOME"):
        return Path(home) / "models"
    return _data_folder() / "reviser" / "models"


def _data_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def embedded_folder() -> Path:
    """Where the models that come with the package are."""
    return Path(__file__).parent.parent / "weights"


def list_models() -> list[Entry]:
    """Every model with a name, the user's before those of the package, which they may hide."""
    entries: dict[str, Entry] = {}
    for folder, embedded in ((user_folder(), False), (embedded_folder(), True)):
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if not path.name.startswith(".") and (path / _CONFIG_FILE).is_file():
                    entries.setdefault(path.name, Entry(path.name, path, embedded))
    return list(entries.values())


def find_model(name_or_path: str | Path | None = None) -> Path:
    """The folder of a model given by path or by its name; without either, the embedded model."""
    if name_or_path is None:
        return _embedded_model()
    text = str(name_or_path)
    path = Path(text).expanduser()
    if (path / _CONFIG_FILE).is_file():
        return path
    known = {entry.name: entry.folder for entry in list_models()}
    if text in known:
        return known[text]
    if path.exists():
        raise ReviserError(
            f"{text} is not a model folder; `reviser models import` reads files of other kinds"
        )
    raise ReviserError(f"there is no model {text}; {_what_exists(list(known))}")


def _embedded_model() -> Path:
    entries = list_models()
    if embedded := [entry.folder for entry in entries if entry.embedded]:
        return embedded[0]
    names = [entry.name for entry in entries]
    raise ReviserError(f"no model comes with this installation, so name one; {_what_exists(names)}")


def _what_exists(names: list[str]) -> str:
    if not names:
        return "there are none yet, and `reviser models pull smollm2` gets one"
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"


def place_for(name: str) -> Path:
    """Where a new model of this name goes."""
    if not _NAME.fullmatch(name):
        raise ReviserError(
            f"'{name}' cannot name a model: use letters, digits, dots, dashes and underscores"
        )
    return user_folder() / name


def stored_bytes(folder: Path) -> int:
    """The size of a model's weights on disk."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def note(folder: Path) -> str:
    """What a model's own metadata says of where it is from, in a few words."""
    try:
        metadata = json.loads((folder / _CONFIG_FILE).read_text("utf-8")).get("metadata") or {}
    except (OSError, ValueError, AttributeError):
        return "unreadable configuration"
    parts = [str(metadata[key]) for key in ("description", "source") if metadata.get(key)][:1]
    if metadata.get("operators") == "untrained":
        parts.append("operators untrained")
    return ", ".join(parts)
