"""`reviser apply`: carries out a list of actions on a file, all of them or none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reviser.cli.generate import offset_of
from reviser.errors import ReviserError

if TYPE_CHECKING:
    from reviser.documents import Document
    from reviser.manuscript import Manuscript


def apply(
    file: Annotated[
        Path, typer.Argument(help="Text file; - reads standard input.", show_default=False)
    ],
    actions: Annotated[
        Path,
        typer.Argument(help="JSON list of actions; - reads standard input.", show_default=False),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Print a unified diff and change nothing.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the result to this file.", metavar="OUT"),
    ] = None,
    cursor: Annotated[
        str | None,
        typer.Option(help="Where the cursor starts; by default at the end.", metavar="LINE:COL"),
    ] = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            help="Text that no action may change; may be repeated.", metavar="LINE:COL-LINE:COL"
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Count in tokens: gpt2, or a tokenizer.json. Characters by default."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: the diff and counts.")] = False,
) -> None:
    """Carry out actions on a file: insert, move, delete and others, from a JSON list.

    Every action is checked first. If one is refused, the file stays as it is and the exit status is 2.
    """
    from reviser.documents import Document, check_writable
    from reviser.files import write_atomically

    if str(file) == str(actions) == "-":
        raise ReviserError("the text and the actions cannot both be read from standard input")
    target = output or file
    to_stdout = str(target) == "-"
    if not dry_run and not to_stdout:
        check_writable(target)
    document = Document.read(file)
    requests = _read_actions(actions)
    manuscript = _manuscript(document, cursor, protect or [], tokenizer)
    edits = manuscript.act_all(requests)
    if not dry_run and not to_stdout and (output or manuscript.text != document.text):
        write_atomically(target, document.encode(manuscript.text))
    name = file.name if str(file) != "-" else "stdin"
    if json:
        typer.echo(_summary(file, manuscript, len(requests), len(edits), name), nl=False)
    elif dry_run:
        typer.echo(manuscript.diff(name), nl=False)
    elif to_stdout:
        typer.echo(manuscript.text, nl=False)
    else:
        typer.echo(f"{target}: {len(requests)} actions, {len(edits)} changes", err=True)


def _read_actions(path: Path) -> list[Any]:
    import json

    from reviser.files import read_utf8

    try:
        data = json.loads(read_utf8(path))
    except (json.JSONDecodeError, RecursionError):
        raise ReviserError(f"{path} is not JSON") from None
    if not isinstance(data, list):
        raise ReviserError(f"{path} does not hold a list of actions")
    return data


def _manuscript(
    document: Document, cursor: str | None, protect: list[str], tokenizer: str | None
) -> Manuscript:
    from reviser.manuscript import Manuscript
    from reviser.tokenizer import load_tokenizer

    text = document.text
    return Manuscript(
        text,
        load_tokenizer(tokenizer) if tokenizer else None,
        cursor=None if cursor is None else offset_of(text, cursor),
        protected=list(_ranges(text, protect)),
    )


def _ranges(text: str, protect: list[str]) -> Iterator[tuple[int, int]]:
    for given in protect:
        found = re.fullmatch(r"(\d+:\d+)-(\d+:\d+)", given)
        if not found:
            raise ReviserError(f"{given} is not a range; write LINE:COL-LINE:COL, such as 3:1-5:1")
        yield offset_of(text, found[1]), offset_of(text, found[2])


def _summary(file: Path, manuscript: Manuscript, actions: int, changes: int, name: str) -> str:
    import json

    cursor = manuscript.cursor
    data = {
        "file": str(file),
        "actions": actions,
        "changes": changes,
        "cursor": {"line": cursor.lines + 1, "column": cursor.column + 1},
        "diff": manuscript.diff(name),
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
