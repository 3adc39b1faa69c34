"""The model library: the folders where models are kept, and finding one by name; needs no torch."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from reviser.checkpoints.bounded import read_json
from reviser.core.errors import ReviserError
from reviser.core.files import home_folder

# What the model is called that is used when none is named: the package's, or the user's own.
DEFAULT = "default"
_CONFIG_FILE = "config.json"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model in the library, with its name."""

    name: str
    folder: Path
    embedded: bool


def user_folder() -> Path:
    """The folder of this user's models: `$REVISER_HOME/models`, or in the platform's folder for data."""
    return home_folder("XDG_DATA_HOME", ".local/share") / "models"


def embedded_folder() -> Path:
    """The folder of the model that comes with the package, which may be missing."""
    return Path(__file__).parent.parent / "weights"


def list_models() -> list[NamedModel]:
    """All named models: the user's, then the package's, unless the user's default hides it."""
    entries: list[NamedModel] = []
    folder = user_folder()
    if folder.is_dir():
        entries = [
            NamedModel(path.name, path, embedded=False)
            for path in sorted(folder.iterdir())
            if not path.name.startswith(".") and _is_model(path)
        ]
    if _is_model(embedded_folder()) and DEFAULT not in (entry.name for entry in entries):
        entries.append(NamedModel(DEFAULT, embedded_folder(), embedded=True))
    return entries


def find_model(name_or_path: str | Path | None = None) -> Path:
    """The folder of a model, given by path or by name.

    Without either it is the model that `REVISER_MODEL` names; else the user's model called `default`; else the one that
    comes with the package.
    """
    if name_or_path is None:
        name_or_path = os.environ.get("REVISER_MODEL") or None
    if name_or_path is None:
        return default_model()
    text = str(name_or_path)
    if text.startswith("openai:"):
        raise ReviserError(f"{text} is a server, and this needs the files of a model")
    path = Path(text).expanduser()
    if _is_model(path):
        return path
    known = {entry.name: entry.folder for entry in list_models()}
    if text in known:
        return known[text]
    if path.exists():
        raise ReviserError(f"{text} is not a model folder; `reviser models import` reads files of other kinds")
    raise ReviserError(f"there is no model {text}; {_what_exists(list(known))}")


def name_of(folder: Path) -> str:
    """The name of the model in a folder."""
    return DEFAULT if folder == embedded_folder() else folder.resolve().name


def _is_model(folder: Path) -> bool:
    return (folder / _CONFIG_FILE).is_file()


def default_model() -> Path:
    """The folder of the default model, regardless of `REVISER_MODEL`."""
    known = {entry.name: entry.folder for entry in list_models()}
    if DEFAULT in known:
        return known[DEFAULT]
    raise ReviserError(
        f"no model comes with this installation, so name one with --model or REVISER_MODEL; {_what_exists(list(known))}"
    )


def _what_exists(names: list[str]) -> str:
    if not names:
        return "there are none yet, and `reviser models pull smollm2` gets one"
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"


def place_for(name: str) -> Path:
    """The folder for a new model of this name."""
    if not _NAME.fullmatch(name):
        raise ReviserError(f"'{name}' cannot name a model: use letters, digits, dots, dashes and underscores")
    return user_folder() / name


def stored_bytes(folder: Path) -> int:
    """The size of a model's weights on disk."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def note(folder: Path) -> str:
    """A few words on a model's origin and precision, from its configuration."""
    try:
        config = read_json(folder / _CONFIG_FILE)
        metadata = config.get("metadata") or {}
        bits = (config.get("quantisation") or {}).get("bits")
        untrained = metadata.get("operators") == "untrained"
    except (ReviserError, AttributeError):
        return "unreadable configuration"
    parts = [str(metadata[key]) for key in ("description", "source") if metadata.get(key)][:1]
    if bits:
        parts.append(f"{bits} bits")
    if untrained:
        parts.append("operators untrained")
    return ", ".join(parts)
