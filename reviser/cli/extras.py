"""Commands that live outside the engine, loaded by name; a missing extra is said plainly."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from reviser.core.errors import ReviserError


def load_extra(module: str, extra: str) -> ModuleType:
    """The module of that name, or a sentence on which extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ReviserError(
            f"this command needs {error.name}; install it with: pip install 'reviser[{extra}]'"
        ) from None
