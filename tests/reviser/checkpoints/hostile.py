"""Files that nobody should have to trust: each with the words in which it is refused."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from reviser.checkpoints.formats.gguf_files import GgufType, write_gguf
from reviser.checkpoints.formats.llama import write_llama
from reviser.checkpoints.home import save_checkpoint
from reviser.checkpoints.tensors import SINGLE_FILE
from reviser.model import Reviser, preset
from tests.reviser.checkpoints.parts import edit_config, edit_tensors, toy_checkpoint
from tests.reviser.checkpoints.test_released import released_state


def small_released() -> Reviser:
    """A model as small as the paper's vocabulary lets it be."""
    torch.manual_seed(0)
    shape = {"layers": 1, "width": 2, "heads": 1, "kv_heads": 1, "ff": 2}
    return Reviser(preset("tiny-paper", vocab_size=50291, **shape, dropout=0.0, context=4))


def released(path: Path, change: Callable[[dict[str, Any]], object] = lambda state: None) -> Path:
    state = {name: tensor.detach() for name, tensor in released_state(small_released()).items()}
    change(state)
    torch.save(state, path)
    return path


def home(path: Path, change: Callable[[Path], object] = lambda folder: None) -> Path:
    change(save_checkpoint(path, toy_checkpoint()))
    return path


def hugging_face(path: Path, change: Callable[[Path], object] = lambda folder: None) -> Path:
    change(write_llama(toy_checkpoint(), path))
    return path


def gguf(path: Path, change: Callable[[bytearray], object] = lambda data: None) -> Path:
    write_gguf(toy_checkpoint(), path, GgufType.f32)
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def write(content: bytes) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.write_bytes(content)
        return path

    return make


def model_settings(**changes: object) -> Callable[[Path], None]:
    """Other values in the shape that a home folder describes."""

    def edit(folder: Path) -> None:
        path = folder / "config.json"
        data = json.loads(path.read_text())
        data["model"] |= changes
        path.write_text(json.dumps(data))

    return edit


def bomb(path: Path) -> Path:
    """300 MB of zeros in 300 kB."""
    torch.save({"token_embedding.embedding.weight": torch.zeros(50291, 1500)}, path)
    whole = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return path


def expanded(path: Path) -> Path:
    """Tensors of terabytes that repeat one number."""

    def wide(state: dict[str, Any]) -> None:
        for name, tensor in list(state.items()):
            if "rope" in name:
                del state[name]
            elif "canvas" not in name:
                shape = [64_000 if size == 2 else size for size in tensor.shape]
                state[name] = torch.zeros(()).expand(shape)

    return released(path, wide)


def described(description: bytes) -> Callable[[Path], Path]:
    """An archive whose data.pkl says what it likes."""

    def make(path: Path) -> Path:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", description)
        return path

    return make


def not_numbers(value: float) -> Callable[[dict[str, Any]], None]:
    def change(tensors: dict[str, Any]) -> None:
        name = next(name for name, tensor in tensors.items() if tensor.ndim == 2)
        tensors[name] = tensors[name].clone()
        tensors[name][1, 1] = value

    return change


def number_at(place: int, code: str, value: int) -> Callable[[bytearray], None]:
    return lambda data: struct.pack_into(f"<{code}", data, place, value)


def behind(words: bytes, code: str, value: int, skip: int = 0) -> Callable[[bytearray], None]:
    """Another number behind the first occurrence of some bytes."""
    return lambda data: struct.pack_into(f"<{code}", data, data.index(words) + len(words) + skip, value)


