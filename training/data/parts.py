"""Parts of a large data set: each process tokenises one, and the parts are joined afterwards."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from reviser.core.errors import ReviserError
from training.data.corpus import Manifest, ShardEntry, offsets_path, shard_is_whole, tokens_path

_FOLDER = re.compile(r"part-(\d+)-of-(\d+)")
# Who says which process of how many this is: torchrun, Slurm, an indexed job of Kubernetes.
_NAMES = (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"), ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"))

Each = TypeVar("Each")


@dataclass(frozen=True)
class Part:
    """Part `index`, counted from 0, of `count`."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    @property
    def folder(self) -> str:
        return f"part-{self.index:05}-of-{self.count:05}"

    @classmethod
    def said(cls, text: str) -> Part:
        """Parses the value of `--part`: INDEX/COUNT, or `rank`, which reads the environment."""
        if text == "rank":
            return cls._of_environment()
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if not found or not int(found[1]) < int(found[2]):
            raise ReviserError(f"{text} is not a part: write INDEX/COUNT, counted from 0, such as 0/8, or rank")
        return cls(int(found[1]), int(found[2]))

    @classmethod
    def _of_environment(cls) -> Part:
        for index, count in _NAMES:
            if index in os.environ and count in os.environ:
                return cls.said(f"{os.environ[index]}/{os.environ[count]}")
        names = " or ".join(f"{index} and {count}" for index, count in _NAMES)
        raise ReviserError(f"--part rank finds no {names} in the environment")

    def of(self, things: Iterable[Each]) -> Iterable[Each]:
        """Yields every `count`-th item, starting at this part's index."""
        return islice(things, self.index, None, self.count)


def join_parts(out: Path) -> Manifest:
    """Makes one folder of shards from the parts in `out`; files are moved, not copied.

    A call after an interruption continues where the last one ended.
    """
    parts = _parts_in(out)
    manifests = [Manifest.load(folder) for folder in parts]
    joined = Manifest.load(out) if (out / "manifest.json").exists() else None
    for folder, manifest in zip(parts, manifests, strict=True):
        if joined is not None and manifest.tokenizer.sha256 != joined.tokenizer.sha256:
            raise ReviserError(f"{folder} holds tokens of another tokenizer than the rest")
        joined = joined or replace(manifest, sources=())
        for source in manifest.sources:
            for shard in source.shards:
                _move(shard, folder, out)
        known = {(source.sha256, str(source.options)) for source in joined.sources}
        new = [s for s in manifest.sources if (s.sha256, str(s.options)) not in known]
        joined = replace(joined, sources=(*joined.sources, *new))
    assert joined is not None
    if not (out / "boundaries.npy").exists():
        (parts[0] / "boundaries.npy").replace(out / "boundaries.npy")
    joined.save(out)
    for folder in parts:
        for name in ("boundaries.npy", "manifest.json"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
    return joined


def _parts_in(out: Path) -> list[Path]:
    """The folders of all parts; raises `ReviserError` if some are missing."""
    found = {}
    for path in sorted(out.glob("part-*-of-*")):
        if (name := _FOLDER.fullmatch(path.name)) and (path / "manifest.json").exists():
            found[Part(int(name[1]), int(name[2]))] = path
    counts = {part.count for part in found}
    if len(counts) != 1:
        raise ReviserError(
            f"{out} holds parts of {len(counts)} divisions; one is wanted"
            if counts
            else f"{out} holds no parts to join"
        )
    (count,) = counts
    if missing := [number for number in range(count) if Part(number, count) not in found]:
        some = ", ".join(map(str, missing[:5])) + (" …" if len(missing) > 5 else "")
        raise ReviserError(f"{out} lacks {len(missing)} of {count} parts: {some}")
    return list(found.values())


def _move(shard: ShardEntry, folder: Path, out: Path) -> None:
    for path in (tokens_path, offsets_path):
        if path(folder, shard.name).exists():
            path(folder, shard.name).replace(path(out, shard.name))
    if not shard_is_whole(out, shard):
        raise ReviserError(f"shard {shard.name} of {folder} is damaged or incomplete")
