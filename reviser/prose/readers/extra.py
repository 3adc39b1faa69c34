"""Parsers that come with an extra; what is missing is said plainly."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from reviser.core.errors import ReviserError


def load(module: str, extra: str) -> Any:
    """The module of that name, or a sentence on which extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        raise ReviserError(
            f"reading this format needs {missing}; install it with: pip install 'reviser[{extra}]'"
        ) from None
