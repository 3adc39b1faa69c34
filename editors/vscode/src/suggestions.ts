/**
 * Suggestions that arrive late. Where VS Code shows its own list of words as you type, it cancels ghost
 * text after less than a second and does not ask again: nothing would be seen of a model that is still loading.
 * A request cancelled while nothing has changed is therefore completed, and its answer offered once more.
 */

import * as vscode from 'vscode';

type Items = vscode.InlineCompletionItem[] | vscode.InlineCompletionList | undefined | null;

type Next = (
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  token: vscode.CancellationToken,
) => vscode.ProviderResult<Items>;

/** A position in a version of a document. */
interface Place {
  document: vscode.TextDocument;
  version: number;
  position: vscode.Position;
}

export class Suggestions {
  private late: { place: Place; items: Items } | undefined;

  async provide(
    document: vscode.TextDocument,
    position: vscode.Position,
    context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
    next: Next,
  ): Promise<Items> {
    const place = { document, version: document.version, position };
    const late = this.late;
    this.late = undefined;
    if (late && isSame(late.place, place) && !context.selectedCompletionInfo) {
      return late.items;
    }
    const source = new vscode.CancellationTokenSource();
    const watches = [
      token.onCancellationRequested(() => isCurrent(place) || source.cancel()),
      vscode.workspace.onDidChangeTextDocument(() => isCurrent(place) || source.cancel()),
      vscode.window.onDidChangeTextEditorSelection(() => isCurrent(place) || source.cancel()),
      source,
    ];
    try {
      const items = await next(document, position, context, source.token);
      if (token.isCancellationRequested && isCurrent(place) && count(items) > 0) {
        this.late = { place, items };
        void vscode.commands.executeCommand('editor.action.inlineSuggest.trigger');
      }
      return items;
    } finally {
      vscode.Disposable.from(...watches).dispose();
    }
  }
}

function isSame(one: Place, other: Place): boolean {
  return (
    one.document === other.document &&
    one.version === other.version &&
    one.position.isEqual(other.position)
  );
}

/** Whether document, version and cursor are still the same. */
function isCurrent({ document, version, position }: Place): boolean {
  const editor = vscode.window.activeTextEditor;
  return (
    editor?.document === document &&
    document.version === version &&
    editor.selection.isEmpty &&
    editor.selection.active.isEqual(position)
  );
}

function count(items: Items): number {
  return (Array.isArray(items) ? items : (items?.items ?? [])).length;
}
