"""The few messages of ours that the protocol has no types for, in its own style."""

from __future__ import annotations

from typing import Any

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from lsprotocol import types
from pygls.protocol import default_converter

RUN = "reviser/run"
STATUS = "reviser/status"
TEXT = "reviser/text"


@attrs.frozen
class RunParams:
    """`reviser/run`, to the editor: where a live run stands, in positions of `version`.

    `region` is all that the run has written, `fresh` what its last edit inserted, `cursor` the model's.
    """

    uri: str
    version: int
    run_id: str
    state: str
    region: types.Range
    cursor: types.Position
    fresh: list[types.Range]
    actions: int
    actions_per_second: float
    reason: str | None = None


@attrs.frozen
class Status:
    """`reviser/status`, to the editor, and the answer to the command `reviser.status`."""

    state: str
    model: str | None
    model_loaded: bool
    enabled: bool
    actions_per_second: float
    run_id: str | None = None
    requests: int = 0
    from_cache: int = 0
    superseded: int = 0
    evaluated: int = 0
    before: int = 0
    reused: int = 0


@attrs.frozen
class TextResult:
    """The answer to `reviser/text`: a document as the server has it."""

    text: str
    version: int


@attrs.frozen
class UnreadableAnswer:
    """The answer to what was no message, and so has no id; lsprotocol's own would leave the id out."""

    error: types.ResponseError
    id: None = None
    jsonrpc: str = "2.0"


@attrs.frozen
class Target:
    """The argument of a command: a document, and where in it; `run_id` for those about a run."""

    uri: str | None = None
    position: types.Position | None = None
    range: types.Range | None = None
    run_id: str | None = None
    enabled: bool | None = None
    model: str | None = None


def make_converter() -> Converter:
    """The protocol's own converter, which knows our messages too."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    for kind in (RunParams, Status, TextResult, UnreadableAnswer):
        names: dict[str, Any] = {
            field.name: override(rename=_camel_case(field.name)) for field in attrs.fields(kind)
        }
        converter.register_unstructure_hook(
            kind, make_dict_unstructure_fn(kind, converter, **names)
        )
    converter.register_structure_hook(
        Target,
        make_dict_structure_fn(Target, converter, run_id=override(rename="runId")),
    )
    return converter


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
