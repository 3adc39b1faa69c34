"""Import of models from any source: a file, a folder or a name on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

from reviser.checkpoints.bounded import file_size
from reviser.checkpoints.building import Progress, no_progress
from reviser.checkpoints.formats.gguf_files import read_gguf
from reviser.checkpoints.formats.gguf_header import MAGIC
from reviser.checkpoints.formats.llama import read_llama
from reviser.checkpoints.formats.released import read_released
from reviser.checkpoints.home import Checkpoint, load
from reviser.checkpoints.hub import fetch_from_hub, is_hub_id
from reviser.checkpoints.summary import is_home
from reviser.core.errors import ReviserError


def import_model(source: str, *, name: str | None = None, progress: Progress = no_progress) -> Checkpoint:
    """The checkpoint of a model from `source`; only a hub id uses the network."""
    if is_hub_id(source):
        return import_path(fetch_from_hub(source), name or source.rpartition("/")[2], progress)
    return import_path(Path(source), name, progress)


def import_path(path: Path, name: str | None = None, progress: Progress = no_progress) -> Checkpoint:
    """The checkpoint in a file or folder of any known kind; raises an error if a weight is not finite."""
    checkpoint = _read(path, name, progress)
    check_finite(checkpoint, path)
    return checkpoint


def check_finite(checkpoint: Checkpoint, source: Path) -> None:
    """Raise an error if a weight is infinite or NaN."""
    for name, weight in checkpoint.model.named_parameters():
        if not weight.isfinite().all():
            raise ReviserError(f"the weights in {source} are damaged: {name} has values that are not finite numbers")


def _read(path: Path, name: str | None, progress: Progress) -> Checkpoint:
    if path.is_dir():
        return load(path) if is_home(path) else read_llama(path, name)
    file_size(path)
    if _starts_with(path, MAGIC):
        return read_gguf(path, name, progress)
    return read_released(path)


def _starts_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError as error:
        raise ReviserError(f"{path} cannot be read: {error.strerror}") from None
