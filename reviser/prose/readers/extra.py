"""Parsers that are installed with an extra; the error for a missing one names the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from reviser.core.extras import missing_package


def load(module: str, extra: str) -> Any:
    """The module of that name; raises `ReviserError` naming the extra to install if it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise (missing_package(error, extra=extra, needed_by="reading this format") or error) from None
