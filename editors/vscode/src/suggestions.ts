/**
 * Lets a suggestion arrive late. Where VS Code shows its own list of words as you type, it gives up on ghost
 * text after less than a second, and does not ask again: a model that has yet to be loaded would stay unseen.
 * A request given up while nothing has changed is therefore seen through, and its answer offered once more.
 */

import * as vscode from 'vscode';

type Items = vscode.InlineCompletionItem[] | vscode.InlineCompletionList | undefined | null;

type Next = (
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  token: vscode.CancellationToken,
) => vscode.ProviderResult<Items>;

/** A place in a version of a document. */
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

/** Whether the user still is where they were. */
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
