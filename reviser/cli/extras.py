"""Commands that live outside the engine, loaded by name; the error for a missing extra names it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from reviser.core.extras import missing_package


def load_extra(module: str, extra: str) -> ModuleType:
    """The module of that name, or a sentence on which extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_package(error, extra=extra) or error from None
