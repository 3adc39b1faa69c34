"""llama.cpp as a contestant, through the shared libraries of any of its releases.

The libraries are those of the package llama-cpp-python, if it is installed, or of a folder: an unpacked release, or
the one in a package for another language. Such folders have one library of kernels for each instruction set, and
llama.cpp chooses among them. The few settings changed here are at the start of llama.cpp's structures, where they
have been stable for years; the rest is passed on unchanged, so that the structures may grow.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_bool, c_byte, c_char_p, c_float, c_int32, c_uint32, c_uint64, c_void_p
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.speed.contestants.contest import CAPACITY, SEED, timed
from reviser.core.errors import ReviserError
from reviser.decoding.sampler import Sampler

# llama.cpp's numbers for its formats; K_M falls back to simpler ones where rows do not fit it.
FORMATS = {"Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q4_K_M": 15}
_BATCH = 512
_SPARE = 512  # bytes for what a release may add to a structure


class _ModelSettings(ctypes.Structure):
    _fields_ = (("rest", c_uint64 * (_SPARE // 8)),)


class _ContextSettings(ctypes.Structure):
    _fields_ = (
        ("n_ctx", c_uint32),
        ("n_batch", c_uint32),
        ("n_ubatch", c_uint32),
        ("n_seq_max", c_uint32),
        ("rest", c_uint64 * (_SPARE // 8)),
    )


class _QuantiseSettings(ctypes.Structure):
    _fields_ = (
        ("nthread", c_int32),
        ("ftype", c_int32),
        ("output_tensor_type", c_int32),
        ("token_embedding_type", c_int32),
        ("allow_requantize", c_bool),
        ("booleans", c_byte * 7),
        ("rest", c_uint64 * (_SPARE // 8)),
    )


class _ChainSettings(ctypes.Structure):
    _fields_ = (("no_perf", c_bool),)


class _LlamaBatch(ctypes.Structure):
    _fields_ = (
        ("n_tokens", c_int32),
        ("token", POINTER(c_int32)),
        ("embd", c_void_p),
        ("pos", c_void_p),
        ("n_seq_id", c_void_p),
        ("seq_id", c_void_p),
        ("logits", c_void_p),
    )


_Log = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "llama_backend_init": (None, []),
    "llama_log_set": (None, [_Log, c_void_p]),
    "llama_print_system_info": (c_char_p, []),
    "llama_model_default_params": (_ModelSettings, []),
    "llama_context_default_params": (_ContextSettings, []),
    "llama_model_quantize_default_params": (_QuantiseSettings, []),
    "llama_sampler_chain_default_params": (_ChainSettings, []),
    "llama_model_quantize": (c_uint32, [c_char_p, c_char_p, POINTER(_QuantiseSettings)]),
    "llama_model_load_from_file": (c_void_p, [c_char_p, _ModelSettings]),
    "llama_model_size": (c_uint64, [c_void_p]),
    "llama_init_from_model": (c_void_p, [c_void_p, _ContextSettings]),
    "llama_set_n_threads": (None, [c_void_p, c_int32, c_int32]),
    "llama_get_memory": (c_void_p, [c_void_p]),
    "llama_memory_clear": (None, [c_void_p, c_bool]),
    "llama_batch_get_one": (_LlamaBatch, [POINTER(c_int32), c_int32]),
    "llama_decode": (c_int32, [c_void_p, _LlamaBatch]),
    "llama_sampler_chain_init": (c_void_p, [_ChainSettings]),
    "llama_sampler_chain_add": (None, [c_void_p, c_void_p]),
    "llama_sampler_init_top_k": (c_void_p, [c_int32]),
    "llama_sampler_init_temp": (c_void_p, [c_float]),
    "llama_sampler_init_dist": (c_void_p, [c_uint32]),
    "llama_sampler_sample": (c_int32, [c_void_p, c_void_p, c_int32]),
    "llama_sampler_free": (None, [c_void_p]),
    "llama_free": (None, [c_void_p]),
    "llama_model_free": (None, [c_void_p]),
}


class LlamaLibrary:
    """The functions of llama.cpp, from the libraries in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._api = ctypes.CDLL(str(_one(folder, "llama")), mode=ctypes.RTLD_GLOBAL)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._api, name)
            function.restype, function.argtypes = result, arguments
        # The callback must outlive the library's use of it.
        self._quiet = _Log(lambda level, text, data: None)
        self.llama_log_set(self._quiet, None)
        load = ctypes.CDLL(str(_one(folder, "ggml"))).ggml_backend_load_all_from_path
        load.argtypes, load.restype = [c_char_p], None
        load(str(folder).encode())
        self.llama_backend_init()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    @property
    def instructions(self) -> str:
        """The instruction set of its kernels: from the name of their library, else from its own system information."""
        try:
            loaded = Path("/proc/self/maps").read_text("utf-8").split()
        except OSError:
            loaded = []
        for word in loaded:
            if "libggml-cpu-" in word and word.startswith(str(self.folder.resolve())):
                return Path(word).name.removeprefix("libggml-cpu-").partition(".so")[0]
        said = self.llama_print_system_info().decode()
        pairs = (pair.partition("=") for pair in said.replace(":", "|").split("|"))
        have = [name.strip() for name, _, value in pairs if value.strip() == "1"]
        return " ".join(have) or "unknown"

    def requantise(self, source: Path, target: Path, number: int, threads: int) -> bool:
        """Writes a model in another of llama.cpp's formats; returns whether that succeeded."""
        settings = self.llama_model_quantize_default_params()
        settings.nthread = threads
        settings.ftype = number
        settings.allow_requantize = True
        failed = self.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(settings))
        return not failed


