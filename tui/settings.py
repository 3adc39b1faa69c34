"""The configuration file: appearance, key bindings, and options of the model."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from reviser.core.errors import ReviserError
from reviser.core.files import home_folder, read_utf8

SPEEDS = (1, 2, 4, 8, 15, 30, 0)
THEMES = ("dark", "light")


@dataclass(frozen=True)
class TuiSettings:
    """The settings in `tui.toml`. `speed` is in actions per second; 0 is as fast as the model goes."""

    theme: str = "dark"
    wrap: bool = True
    line_numbers: bool = True
    tab_width: int = 4
    speed: int = 8
    model: str | None = None
    threads: int | None = None
    max_actions: int = 256
    temperature: float = 0.7
    revise_temperature: float = 0.0
    sureness: float = 2.0
    top_k: int = 50
    top_p: float = 1.0
    min_p: float = 0.0
    check_steps_back: bool = True
    seed: int | None = None
    proofread: bool = True
    confidence: float | None = None
    next_edits: bool = True
    next_edit_confidence: float | None = None
    keys: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path | None = None) -> TuiSettings:
        """The settings in the file at `path`; without a file, the defaults."""
        path = settings_path() if path is None else path
        if not path.exists():
            return cls()
        try:
            data = tomllib.loads(read_utf8(path))
        except tomllib.TOMLDecodeError as error:
            raise ReviserError(f"{path} is not valid TOML: {error}") from None
        known = {each.name: str(each.type) for each in fields(cls)}
        for name, value in data.items():
            if name not in known:
                raise ReviserError(f"{path}: there is no setting {name}")
            if not _fits(value, known[name]):
                raise ReviserError(f"{path}: {name} cannot be {value!r}")
        settings = cls(**data)
        if settings.theme not in THEMES:
            raise ReviserError(f"{path}: theme must be one of {', '.join(THEMES)}")
        if settings.tab_width < 1 or settings.max_actions < 1 or settings.speed < 0:
            raise ReviserError(f"{path}: tab_width and max_actions start at 1, speed at 0")
        if not 0 <= settings.sureness <= 1000:
            raise ReviserError(f"{path}: sureness lies between 0 and 1000")
        for name in ("confidence", "next_edit_confidence"):
            if (value := getattr(settings, name)) is not None and not 0 <= value <= 1:
                raise ReviserError(f"{path}: {name} lies between 0 and 1")
        return settings


def _fits(value: Any, declared: str) -> bool:
    if declared.startswith("dict"):
        return isinstance(value, dict) and all(isinstance(key, str) for key in value.values())
    kinds = {"str": str, "bool": bool, "int": int, "float": (int, float)}
    kind = kinds[declared.partition(" ")[0]]
    return isinstance(value, kind) and (isinstance(value, bool) == (declared == "bool"))  # type: ignore[arg-type]


def settings_path() -> Path:
    """`$REVISER_HOME/tui.toml`, or the platform's folder for configuration."""
    return home_folder("XDG_CONFIG_HOME", ".config") / "tui.toml"


def journal_folder() -> Path:
    """The folder in which journals are kept."""
    return home_folder("XDG_STATE_HOME", ".local/state") / "journal"
