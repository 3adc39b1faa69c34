"""Fast decoding on the processor: a step of the model is one call into a small C library.

`NativeDecoder` keeps one history, with the model's weights in 4, 8 or 32 bits. `NativeBatch` keeps several on the
weights of a decoder. `make_decoder(model)` gives the fastest decoder that this machine and this model allow; without
the library, or on another device than the processor, it is the torch model.

Wheels contain the library; installation from source builds it if there is a C compiler. `available()` says whether it
is there, `why_missing()` why not, and `REVISER_NATIVE=0` switches it off. `REVISER_NATIVE_LIBRARY` names another build
of it, as `make sanitize` does.

The names below are looked up when first used, so that the sampler can use the library without torch, and `--version`
can look for it without numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reviser.native.library import available, levels, slow_notice, why_missing

if TYPE_CHECKING:
    from reviser.native.batch import NativeBatch
    from reviser.native.decoder import NativeDecoder, Profile, make_decoder, supports
    from reviser.native.refusals import CacheFull

__all__ = [
    "CacheFull",
    "NativeBatch",
    "NativeDecoder",
    "Profile",
    "available",
    "levels",
    "make_decoder",
    "slow_notice",
    "supports",
    "why_missing",
]

_MODULES = {"CacheFull": "refusals", "NativeBatch": "batch"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES.get(name, "decoder")
    return getattr(import_module(f"{__name__}.{module}"), name)
