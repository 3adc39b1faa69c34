"""Lists of words that must stay: the user's, a project's, and any others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from reviser.core.errors import FileChanged, ReviserError
from reviser.core.files import STREAM, home_folder, read_bytes, read_utf8, write_atomically

PROJECT_FILE: Final = Path(".reviser") / "words.txt"
"""The path of a project's list of words, relative to its folder."""

# Another program may write the list at the same time.
_ATTEMPTS: Final = 8
_WORD = re.compile(r"\w+(?:'\w+)*")


def user_file() -> Path:
    """The user's list of words: `$REVISER_HOME/words.txt`, or the platform's place for configuration."""
    return home_folder("XDG_CONFIG_HOME", ".config") / "words.txt"


def project_file(path: Path) -> Path | None:
    """The list of words of a file's project: the nearest one, from the file's folder upward; None if there is none."""
    start = Path.cwd() if path == STREAM else path.resolve().parent
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder / PROJECT_FILE
    return None


def project_folder(path: Path, roots: Iterable[Path] = ()) -> Path | None:
    """The folder of a file's project: the nearest with a `.reviser`, else the nearest of `roots`, else that of the
    git repository."""
    folders = path.resolve().parents
    tops = {root.resolve() for root in roots}
    for is_top in (
        lambda folder: (folder / PROJECT_FILE.parent).is_dir(),
        lambda folder: folder in tops,
        lambda folder: (folder / ".git").exists(),
    ):
        if found := next(filter(is_top, folders), None):
            return found
    return None


def add_line(path: Path, line: str, head: str = "") -> None:
    """Add a line to a list; a new list begins with the comment `head`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReviserError(f"{path.parent} cannot be made: {error.strerror}") from None
    for attempt in range(_ATTEMPTS):
        before = read_bytes(path) if path.exists() else None
        data = before if before is not None else head.encode()
        ending = b"\r\n" if b"\r\n" in data else b"\n"
        if data and not data.endswith(b"\n"):
            data += ending
        try:
            write_atomically(path, data + line.encode() + ending, replacing=before)
            return
        except FileChanged:
            if attempt + 1 == _ATTEMPTS:
                raise


def add_word(path: Path, word: str) -> bool:
    """Add a word to a list; returns False if it is there already."""
    term = _from_word_to_word(word)
    if not term:
        raise ReviserError(f'"{word}" holds no word to add')
    if path.exists() and Words.read(path)._holds(term):
        return False
    add_line(path, term)
    return True


class Words:
    """Names and terms of one or several words.

    A term in lower case also matches with a capital, as at the start of a sentence; one with capitals matches only as
    written. `accepted` are single words in lower case that a project uses: they are terms where the list of English
    words has them not.
    """

    def __init__(self, terms: Iterable[str] = (), accepted: Iterable[str] = ()) -> None:
        self._terms = {_from_word_to_word(term) for term in terms} - {""}
        self.accepted = frozenset(accepted)
        self._most = max((len(_WORD.findall(term)) for term in self._terms), default=0)

    @classmethod
    def read(cls, *paths: Path) -> Words:
        """The words of files with one on each line; lines that start with `#` are comments."""
        return cls(term for path in paths for term in _lines(path))

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self._terms)

    def __or__(self, other: Words) -> Words:
        return Words(self._terms | other._terms, self.accepted | other.accepted)

    def __bool__(self) -> bool:
        return bool(self._terms or self.accepted)

    def within(self, text: str) -> Words:
        """The same without accepted words that a text has not."""
        if not self.accepted:
            return self
        return Words(
            self._terms, {form for word in set(_WORD.findall(text)) for form in forms_of(word)} & self.accepted
        )

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The ranges of terms in a text, without a genitive ending; of those with the same start, the longest."""
        if not self._terms:
            return
        text = _plain(text)
        found = [match.span() for match in _WORD.finditer(text)]
        for first, (start, _) in enumerate(found):
            for _, end in reversed(found[first : first + self._most]):
                whole = text[start:end]
                held = [form for form in (whole, whole.removesuffix("'s")) if self._holds(form)]
                if held:
                    yield start, start + len(held[0])
                    break

    def _holds(self, text: str) -> bool:
        term = " ".join(text.split())
        return term in self._terms or term.lower() in self._terms


def forms_of(word: str) -> Iterator[str]:
    """The forms under which a word may be listed: in lower case without genitive or plural, or as a plural."""
    form = bare_word(word).lower()
    yield form
    for ending in ("s", "es"):
        if form.endswith(ending):
            yield form.removesuffix(ending)
    yield f"{form}s"


def bare_word(word: str) -> str:
    """The word without the ending of a genitive or a contraction."""
    return re.split(r"['’](?=\w{1,2}\Z)", word)[0].rstrip("'’-")


def _lines(path: Path) -> Iterator[str]:
    if path == STREAM:
        raise ReviserError("a list of words is a file; standard input is for the text")
    for line in read_utf8(path).splitlines():
        if not line.lstrip().startswith("#"):
            yield line


def _from_word_to_word(term: str) -> str:
    """A term without the marks around it, and with single spaces."""
    found = [match.span() for match in _WORD.finditer(_plain(term))]
    return " ".join(_plain(term)[found[0][0] : found[-1][1]].split()) if found else ""


def _plain(text: str) -> str:
    return text.replace("’", "'")
