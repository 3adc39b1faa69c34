"""Build the list of English words that the proofreader knows from Debian's package `scowl`.

    apt-get install scowl
    python scripts/build_word_list.py

The lists of SCOWL have sizes: the smaller, the more common the words. This takes American and British words,
contractions, abbreviations and names up to size 70. A line of the result has a size and the words that come with
it, without genitives.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import typer

SIZES = (10, 20, 35, 40, 50, 55, 60, 70)
SPELLINGS = ("english", "american", "british", "british_z", "variant_1", "british_variant_1", "special")
KINDS = ("words", "contractions", "upper", "proper-names", "abbreviations", "hacker")
TARGET = Path("reviser/proofreading/spelling/words.txt.xz")


def words_of(folder: Path) -> dict[str, int]:
    """Each word with the smallest size that has it."""
    found: dict[str, int] = {}
    for size in SIZES:
        for spelling in SPELLINGS:
            for kind in KINDS:
                path = folder / f"{spelling}-{kind}.{size}"
                if path.exists():
                    for word in path.read_text("latin-1").split():
                        if not word.endswith("'s"):
                            found.setdefault(word, size)
    # "it's" and others like it are contractions, not genitives.
    for word in ("he's", "here's", "how's", "it's", "let's", "she's", "that's", "there's"):
        found[word] = SIZES[0]
    for word in ("what's", "when's", "where's", "who's", "why's"):
        found[word] = SIZES[0]
    return found


def main(folder: Path = Path("/usr/share/dict/scowl"), out: Path = TARGET) -> None:
    """Write the proofreader's list from SCOWL's lists in a folder."""
    found = words_of(folder)
    if not found:
        raise typer.BadParameter(f"{folder} has no lists of SCOWL", param_hint="--folder")
    lines = [" ".join([str(size), *sorted(word for word, of in found.items() if of == size)]) for size in SIZES]
    out.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(found)} words, {out.stat().st_size} bytes: {out}")


if __name__ == "__main__":
    typer.run(main)
