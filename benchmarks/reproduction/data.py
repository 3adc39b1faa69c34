"""The data of a reproduction: texts for training, and held-out passages to continue."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.builtin import builtin_texts
from benchmarks.builtin.passages import passages
from benchmarks.protocol.setup import BUILTIN, Setup
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from training.data.shards import Options, tokenise
from training.data.sources import documents, expand

Say = Callable[[str], None]
_HELD_OUT_SHARE = 10


def prepare(
    folder: Path, data: Sequence[str], held_out: str | None, setup: Setup, workers: int, say: Say
) -> tuple[Path, Path]:
    """Makes token shards for training and a file of held-out passages; returns both paths.

    Without a held-out source, a tenth of the texts is held out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shards = _ready_shards(data)
    if shards is not None and held_out is None:
        raise ReviserError("token shards are trained on whole: name held-out texts beside them")
    passages_file = folder / "held-out.jsonl"
    if not passages_file.exists():
        kept = filter(_is_held_out, _texts(data)) if held_out is None else _texts([held_out])
        cut = (part for text in kept for part in passages(text, setup.shortest, setup.longest))
        _write_texts(passages_file, cut)
    if shards is not None:
        return shards, passages_file
    sources = list(data)
    if held_out is None:
        sources = [str(folder / "train.jsonl")]
        if not Path(sources[0]).exists():
            _write_texts(Path(sources[0]), (x for x in _texts(data) if not _is_held_out(x)))
    tokenise(folder / "tokens", sources, "gpt2", Options(workers=workers), say)
    return folder / "tokens", passages_file


def _write_texts(path: Path, texts: Iterable[str]) -> None:
    lines = (json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    write_atomically(path, "".join(lines).encode())


def _ready_shards(data: Sequence[str]) -> Path | None:
    """The folder of shards that `data` names; None if it does not name one."""
    is_shards = len(data) == 1 and (Path(data[0]) / "manifest.json").is_file()
    return Path(data[0]) if is_shards else None


def _texts(sources: Sequence[str]) -> Iterator[str]:
    for source in sources:
        if source == BUILTIN:
            yield from builtin_texts()
        else:
            for name in expand([source]):
                yield from documents(name)


def _is_held_out(text: str) -> bool:
    return hashlib.sha256(text.encode()).digest()[0] % _HELD_OUT_SHARE == 0
