"""Quick fixes for findings, as code actions of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from lsprotocol import types

from lsp_server.documents.document import EditorDocument
from lsp_server.proofreading.diagnostics import diagnostic
from lsp_server.runs.editor import range_of
from reviser.core.edits import Edit, placed_change
from reviser.editor.lists import unknown_word
from reviser.proofreading.suggestion import Suggestion, quoted

FIX_ALL = "source.fixAll.reviser"
_SHOWN = 40

# A function from text edits in a document to a workspace edit.
WorkspaceEdit = Callable[[EditorDocument, Sequence[types.TextEdit]], types.WorkspaceEdit]


def text_edits(document: EditorDocument, findings: Sequence[Suggestion]) -> list[types.TextEdit]:
    """The edits that fix findings."""
    changes = [placed_change(document.text, one.edit) for one in findings]
    return [_text_edit(document, change) for change in changes]


def _text_edit(document: EditorDocument, change: Edit) -> types.TextEdit:
    return types.TextEdit(range_of(document, change.start, change.end), change.new)


def quick_fixes(
    document: EditorDocument, here: Sequence[Suggestion], everywhere: Sequence[Suggestion], edit: WorkspaceEdit
) -> Iterator[types.CodeAction]:
    """The code actions for the findings `here`, first those for one finding, then those for several."""
    for one in here:
        yield code_action(document, f"Fix: {_short(one.says)}", [one], [one], edit)
    for one in here:
        yield from _leave(document, one)
    for kind in dict.fromkeys(one.kind for one in here):
        same = [one for one in everywhere if one.kind == kind]
        if len(same) > 1:
            yield code_action(document, f"Fix all of the kind “{kind}” ({len(same)})", [], same, edit)
    if here and len(everywhere) > 1:
        title = f"Fix all in the document ({len(everywhere)})"
        yield code_action(document, title, [], everywhere, edit)


def fix_all(
    document: EditorDocument, everywhere: Sequence[Suggestion], edit: WorkspaceEdit
) -> Iterator[types.CodeAction]:
    if everywhere:
        yield types.CodeAction(
            title=f"Reviser: fix all ({len(everywhere)})",
            kind=FIX_ALL,
            edit=edit(document, text_edits(document, everywhere)),
        )


def code_action(
    document: EditorDocument,
    title: str,
    about: Sequence[Suggestion],
    made: Sequence[Suggestion] = (),
    edit: WorkspaceEdit | None = None,
    command: types.Command | None = None,
) -> types.CodeAction:
    """A quick fix for the findings that it is `about`; it makes some of them as one edit, or runs a command."""
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(document, one, related=False) for one in about] or None,
        is_preferred=(bool(about) and list(made) == list(about)) or None,
        edit=edit(document, text_edits(document, made)) if edit else None,
        command=command,
    )


def _leave(document: EditorDocument, finding: Suggestion) -> Iterator[types.CodeAction]:
    """Code actions that ignore a finding here, or add its word to a list if it is unknown."""
    place = {"uri": document.uri, "range": place_of(document, finding)}
    offers: list[tuple[str, str, Mapping[str, object]]] = [
        (f"Ignore here: {_short(finding.says)}", "reviser.ignoreFinding", place)
    ]
    if (unknown := unknown_word(finding)) is not None:
        word: dict[str, object] = {"uri": document.uri, "word": unknown}
        for owner, whose in (("project", "the project's"), ("user", "your")):
            title = f"Add {quoted(unknown)} to {whose} words"
            offers.append((title, "reviser.addWord", word | {"words": owner}))
    for title, command, argument in offers:
        yield code_action(document, title, [finding], command=types.Command(title, command, arguments=[argument]))


def place_of(document: EditorDocument, finding: Suggestion) -> dict[str, object]:
    """The range of a finding's old text, as an argument of a command."""
    places = [document.place(at) for at in (finding.start, finding.end)]
    first, last = ({"line": at.line, "character": at.column} for at in places)
    return {"start": first, "end": last}


def _short(text: str) -> str:
    return text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN - 1] + "…"
