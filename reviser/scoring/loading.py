"""Loading of models that score texts: our own format, a GGUF file, a Hugging Face folder or the hub."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from reviser.checkpoints.home import Checkpoint, load
from reviser.checkpoints.importing import import_path
from reviser.checkpoints.library import list_models
from reviser.checkpoints.summary import is_home
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def default_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def dtype_for(device: torch.device) -> torch.dtype:
    """The precision for scoring: half on a GPU, to save memory; single on processors, where it is faster and more
    exact."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def home_checkpoint(source: str, device: torch.device) -> Checkpoint | None:
    """The checkpoint that `source` names if it is one of our own model, or None.

    That is a folder in the home format, the name of a model in the library, a GGUF or released `.pt` file, or a name
    that `reviser models pull` knows, which is then fetched.
    """
    from reviser.checkpoints.pulling import SOURCES, pull

    folder = home_folder(source)
    if folder is not None:
        return load(folder, device=device, dtype=dtype_for(device))
    if Path(source).is_file():
        checkpoint = import_path(Path(source))
    elif source in SOURCES:
        checkpoint = pull(source)
    else:
        return None
    checkpoint.model.to(device=device, dtype=dtype_for(device))
    return checkpoint


def is_own(source: str) -> bool:
    """Whether `source` names a model of our own, as `home_checkpoint` decides."""
    from reviser.checkpoints.pulling import SOURCES

    return home_folder(source) is not None or Path(source).is_file() or source in SOURCES


def home_folder(source: str) -> Path | None:
    """The folder of the home-format model that `source` names, by path or in the library."""
    path = Path(source).expanduser()
    if is_home(path):
        return path
    return next((entry.folder for entry in list_models() if entry.name == source), None)


def fingerprint(source: str) -> str:
    """An identifier of a model: its weights' checksum, or its name if the weights are not here."""
    path = home_folder(source) or Path(source).expanduser()
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    kept = [file for file in files if file.suffix in (".safetensors", ".bin", ".pt", ".gguf")]
    if not kept or not path.exists():
        return source
    digest = hashlib.sha256()
    for file in kept:
        with file.open("rb") as data:
            while block := data.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


def read_config(source: str) -> dict[str, Any]:
    """The config.json of a model in a folder or on the hub, read without running the model's code."""
    with plain_errors(source):
        from transformers import PretrainedConfig

        values, _ = PretrainedConfig.get_config_dict(source)
    return dict(values)


def load_causal_lm(source: str, device: torch.device) -> Any:
    """A causal language model of transformers, by folder or hub name; raises `ReviserError` if it cannot be loaded."""
    with plain_errors(source):
        from transformers import AutoModelForCausalLM

        model: Any = AutoModelForCausalLM.from_pretrained(source, dtype=dtype_for(device))
    return model.to(device).eval()


def load_hf_tokenizer(source: str) -> PreTrainedTokenizerBase:
    with plain_errors(source):
        from transformers import AutoTokenizer

        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(source)
    if not tokenizer.is_fast:
        raise ReviserError(f"the tokenizer of {source} does not say where its tokens stand")
    return tokenizer


def quieten() -> None:
    """Turn off the progress bars and warnings of transformers."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


@contextmanager
def plain_errors(source: str) -> Iterator[None]:
    """Turn exceptions of transformers and the hub into a `ReviserError` of one sentence."""
    try:
        quieten()
        yield
    except ImportError:
        raise ReviserError(f"{source} needs transformers; install it with: pip install 'reviser[bench]'") from None
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ReviserError(f"{source} cannot be loaded: {reason}") from None


def short_name(source: str) -> str:
    """The name of a model in tables: the end of its path or hub name."""
    path = Path(source.rstrip("/"))
    return path.parent.name if path.name == "model" and path.parent.name else path.name
