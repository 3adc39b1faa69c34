/**
 * Next edits: what else to change after the user's own edits. The nearest is drawn in the text, the old struck out and
 * the new beside it; away from it, a few words at the cursor's line say where it is. While the user types, none is shown.
 */

import * as vscode from 'vscode';
import { asRange } from './edits';
import type { NextEditsNews } from './protocol';
import { followSpan, type Span } from './spans';

const SHOWN = 40;

interface Offer extends Span {
  old: string;
  new: string;
}

/** The offers of a document; they are not shown between a key and the server's next message. */
interface Offers {
  all: Offer[];
  rests: boolean;
}

export class NextEdits implements vscode.Disposable {
  private readonly known = new Map<string, Offers>();
  private readonly old = vscode.window.createTextEditorDecorationType({
    color: new vscode.ThemeColor('reviser.changeOld'),
    textDecoration: 'line-through',
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly hint = vscode.window.createTextEditorDecorationType({});
  private readonly disposables = [
    this.old,
    this.hint,
    vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
    vscode.workspace.onDidCloseTextDocument((document) => this.known.delete(document.uri.toString())),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.draw(textEditor)),
    vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.draw(editor))),
    vscode.window.onDidChangeActiveTextEditor((editor) => this.setContext(editor)),
  ];

  /** The offer that is shown in an editor: the one at the cursor, else the next; after the last comes the first. */
  shown(editor: vscode.TextEditor): vscode.Range | undefined {
    const offer = this.nearest(editor);
    return offer && rangeOf(editor.document, offer);
  }

  show(news: NextEditsNews): void {
    const uri = vscode.Uri.parse(news.uri).toString();
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri);
    // Positions of another version: the next message comes when the user pauses.
    if (!document || document.version !== news.version || news.edits.length === 0) {
      this.known.delete(uri);
    } else {
      const all = news.edits.map((edit) => {
        const { start, end } = asRange(edit.range);
        return { start: document.offsetAt(start), end: document.offsetAt(end), old: edit.old, new: edit.new };
      });
      this.known.set(uri, { all, rests: false });
    }
    this.redraw(uri);
  }

  clear(): void {
    const uris = [...this.known.keys()];
    this.known.clear();
    uris.forEach((uri) => this.redraw(uri));
  }

  /** Go to the offer that is shown; false if the cursor is there already. */
  jump(editor: vscode.TextEditor): boolean {
    const range = this.shown(editor);
    if (!range || range.contains(editor.selection.active)) {
      return false;
    }
    editor.selection = new vscode.Selection(range.start, range.start);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return true;
  }

  dispose(): void {
    this.clear();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private nearest(editor: vscode.TextEditor): Offer | undefined {
    const offers = this.known.get(editor.document.uri.toString());
    if (!offers || offers.rests) {
      return undefined;
    }
    const here = editor.document.offsetAt(editor.selection.active);
    return offers.all.find(({ end }) => end >= here) ?? offers.all[0];
  }

  /** Move the offers with a change, and leave out those that it touches. */
  private follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const uri = document.uri.toString();
    const offers = this.known.get(uri);
    if (!offers || contentChanges.length === 0) {
      return;
    }
    let { all } = offers;
    for (const change of contentChanges) {
      const last = change.rangeOffset + change.rangeLength;
      all = all.filter(({ start, end }) => end < change.rangeOffset || last < start);
      all = all.map((one) => ({ ...one, ...followSpan(one, change) }));
    }
    this.known.set(uri, { all, rests: true });
    this.redraw(uri);
  }

  private redraw(uri: string): void {
    vscode.window.visibleTextEditors
      .filter(({ document }) => document.uri.toString() === uri)
      .forEach((editor) => this.draw(editor));
  }

  private draw(editor: vscode.TextEditor): void {
    const offer = this.nearest(editor);
    const range = offer && rangeOf(editor.document, offer);
    editor.setDecorations(this.old, offer && range ? [{ range, renderOptions: { after: newText(offer) } }] : []);
    const line = editor.document.lineAt(editor.selection.active.line);
    const away = range && (line.lineNumber < range.start.line || line.lineNumber > range.end.line);
    editor.setDecorations(
      this.hint,
      away ? [{ range: new vscode.Range(line.range.end, line.range.end), renderOptions: { after: whereTo(range) } }] : [],
    );
    if (editor === vscode.window.activeTextEditor) {
      this.setContext(editor);
    }
  }

  private setContext(editor: vscode.TextEditor | undefined): void {
    const shown = editor !== undefined && this.nearest(editor) !== undefined;
    void vscode.commands.executeCommand('setContext', 'reviser.nextEdit', shown);
  }
}

function rangeOf(document: vscode.TextDocument, { start, end }: Span): vscode.Range {
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}

function newText(offer: Offer): vscode.ThemableDecorationAttachmentRenderOptions | undefined {
  const line = offer.new.replace(/\s+/g, ' ');
  const letters = [...line];
  return line
    ? {
        contentText: letters.length > SHOWN ? `${letters.slice(0, SHOWN - 1).join('')}…` : line,
        backgroundColor: new vscode.ThemeColor('reviser.changeBackground'),
        margin: '0 0 0 0.3em',
      }
    : undefined;
}

function whereTo(range: vscode.Range): vscode.ThemableDecorationAttachmentRenderOptions {
  return {
    contentText: `Tab: line ${range.start.line + 1}`,
    color: new vscode.ThemeColor('editorGhostText.foreground'),
    margin: '0 0 0 2em',
  };
}