def _one(folder: Path, name: str) -> Path:
    """The library of a name; its file may contain the number of the release."""
    for pattern in (f"lib{name}.so", f"lib{name}.*.so", f"lib{name}.so.*", f"lib{name}.dylib"):
        for file in sorted(folder.glob(pattern)):
            return file
    raise ReviserError(f"there is no lib{name} of llama.cpp in {folder}")


def find_llama(folder: Path | None) -> LlamaLibrary | None:
    """Loads llama.cpp from this folder, else from llama-cpp-python; None if that is not installed."""
    if folder is None:
        package = find_spec("llama_cpp")
        if package is None or not package.submodule_search_locations:
            return None
        folder = Path(package.submodule_search_locations[0]) / "lib"
    try:
        return LlamaLibrary(folder)
    except (OSError, AttributeError) as error:
        raise ReviserError(f"the libraries in {folder} cannot be used: {error}") from error


class LlamaCpp:
    """A model in llama.cpp through its own C interface, with a sampler of its own set like ours."""

    def __init__(self, library: LlamaLibrary, path: Path, name: str, threads: int) -> None:
        self.name = name
        self._api = library
        self._model = library.llama_model_load_from_file(str(path).encode(), library.llama_model_default_params())
        if not self._model:
            raise ReviserError(f"llama.cpp cannot read {path}")
        settings = library.llama_context_default_params()
        settings.n_ctx = CAPACITY
        settings.n_batch = settings.n_ubatch = _BATCH
        self._context = library.llama_init_from_model(self._model, settings)
        library.llama_set_n_threads(self._context, threads, threads)
        self.instructions = library.instructions
        self.step_bytes = int(library.llama_model_size(self._model))
        self._sampler = self._new_sampler()

    def _new_sampler(self) -> Any:
        api, ours = self._api, Sampler()
        chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        for part in (
            api.llama_sampler_init_top_k(ours.top_k),
            api.llama_sampler_init_temp(ours.temperature),
            api.llama_sampler_init_dist(SEED),
        ):
            api.llama_sampler_chain_add(chain, part)
        return chain

    def prefill(self, ids: Sequence[int]) -> None:
        self._api.llama_memory_clear(self._api.llama_get_memory(self._context), True)
        for start in range(0, len(ids), _BATCH):
            self._decode(ids[start : start + _BATCH])
        self._next = self._sample()

    def steps(self, count: int) -> float:
        return timed(lambda: self._generate(count))

    def _generate(self, count: int) -> None:
        for _ in range(count):
            self._decode([self._next])
            self._next = self._sample()

    def _sample(self) -> int:
        token: int = self._api.llama_sampler_sample(self._sampler, self._context, -1)
        return token

    def _decode(self, ids: Sequence[int]) -> None:
        tokens = (c_int32 * len(ids))(*ids)
        if self._api.llama_decode(self._context, self._api.llama_batch_get_one(tokens, len(ids))):
            raise RuntimeError("llama.cpp could not decode.")

    def close(self) -> None:
        self._api.llama_sampler_free(self._sampler)
        self._api.llama_free(self._context)
        self._api.llama_model_free(self._model)


def llama_contestants(library: LlamaLibrary, gguf: Path, folder: Path, threads: int) -> list[LlamaCpp]:
    """llama.cpp with each of its formats, made from the file by its own quantiser."""
    contestants = []
    for name, number in FORMATS.items():
        path = folder / f"{name}.gguf"
        if library.requantise(gguf, path, number, threads):
            contestants.append(LlamaCpp(library, path, f"llama.cpp {name}", threads))
    return contestants
