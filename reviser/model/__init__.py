"""The model: its configuration, the decoder, the key/value cache and canvas conditioning.

The names below are looked up when first used, so that a configuration can be read without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reviser.model.config import ModelConfig, preset, preset_names

if TYPE_CHECKING:
    from reviser.model.cache import KVCache
    from reviser.model.conditioning import CanvasBatch
    from reviser.model.decoder import Reviser, resize_vocabulary

__all__ = ["CanvasBatch", "KVCache", "ModelConfig", "Reviser", "preset", "preset_names", "resize_vocabulary"]

_HOMES = {"CanvasBatch": "conditioning", "KVCache": "cache", "Reviser": "decoder", "resize_vocabulary": "decoder"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