def cut(data: bytearray) -> None:
    del data[len(data) // 2 :]


def cut_file(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        cut(data)
        (folder / name).write_bytes(data)

    return change


def file_in(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


DEEP = b"[" * 200_000
EMBEDDING = b"token_embd.weight"

# The name of a file or folder, how it is made, and what is said of it.
HOSTILE: dict[str, tuple[str, Callable[[Path], Path], str]] = {
    "a zip bomb": ("it.pt", bomb, "compressed, which torch never does"),
    "an empty file": ("it.pt", write(b""), "is empty"),
    "plain text": ("it.pt", write(b"Dear reader,\n" * 100), "not a torch file of weights"),
    "a file cut short": ("it.pt", lambda path: write(released(path).read_bytes()[:-999])(path), "not a torch file"),
    "tensors that share one number": ("it.pt", expanded, "describes more weights than it holds"),
    "a huge array in the description": (
        "it.pt",
        described(b"\x80\x02cbuiltins\nbytearray\n\x8a\x05\x00\x00\x00\x00\x10\x85R."),
        "would run code",
    ),
    "a memo of gigabytes": ("it.pt", described(b"\x80\x02}r\xf0\xff\xff\xff."), "not a released"),
    "a description without end": ("it.pt", described(b"\x80\x02}"), "not a torch file"),
    "weights that are not numbers": (
        "it.pt",
        lambda path: released(path, not_numbers(float("nan"))),
        "not finite numbers",
    ),
    "infinite weights in a folder": (
        "it",
        lambda path: home(path, edit_tensors(not_numbers(float("inf")))),
        "not finite numbers",
    ),
    "a billion layers": ("it", lambda path: home(path, model_settings(layers=10**9)), "at most 4096"),
    "layers without tensors": (
        "it",
        lambda path: home(path, model_settings(layers=4000)),
        "has 4000 layers, and holds",
    ),
    "a context of a trillion": ("it", lambda path: home(path, model_settings(context=10**12)), "at most"),
    "a context too long for its weights": (
        "it",
        lambda path: home(path, model_settings(context=1 << 24)),
        "too many for a model of its size",
    ),
    "a deeply nested configuration": ("it", lambda path: home(path, file_in("config.json", DEEP)), "nested too deeply"),
    "a configuration that is no object": (
        "it",
        lambda path: home(path, file_in("config.json", b"[1]")),
        "is not a model's configuration",
    ),
    "another kind of metadata": ("it", lambda path: home(path, edit_config(metadata=[1])), "usable 'metadata'"),
    "a huge vocabulary": (
        "it",
        lambda path: home(path, edit_config(vocabulary=toy_checkpoint().vocabulary.to_dict() | {"base_size": 10**15})),
        "does not describe a usable vocabulary",
    ),
    "safetensors cut short": ("it", lambda path: home(path, cut_file(SINGLE_FILE)), "is damaged"),
    "safetensors with a damaged header": (
        "it",
        lambda path: home(path, file_in(SINGLE_FILE, struct.pack("<Q", 1 << 60) + b"{}")),
        "is damaged",
    ),
    "a deeply nested tokenizer": (
        "it",
        lambda path: home(path, file_in("tokenizer.json", DEEP)),
        "not a readable tokenizer.json",
    ),
    "a deeply nested Hugging Face configuration": (
        "it",
        lambda path: hugging_face(path, file_in("config.json", DEEP)),
        "nested too deeply",
    ),
    "no heads": (
        "it",
        lambda path: hugging_face(path, edit_config(reviser=None, num_attention_heads=0)),
        "heads must be at least 1",
    ),
    "a GGUF file cut short": ("it.gguf", lambda path: gguf(path, cut), "reaches beyond the end"),
    "a GGUF file that ends in its header": (
        "it.gguf",
        lambda path: write(gguf(path).read_bytes()[:300])(path),
        "ends within its header",
    ),
    "GGUF of a later version": ("it.gguf", lambda path: gguf(path, number_at(4, "I", 99)), "version 99"),
    "GGUF with too many tensors": (
        "it.gguf",
        lambda path: gguf(path, number_at(8, "Q", 1 << 60)),
        "promises 1152921504606846976 tensors",
    ),
    "GGUF with too many settings": (
        "it.gguf",
        lambda path: gguf(path, number_at(16, "Q", 1 << 60)),
        "promises 1152921504606846976 settings",
    ),
    "GGUF with a text without end": (
        "it.gguf",
        lambda path: gguf(path, number_at(24, "Q", 1 << 63)),
        "ends within its header",
    ),
    "GGUF with a list without end": (
        "it.gguf",
        lambda path: gguf(path, behind(b"tokenizer.ggml.tokens", "Q", 1 << 62, skip=8)),
        "a list in its header has",
    ),
    "GGUF with a tensor of many dimensions": (
        "it.gguf",
        lambda path: gguf(path, behind(EMBEDDING, "I", 1 << 31)),
        "has 2147483648 dimensions",
    ),
    "GGUF with a tensor that overflows": (
        "it.gguf",
        lambda path: gguf(path, behind(EMBEDDING, "Q", 1 << 63, skip=4)),
        "reaches beyond the end",
    ),
    "GGUF with a tensor that lies elsewhere": (
        "it.gguf",
        lambda path: gguf(path, behind(EMBEDDING, "Q", 1 << 40, skip=24)),
        "reaches beyond the end",
    ),
    "GGUF with a tensor of an unknown type": (
        "it.gguf",
        lambda path: gguf(path, behind(EMBEDDING, "I", 999, skip=20)),
        "unknown type 999",
    ),
}
