"""`reviser apply`: carries out a list of actions on a text, all of them or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reviser.cli.commands.generate import EncodingOption, FileArgument, InPlaceOption, OutputOption, offset_of
from reviser.cli.delivery import Delivery, print_diff, write_result
from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from reviser.session.action_editor import ActionEditor
    from reviser.session.documents import DocumentFile


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """The options of `apply`: the actions, the text, and the destination of the result."""

    file: FileArgument
    actions: Annotated[Path, Argument("JSON list of actions; - reads standard input")]
    encoding: EncodingOption = None
    in_place: InPlaceOption = False
    output: OutputOption = None
    diff: Annotated[bool, Option("print a unified diff and change nothing", flags=("--diff", "--dry-run"))] = False
    json: Annotated[bool, Option("print JSON: the text, the diff and counts")] = False
    cursor: Annotated[str | None, Option("where the cursor starts; by default at the end", metavar="LINE:COL")] = None
    protect: Annotated[
        tuple[str, ...], Option("text that no action may change; may be repeated", metavar="LINE:COL-LINE:COL")
    ] = ()
    tokenizer: Annotated[str | None, Option("count in tokens: gpt2, or a tokenizer.json; characters by default")] = None


def apply(options: ApplyOptions) -> None:
    """Carry out actions on a text, from a JSON list: insert, move, delete and others; print the result.

    The file is not changed unless --in-place is given. Every action is checked first: if one is refused,
    none is carried out and the exit status is 2. Exit status 1 means that another program changed the file
    meanwhile: then it is left alone, and the result is saved beside it.
    """
    from reviser.core.files import STREAM, input_name
    from reviser.session.documents import DocumentFile

    file, output = options.file, options.output
    if file == options.actions == STREAM:
        raise ReviserError("the text and the actions cannot both be read from standard input")
    delivery = Delivery(in_place=options.in_place, output=output, diff=options.diff, json=options.json)
    delivery.check([file])
    document = DocumentFile.read(file, options.encoding)
    requests = _read_actions(options.actions)
    editor = _action_editor(document, options.cursor, options.protect, options.tokenizer)
    changes = len(editor.act_all(requests))
    if options.json:
        typer.echo(_summary(document, editor, len(requests), changes))
    elif options.diff:
        print_diff(document, editor.text)
    else:
        write_result(document, editor.text, file if options.in_place else output or STREAM)
        done = f"{counted(len(requests), 'action')}, {counted(changes, 'change')}"
        typer.echo(f"{input_name(file)}: {done}", err=True)


def _read_actions(path: Path) -> list[Any]:
    import json

    from reviser.core.files import input_name, read_utf8

    try:
        data = json.loads(read_utf8(path))
    except (json.JSONDecodeError, RecursionError):
        raise ReviserError(f"{input_name(path)} is not JSON") from None
    if not isinstance(data, list):
        raise ReviserError(f"{input_name(path)} does not hold a list of actions")
    return data


def _action_editor(
    document: DocumentFile, cursor: str | None, protect: Sequence[str], tokenizer: str | None
) -> ActionEditor:
    from reviser.core.tokenizer import load_tokenizer
    from reviser.session.action_editor import ActionEditor

    text = document.text
    return ActionEditor(
        text,
        load_tokenizer(tokenizer) if tokenizer else None,
        cursor=None if cursor is None else offset_of(text, cursor),
        protected=_ranges(text, protect),
    )


def _ranges(text: str, protect: Sequence[str]) -> list[tuple[int, int]]:
    """The protected ranges in order; overlapping ones are joined."""
    places = []
    for given in protect:
        found = re.fullmatch(r"(\d+:\d+)-(\d+:\d+)", given)
        if not found:
            raise ReviserError(f"{given} is not a range; write LINE:COL-LINE:COL, such as 3:1-5:1")
        first, last = offset_of(text, found[1]), offset_of(text, found[2])
        if last < first:
            raise ReviserError(f"{given} ends before it starts")
        places.append((first, last))
    joined: list[tuple[int, int]] = []
    for first, last in sorted(places):
        if joined and first < joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined


def _summary(document: DocumentFile, editor: ActionEditor, actions: int, changes: int) -> str:
    import json

    cursor = editor.cursor
    data = {
        "file": str(document.path),
        "text": editor.text,
        "actions": actions,
        "changes": changes,
        "cursor": {"line": cursor.lines + 1, "column": cursor.column + 1},
        "diff": document.diff(editor.text),
    }
    return json.dumps(data, ensure_ascii=False, indent=2)
