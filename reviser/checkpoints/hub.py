"""The Hugging Face hub: names of its repositories, and downloads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reviser.core.errors import ReviserError

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_HUB_FILES = (
    "config.json",
    "tokenizer.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "model-*-of-*.safetensors",
)


def is_hub_id(source: str) -> bool:
    """Whether `source` is a hub's `owner/name`.

    A mistyped path must not go to the network, so a source that starts with an existing folder, or ends like a file of
    weights, is a path.
    """
    path = Path(source)
    if _HUB_ID.fullmatch(source) is None or path.suffix in (".pt", ".gguf", ".safetensors"):
        return False
    return not path.parent.exists()


def fetch_from_hub(repository: str) -> Path:
    """Download the files of a hub repository that a model needs; a broken download resumes next time."""
    with _plain_errors(repository):
        from huggingface_hub import snapshot_download

        folder = snapshot_download(repository, allow_patterns=list(_HUB_FILES))
    return Path(folder)


def fetch_file(repository: str, file: str) -> Path:
    """Download one file of a hub repository."""
    with _plain_errors(repository):
        from huggingface_hub import hf_hub_download

        path = hf_hub_download(repository, file)
    return Path(path)


@contextmanager
def _plain_errors(repository: str) -> Iterator[None]:
    """Turn exceptions of the hub's client into a `ReviserError` of one sentence."""
    try:
        yield
    except ImportError:
        raise ReviserError("the hub needs huggingface_hub; install it with: pip install 'reviser[torch]'") from None
    except Exception as error:  # the client also lets through whatever its transport raises
        if type(error).__name__ == "RepositoryNotFoundError":
            raise ReviserError(f"the hub has no model {repository}, or not for you") from None
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ReviserError(f"{repository} cannot be fetched from the hub: {reason}") from None
