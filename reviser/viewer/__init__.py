"""The viewer: one self-contained web page that replays recorded trajectories step by step."""

import html
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from string import Template

KINDS = ("insert", "move", "stop", "delete", "replace", "swap", "span")

# Inside a script element only these characters can start something that ends or confuses it.
_SCRIPT_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class ViewerStep:
    """One action: its character edits, in order, and the cursor after it.

    Offsets count UTF-16 units, as JavaScript strings do.
    """

    label: str
    kind: str
    edits: tuple[tuple[int, int, str], ...]
    cursor: int
    probability: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind of step {self.kind!r}; known: {', '.join(KINDS)}")


@dataclass(frozen=True, slots=True)
class ViewerTrajectory:
    """A starting text with its protected ends, and the steps taken from there."""

    name: str
    start_text: str
    prefix: int
    suffix: int
    start_cursor: int
    steps: tuple[ViewerStep, ...]
    expected: str | None = None
    facts: tuple[tuple[str, str], ...] = ()


def render_page(trajectories: Sequence[ViewerTrajectory], title: str = "Reviser trajectories") -> str:
    """One HTML document that replays the trajectories and needs no other file."""
    if not trajectories:
        raise ValueError("a viewer page needs at least one trajectory")
    return Template(_part("page.html")).substitute(
        title=_escape_markup(title),
        style=_part("page.css"),
        data=_escape_data([asdict(trajectory) for trajectory in trajectories]),
        script=_part("page.js"),
    )


def _part(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def _escape_markup(text: str) -> str:
    # Character references keep even a lone surrogate, which UTF-8 could not write, out of the file.
    return html.escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _escape_data(data: object) -> str:
    # Pure ASCII: line separators and lone surrogates arrive in the page as they left Python.
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(_SCRIPT_ESCAPES)
