"""Commands that live outside the engine, loaded by name; the error for a missing extra names it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import reviser
from reviser.core.extras import missing_package

APPS: Final = frozenset({"benchmarks", "lsp_server", "training", "tui"})
"""The packages beside the engine."""


def load_extra(module: str, extra: str) -> ModuleType:
    """The module of that name; raises `ReviserError` naming the extra to install if it is missing."""
    if module.partition(".")[0] in APPS:
        find_apps()
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_package(error, extra=extra) or error from None


def find_apps() -> None:
    """Make the packages beside the engine importable by their names.

    In a checkout they are beside `reviser`. In an installation they are in a folder inside of it, so that names as
    common as `training` are not taken in anybody's environment; that folder is put first on the path of our own
    processes alone.
    """
    package = Path(reviser.__file__).parent
    installed = package / "apps"
    folder = str(installed if installed.is_dir() else package.parent)
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
