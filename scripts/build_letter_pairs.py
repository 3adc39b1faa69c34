"""Build the table of letter pairs by which the proofreader tells English from other languages, from langdetect's
profiles.

    pip download langdetect==1.0.9 --no-deps --no-binary :all: && tar xzf langdetect-1.0.9.tar.gz
    python scripts/build_letter_pairs.py langdetect-1.0.9/langdetect/profiles

A profile counts the sequences of one to three letters in a language's Wikipedia. The table has, for each language,
how likely each letter follows each other one, as quarters of a negative logarithm: a byte each, English first.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import typer

from reviser.proofreading.language.letters import LETTERS, SHIPPED, folded
from reviser.proofreading.language.small_words import FOREIGN

# Pairs that every pair is taken to have been seen with, in all, so that none is impossible.
_SMOOTHING = 50


def pairs_of(profile: Path) -> np.ndarray:
    """The counts of how often each letter follows each other one, with letters stripped of accents."""
    counts = np.zeros((len(LETTERS), len(LETTERS)))
    for sequence, count in json.loads(profile.read_text("utf-8"))["freq"].items():
        # The edge of a word is written as a space.
        plain = folded(sequence).replace(" ", LETTERS[0])
        if len(sequence) == len(plain) == 2 and set(plain) <= set(LETTERS):
            counts[LETTERS.index(plain[0]), LETTERS.index(plain[1])] += count
    return counts


def table(folder: Path) -> bytes:
    languages = ["en", *(name for name in sorted(FOREIGN) if (folder / name).exists())]
    rows = []
    for name in languages:
        counts = pairs_of(folder / name)
        letters = (counts.sum(axis=0) + 1) / (counts.sum() + len(LETTERS))
        chances = (counts + _SMOOTHING * letters) / (counts.sum(axis=1, keepdims=True) + _SMOOTHING)
        rows.append(np.clip(np.round(-4 * np.log(chances)), 0, 255).astype(np.uint8).tobytes())
    head = " ".join(languages).encode() + b"\n"
    return head + b"".join(rows)


def main(folder: Path, out: Path = SHIPPED) -> None:
    """Write the proofreader's table from the profiles in a folder."""
    out.write_bytes(lzma.compress(table(folder), preset=9 | lzma.PRESET_EXTREME))
    print(f"{out.stat().st_size} bytes: {out}")


if __name__ == "__main__":
    typer.run(main)
