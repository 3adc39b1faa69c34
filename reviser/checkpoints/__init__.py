"""Checkpoints: storage of models on disk, import and export.

    home.py                     the home format: save, load; summary.py: inspect, without torch
    library.py                  model folders and names: find_model
    importing.py                any source to a checkpoint: import_model
    bounded.py                  reading files that may be damaged or hostile
    pulling.py                  models from the network, on request
    formats/released.py         the paper's .pt files; torch_files.py: any .pt file, as data
    formats/llama.py            Hugging Face folders of the Llama family, in and out
    formats/gguf_files.py       GGUF files, in and out; gguf_header.py: their settings and tensors

The names below are looked up when first used, so that finding a model by name does not load torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reviser.checkpoints.library import find_model, list_models

if TYPE_CHECKING:
    from reviser.checkpoints.home import Checkpoint, load, save, save_checkpoint
    from reviser.checkpoints.importing import import_model
    from reviser.checkpoints.summary import Summary, inspect

__all__ = [
    "Checkpoint",
    "Summary",
    "find_model",
    "import_model",
    "inspect",
    "list_models",
    "load",
    "save",
    "save_checkpoint",
]


_MODULES = {"import_model": "importing", "Summary": "summary", "inspect": "summary"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES.get(name, "home")
    return getattr(import_module(f"{__name__}.{module}"), name)
