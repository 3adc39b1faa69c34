"""Next edits as editors show them: diagnostics, quick fixes, and messages for editors that draw them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lsprotocol import types

from lsp_server.documents.document import EditorDocument
from lsp_server.messages import InlineEdit, InlineEdits, NextEditsParams, OfferedEdit
from lsp_server.proofreading.fixes import WorkspaceEdit, code_action, place_of, text_edits
from lsp_server.runs.editor import range_of
from reviser.next_edits.following import OWN_REASON
from reviser.proofreading.suggestion import Suggestion

ACCEPT, ACCEPT_ALL, REFUSE, FOLLOW = (
    "reviser.acceptNextEdit",
    "reviser.acceptAllNextEdits",
    "reviser.refuseNextEdit",
    "reviser.followEdits",
)
LABEL = "Reviser next edit"


def alike(offer: Suggestion, offers: Sequence[Suggestion]) -> list[Suggestion]:
    """The offers that follow the same edit of the user; one that a model made up follows none."""
    return [one for one in offers if one == offer or (one.reason == offer.reason != OWN_REASON)]


def quick_fixes(
    document: EditorDocument, here: Sequence[Suggestion], offers: Sequence[Suggestion], edit: WorkspaceEdit
) -> Iterator[types.CodeAction]:
    """The code actions for the offers `here`: make one, make all alike, refuse it."""
    for one in here:
        yield code_action(document, f"{one.reason}: do so here", [one], [one], edit)
        same = alike(one, offers)
        if len(same) > 1:
            yield code_action(document, f"Apply to all {len(same)} places", [one], same, edit)
        title = "Do not suggest this"
        argument = {"uri": document.uri, "range": place_of(document, one)}
        yield code_action(document, title, [one], command=types.Command(title, REFUSE, arguments=[argument]))


def describe(document: EditorDocument, offers: Sequence[Suggestion]) -> NextEditsParams:
    """The offers for an editor that draws them."""
    places = Counter(one.reason for one in offers)
    return NextEditsParams(
        document.uri,
        document.version,
        [
            OfferedEdit(
                range=range_of(document, one.start, one.end),
                old=one.old,
                new=one.new,
                reason=one.reason,
                places=1 if one.reason == OWN_REASON else places[one.reason],
                confidence=round(one.confidence, 4),
            )
            for one in offers
        ],
    )


def inline_edits(document: EditorDocument, offers: Sequence[Suggestion], offset: int) -> InlineEdits:
    """The nearest offer, the next one before the one behind, as the answer to `textDocument/copilotInlineEdit`.

    The edits of such an answer are alternatives, so there is one.
    """
    nearest = min(offers, key=lambda one: (max(one.start - offset, offset - one.end), one.end <= offset), default=None)
    if nearest is None:
        return InlineEdits([])
    [edit] = text_edits(document, [nearest])
    follow = types.Command("Look for the next one", FOLLOW, arguments=[{"uri": document.uri}])
    identifier = types.VersionedTextDocumentIdentifier(document.version, document.uri)
    return InlineEdits([InlineEdit(edit.new_text, edit.range, identifier, follow)])
