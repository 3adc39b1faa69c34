"""The messages that Reviser adds to the protocol, in the protocol's own style."""

from __future__ import annotations

from typing import Any

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from lsprotocol import types
from pygls.protocol import default_converter

CHANGES = "reviser/changes"
INLINE_EDIT = "textDocument/copilotInlineEdit"
NEXT_EDITS = "reviser/nextEdits"
RUN = "reviser/run"
STATUS = "reviser/status"
TEXT = "reviser/text"


@attrs.frozen
class RunParams:
    """`reviser/run`, to the editor: the state of a live run, in positions of `version`.

    `region` is all that the run has written or revises, `fresh` what its last edit inserted, `cursor` the model's. If
    `said` is true, the user has been told the `reason` with window/showMessage.
    """

    uri: str
    version: int
    run_id: str
    kind: str
    state: str
    region: types.Range
    cursor: types.Position
    fresh: list[types.Range]
    actions: int
    actions_per_second: float
    reason: str | None = None
    said: bool = False


@attrs.frozen
class PendingChange:
    """A change of a run that waits to be kept or reverted: the text in `range` is new and replaced `old`."""

    id: str
    run_id: str
    range: types.Range
    old: str
    new: str


@attrs.frozen
class ChangesParams:
    """`reviser/changes`, to the editor: all pending changes of a document, in positions of `version`."""

    uri: str
    version: int
    changes: list[PendingChange]


@attrs.frozen
class OfferedEdit:
    """A next edit: `old`, which stands in `range`, could become `new`, and so in as many `places` for that `reason`."""

    range: types.Range
    old: str
    new: str
    reason: str
    places: int
    confidence: float


@attrs.frozen
class NextEditsParams:
    """`reviser/nextEdits`, to the editor: all next edits of a document, in positions of `version`."""

    uri: str
    version: int
    edits: list[OfferedEdit]


@attrs.frozen
class InlineEdit:
    """A next edit in the notation of `textDocument/copilotInlineEdit`; its `command` is run once it is made."""

    text: str
    range: types.Range
    text_document: types.VersionedTextDocumentIdentifier
    command: types.Command


@attrs.frozen
class InlineEdits:
    """The answer to `textDocument/copilotInlineEdit`."""

    edits: list[InlineEdit]


@attrs.frozen
class Status:
    """`reviser/status`, to the editor, and the answer to the command `reviser.status`."""

    state: str
    model: str | None
    model_loaded: bool
    enabled: bool
    actions_per_second: float
    run_id: str | None = None
    problem: str | None = None
    requests: int = 0
    from_cache: int = 0
    superseded: int = 0
    evaluated: int = 0
    before: int = 0
    reused: int = 0
    paragraphs_read: int = 0


@attrs.frozen
class TextResult:
    """The answer to `reviser/text`: a document as the server has it."""

    text: str
    version: int


@attrs.frozen
class UnreadableAnswer:
    """The answer to a message that could not be read, with a null id, which lsprotocol's own type would leave out."""

    error: types.ResponseError
    id: None = None
    jsonrpc: str = "2.0"


@attrs.frozen
class Target:
    """The argument of a command: a document and a place in it; `run_id` and `change_id` for commands about one of
    these.
    """

    uri: str | None = None
    position: types.Position | None = None
    range: types.Range | None = None
    run_id: str | None = None
    change_id: str | None = None
    enabled: bool | None = None
    model: str | None = None
    word: str | None = None
    words: str | None = None


_OWN: tuple[type[attrs.AttrsInstance], ...] = (
    RunParams, PendingChange, ChangesParams, OfferedEdit, NextEditsParams, InlineEdit, InlineEdits, Status, TextResult,
    UnreadableAnswer,
)  # fmt: skip


def make_converter() -> Converter:
    """The protocol's own converter, extended by the messages of this module."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    for kind in _OWN:
        converter.register_unstructure_hook(kind, make_dict_unstructure_fn(kind, converter, **_camel_cased(kind)))
    converter.register_structure_hook(Target, make_dict_structure_fn(Target, converter, **_camel_cased(Target)))
    return converter


def _camel_cased(kind: type[attrs.AttrsInstance]) -> dict[str, Any]:
    return {field.name: override(rename=_camel_case(field.name)) for field in attrs.fields(kind)}


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
