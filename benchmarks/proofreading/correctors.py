"""Programs that correct plain sentences, behind one protocol: our models, Harper, typos, codespell, and files.

A file has the sentences as corrected by a program on another machine, one per line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8

HARPER = "harper.js@2.10"


class Corrector(Protocol):
    """A program that gets plain sentences and returns each, corrected or unchanged."""

    @property
    def name(self) -> str: ...

    def correct(self, texts: list[str]) -> list[str]: ...


class NotInstalled(ReviserError):
    """The error of a program that is not installed."""


class Unchanged:
    """A corrector that changes nothing."""

    name = "unchanged"

    def correct(self, texts: list[str]) -> list[str]:
        return list(texts)


class ReviserCorrector:
    """A reviser model, used as `reviser revise` does."""

    def __init__(
        self, name: str, model: str | None, confidence: float | None = None, calibration: Path | None = None
    ) -> None:
        from reviser.proofreading.guard.calibration import read_calibration
        from reviser.proofreading.pipeline import Proofreader
        from reviser.proofreading.project.settings import CONFIDENCE
        from reviser.session.engine import load_engine

        self.name = name
        engine = load_engine(model)
        dial = CONFIDENCE if confidence is None else confidence
        self._proofreader = Proofreader(
            engine.policy,
            engine.tokenizer,
            confidence=dial,
            calibration=read_calibration(calibration) if calibration else None,
        )

    def correct(self, texts: list[str]) -> list[str]:
        from reviser.proofreading.document import Draft

        done = self._proofreader.proofread_all([Draft(text) for text in texts])
        return [" ".join(one.text.split()) for one in done]


class Harper:
    """Harper in Node, by its npm package; the first suggestion of each lint is taken."""

    name = "harper"

    def __init__(self) -> None:
        self._node = shutil.which("node") or ""
        if not self._node:
            raise NotInstalled("Harper runs in Node, which is not installed")
        self._modules = _folder_of_harper(self._node)

    def correct(self, texts: list[str]) -> list[str]:
        script = Path(__file__).with_name("harper.mjs")
        result = subprocess.run(
            [self._node, str(script), str(self._modules)],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            reason = (result.stderr.strip().splitlines() or ["it did not say why"])[-1]
            raise ReviserError(f"Harper failed: {reason}")
        corrected: list[str] = json.loads(result.stdout)
        return corrected


def _folder_of_harper(node: str) -> Path:
    """The folder of the npm package in NODE_PATH, this folder or npm's global one."""
    npm = shutil.which("npm")
    everywhere = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False).stdout if npm else ""
    named = filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep))
    for root in (*map(Path, named), Path("node_modules"), Path(everywhere.strip() or ".")):
        if (root / "harper.js" / "package.json").is_file():
            return (root / "harper.js").resolve()
    raise NotInstalled(f"Harper is not installed: npm install {HARPER}, here or in a folder that NODE_PATH names")


class _InPlaceCorrector:
    """A program that corrects a text file in place."""

    def __init__(self, program: str) -> None:
        beside = Path(sys.executable).with_name(program)
        found = str(beside) if beside.is_file() else shutil.which(program)
        if found is None:
            raise NotInstalled(f"{program} is not installed: pip install {program}")
        self.name = program
        self._command = found

    _arguments: Sequence[str] = ()

    def correct(self, texts: list[str]) -> list[str]:
        with tempfile.TemporaryDirectory(prefix="reviser-proofreading-") as folder:
            file = Path(folder) / "sentences.txt"
            file.write_text("".join(f"{text}\n" for text in texts), "utf-8")
            command = [self._command, *self._arguments, str(file)]
            subprocess.run(command, capture_output=True, check=False, cwd=folder)
            return file.read_text("utf-8").split("\n")[:-1]


class Codespell(_InPlaceCorrector):
    """codespell with its default dictionary; words with several corrections are left alone."""

    _arguments = ("--write-changes",)

    def __init__(self) -> None:
        super().__init__("codespell")


class Typos(_InPlaceCorrector):
    """typos with its default settings."""

    _arguments = ("--write-changes", "--isolated", "--no-ignore")

    def __init__(self) -> None:
        super().__init__("typos")


class FromFile:
    """The output of another program: a file with a line for each sentence."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path

    def correct(self, texts: list[str]) -> list[str]:
        lines = read_utf8(self._path).split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        if len(lines) != len(texts):
            raise ReviserError(
                f"{self._path} has {counted(len(lines), 'line')} where the set has {counted(len(texts), 'sentence')}"
            )
        return [line.strip() for line in lines]


_NAMES: dict[str, Callable[[], Corrector]] = {
    "reviser": lambda: ReviserCorrector("reviser", None),
    "unchanged": Unchanged,
    "harper": Harper,
    "typos": Typos,
    "codespell": Codespell,
}
NAMES = tuple(_NAMES)
_OTHER = re.compile(r"(file|model|calibration):(?:([^=]+)=)?(.+)")
_AT = re.compile(r"reviser@(0(?:\.\d+)?|1(?:\.0+)?)")


@cache
def _program(given: str) -> Corrector:
    """Starts a program, once for all sets."""
    if at := _AT.fullmatch(given):
        return ReviserCorrector(given, None, float(at[1]))
    match = _OTHER.fullmatch(given)
    if match is None:
        return _NAMES[given]()
    if match[1] == "calibration":
        return ReviserCorrector(shown_name(given), None, calibration=Path(match[3]))
    return ReviserCorrector(shown_name(given), match[3])


def check_name(given: str) -> None:
    """Raises `ReviserError` if there is no corrector of this name."""
    if given not in _NAMES and not _OTHER.fullmatch(given) and not _AT.fullmatch(given):
        raise ReviserError(
            f"there is no corrector {given}; there are {', '.join(NAMES)}, "
            "reviser@CONFIDENCE, model:NAME=MODEL, calibration:NAME=PATH and file:NAME=PATH"
        )


def shown_name(given: str) -> str:
    """The name of a corrector in tables."""
    match = _OTHER.fullmatch(given)
    return (match[2] or Path(match[3]).stem) if match else given


def corrector(given: str, set_name: str) -> Corrector:
    """The corrector of that name for a set; file:NAME=PATH takes PATH, or PATH/SET.txt in a folder."""
    check_name(given)
    match = _OTHER.fullmatch(given)
    if match is None or match[1] != "file":
        return _program(given)
    path = Path(match[3])
    if not path.is_dir():
        return FromFile(shown_name(given), path)
    if not (path / f"{set_name}.txt").is_file():
        raise NotInstalled(f"{path} has no {set_name}.txt")
    return FromFile(shown_name(given), path / f"{set_name}.txt")
