"""Fast decoding on the processor: a step of the model as one call into a small C library.

`NativeDecoder` keeps one history, with the model's weights in 4, 8 or 32 bits. `NativeBatch` keeps several on the
weights of a decoder, and `read_batch` and `read_overtyping` let them proofread together. `make_decoder(model)`
gives the fastest decoder that this machine and this model allow, which without the library, or on
another device than the processor, is the model itself.

The library is built when the package is installed, if there is a C compiler. `available()` says
whether it was, and `REVISER_NATIVE=0` keeps it from being used. `REVISER_NATIVE_LIBRARY` names another build of it,
as `make sanitize` does.

The names below are looked up when first used, so that the sampler can use the library without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reviser.native.library import available, levels
from reviser.native.top_k import top_k_probabilities

if TYPE_CHECKING:
    from reviser.native.batch import NativeBatch, read_batch
    from reviser.native.decoder import (
        CacheFull,
        NativeDecoder,
        Profile,
        make_decoder,
        supports,
    )
    from reviser.native.overtyping import read_overtyping

__all__ = [
    "CacheFull",
    "NativeBatch",
    "NativeDecoder",
    "Profile",
    "available",
    "levels",
    "make_decoder",
    "read_batch",
    "read_overtyping",
    "supports",
    "top_k_probabilities",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = {"NativeBatch": "batch", "read_batch": "batch", "read_overtyping": "overtyping"}
    return getattr(import_module(f"{__name__}.{modules.get(name, 'decoder')}"), name)
