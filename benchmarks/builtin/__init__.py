"""Texts that come with the package: passages of public speeches, in the public domain."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from importlib import resources


def builtin_texts() -> Iterator[str]:
    """The passages, in the order of the years they were spoken."""
    packed = resources.files(__name__).joinpath("speeches.jsonl.xz").read_bytes()
    # Not splitlines(): it would also split at characters that end no line of JSON.
    for line in lzma.decompress(packed).decode().split("\n"):
        if line:
            yield json.loads(line)["text"]
