/** The pending changes of a revision: drawn in the text, with code lenses to accept or reject each. */

import * as vscode from 'vscode';
import { asRange } from './edits';
import type { ChangesNews } from './protocol';
import { followSpan, type Span } from './spans';

const SHOWN = 40;

/** A change as it is drawn, in offsets of the document's present version. */
interface Waiting extends Span {
  id: string;
  old: string;
  new: string;
}

export class Changes implements vscode.Disposable, vscode.CodeLensProvider {
  private readonly waiting = new Map<string, Waiting[]>();
  private readonly look = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('reviser.changeBackground'),
    borderRadius: '2px',
    overviewRulerColor: new vscode.ThemeColor('reviser.changeBackground'),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];

  /** Fires when the pending changes of a document have changed. */
  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(schemes: string[]) {
    this.disposables = [
      this.look,
      this.changed,
      vscode.languages.registerCodeLensProvider(schemes.map((scheme) => ({ scheme })), this),
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document.uri.toString())),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of editors) {
          this.drawIn(editor);
        }
      }),
    ];
  }

  /** Whether a document has pending changes. */
  isPending(document: vscode.TextDocument): boolean {
    return this.waiting.has(document.uri.toString());
  }

  show(news: ChangesNews): void {
    const uri = vscode.Uri.parse(news.uri).toString();
    const document = vscode.workspace.textDocuments.find((known) => known.uri.toString() === uri);
    if (!document || news.changes.length === 0) {
      this.forget(uri);
      return;
    }
    if (document.version === news.version) {
      this.waiting.set(uri, news.changes.map((change) => waitingIn(document, change)));
    } else {
      // The positions are of another version: only the ids are used, since drawn changes have followed the edits.
      const left = new Set(news.changes.map(({ id }) => id));
      const known = this.waiting.get(uri) ?? [];
      this.set(uri, known.filter(({ id }) => left.has(id)));
    }
    this.refresh(uri);
  }

  /** Remove the pending changes of all documents. */
  clear(): void {
    for (const uri of [...this.waiting.keys()]) {
      this.forget(uri);
    }
  }

  /** Move the cursor to the next or previous change; after the last comes the first. */
  go(editor: vscode.TextEditor, step: 1 | -1): void {
    const waiting = this.waiting.get(editor.document.uri.toString()) ?? [];
    const here = editor.document.offsetAt(editor.selection.active);
    const ordered = step === 1 ? waiting : [...waiting].reverse();
    const change = ordered.find(({ start }) => (start - here) * step > 0) ?? ordered[0];
    if (change) {
      const place = editor.document.positionAt(change.start);
      editor.selection = new vscode.Selection(place, place);
      editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const uri = document.uri.toString();
    const waiting = this.waiting.get(uri) ?? [];
    const lens = (place: vscode.Position, title: string, command: string, changeId?: string) =>
      new vscode.CodeLens(new vscode.Range(place, place), {
        title,
        command: `reviser.${command}`,
        arguments: [changeId === undefined ? { uri } : { uri, changeId }],
      });
    const each = waiting.flatMap((change) => {
      const place = document.positionAt(change.start);
      return [
        lens(place, `$(check) Keep ${summary(change)}`, 'keepChange', change.id),
        lens(place, '$(discard) Put Back', 'putBackChange', change.id),
      ];
    });
    const [first, ...others] = waiting;
    if (!first || others.length === 0) {
      return each;
    }
    const line = document.positionAt(first.start).with({ character: 0 });
    return [
      lens(line, `$(check-all) Keep All ${waiting.length}`, 'keepAllChanges'),
      lens(line, '$(discard) Put All Back', 'putBackAllChanges'),
      ...each,
    ];
  }

  dispose(): void {
    this.clear();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Move the changes with the edits around them, until the server sends new positions. */
  private follow(event: vscode.TextDocumentChangeEvent): void {
    const uri = event.document.uri.toString();
    const waiting = this.waiting.get(uri);
    if (!waiting) {
      return;
    }
    let followed = waiting;
    for (const change of event.contentChanges) {
      followed = followed.map((one) => ({ ...one, ...followSpan(one, change) }));
    }
    this.waiting.set(uri, followed);
  }

  private forget(uri: string): void {
    if (this.waiting.delete(uri)) {
      this.refresh(uri);
    }
  }

  private set(uri: string, waiting: Waiting[]): void {
    if (waiting.length > 0) {
      this.waiting.set(uri, waiting);
    } else {
      this.waiting.delete(uri);
    }
  }

  private refresh(uri: string): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() === uri) {
        this.drawIn(editor);
      }
    }
    this.changed.fire();
  }

  private drawIn(editor: vscode.TextEditor): void {
    const waiting = this.waiting.get(editor.document.uri.toString()) ?? [];
    editor.setDecorations(
      this.look,
      waiting.map((change) => ({
        range: new vscode.Range(
          editor.document.positionAt(change.start),
          editor.document.positionAt(change.end),
        ),
        hoverMessage: change.old ? new vscode.MarkdownString().appendCodeblock(change.old, 'text') : undefined,
        renderOptions: change.old ? { before: oldText(change.old) } : {},
      })),
    );
  }
}

function waitingIn(document: vscode.TextDocument, change: ChangesNews['changes'][number]): Waiting {
  const { start, end } = asRange(change.range);
  const span = { start: document.offsetAt(start), end: document.offsetAt(end) };
  return { ...span, id: change.id, old: change.old, new: change.new };
}

/** The old text, struck out before the new. */
function oldText(old: string): vscode.ThemableDecorationAttachmentRenderOptions {
  return {
    contentText: short(old),
    color: new vscode.ThemeColor('reviser.changeOld'),
    textDecoration: 'line-through',
    margin: '0 0.3em 0 0',
  };
}

function summary(change: Waiting): string {
  if (!change.new.trim() && change.old.trim()) {
    return `without “${short(change.old.trim())}”`;
  }
  return `“${short(change.new.trim())}”`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  const letters = [...line];
  return letters.length > SHOWN ? `${letters.slice(0, SHOWN - 1).join('')}…` : line;
}
