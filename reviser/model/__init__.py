"""The model: its configuration, the decoder, the key/value cache and canvas conditioning."""

from reviser.model.cache import KVCache, packed_span
from reviser.model.conditioning import CanvasBatch
from reviser.model.config import ModelConfig, preset, preset_names
from reviser.model.decoder import Reviser, resize_vocabulary

__all__ = [
    "CanvasBatch",
    "KVCache",
    "ModelConfig",
    "Reviser",
    "packed_span",
    "preset",
    "preset_names",
    "resize_vocabulary",
]
