"""Summary of a model in the home format, from its configuration and headers alone; needs no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from reviser.checkpoints.bounded import read_json
from reviser.checkpoints.description import CONFIG_FILE, FORMAT, checked_headers, describe
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.model.config import ModelConfig
from reviser.model.layout import Quantisation, weight_count


@dataclass(frozen=True)
class Summary:
    """The properties of a checkpoint, from its configuration and headers."""

    folder: Path
    config: ModelConfig
    vocabulary: Vocabulary
    tokenizer: str
    metadata: Mapping[str, object]
    quantisation: Quantisation | None
    parameters: int
    file_bytes: int
    dtypes: dict[str, int]

    def to_dict(self) -> dict[str, object]:
        return {
            "folder": str(self.folder),
            "model": self.config.to_dict(),
            "vocabulary": self.vocabulary.to_dict(),
            "tokenizer": self.tokenizer,
            "quantisation": self.quantisation and self.quantisation.to_dict(),
            "parameters": self.parameters,
            "file_bytes": self.file_bytes,
            "dtypes": self.dtypes,
            "metadata": self.metadata,
        }


def inspect(folder: Path) -> Summary:
    """A summary of the model that `reviser.checkpoints.load` would give, without reading weights."""
    description = describe(folder)
    headers = checked_headers(description)
    sizes = {name: prod(stored.shape) for name, stored in headers.items()}
    dtypes: Counter[str] = Counter()
    for name, stored in headers.items():
        dtypes[stored.dtype] += sizes[name]
    files = {stored.file for stored in headers.values()}
    quantised = description.quantisation is not None
    return Summary(
        folder,
        description.config,
        description.vocabulary,
        description.tokenizer,
        description.metadata,
        description.quantisation,
        parameters=weight_count(description.config) if quantised else sum(sizes.values()),
        file_bytes=sum(file.stat().st_size for file in files),
        dtypes=dict(dtypes),
    )


def is_home(folder: Path) -> bool:
    """Whether `folder` looks like a folder in the home format, sound or not."""
    try:
        data = read_json(folder / CONFIG_FILE)
    except ReviserError:
        return False
    return isinstance(data, dict) and data.get("format") == FORMAT
