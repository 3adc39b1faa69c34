"""Status codes of the library as errors."""

from __future__ import annotations

from reviser.core.errors import ReviserError
from reviser.model.config import ModelConfig
from reviser.native.library import BAD_ID


class CacheFull(ReviserError):
    """More ids than a decoder has room for."""


def refusal(status: int, config: ModelConfig) -> ReviserError:
    """The error for a status with which the library refused to read ids."""
    if status == BAD_ID:
        return ReviserError(f"an id is outside the vocabulary of {config.vocab_size} ids")
    return ReviserError("a decoder reads at least one id")
