"""Small sets in the formats of the public ones, made up for the tests."""

from __future__ import annotations

from pathlib import Path

from benchmarks.proofreading.sets import ProofSet, from_m2, from_parallel
from benchmarks.proofreading.tokens import Style

M2 = """\
S The cat sit on the the mat .
A 2 3|||R:VERB:SVA|||sits|||REQUIRED|||-NONE-|||0
A 4 5|||U:DET||||||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:TENSE|||sat||sits|||REQUIRED|||-NONE-|||1
A 5 6|||U:DET|||-NONE-|||REQUIRED|||-NONE-|||1

S She is fine .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S A title
"""


def m2_set(folder: Path, score: str = "m2", text: str = M2) -> ProofSet:
    path = folder / "made-up.m2"
    path.write_text(text, "utf-8")
    return from_m2("made-up", path, score, Style())


def parallel_set(folder: Path) -> ProofSet:
    texts = {
        "src": "The cat sit on the mat .\nShe do n't know him .\n",
        "ref0": "The cat sits on the mat .\nShe does n't know him .\n",
        "ref1": "The cat sat on the mat .\nShe does not know him .\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    paths = [folder / f"{name}.txt" for name in texts]
    return from_parallel("made-up", paths[0], paths[1:], Style())
