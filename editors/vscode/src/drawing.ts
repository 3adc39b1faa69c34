/** The decorations of a run in every editor that shows its document: the model's cursor and its insertions. */

import * as vscode from 'vscode';
import { asRange } from './edits';
import { isUnderWay, type RunNews } from './protocol';
import { follow, followSpan, type Span } from './spans';

const TRAIL_MS = 700;

interface Fresh extends Span {
  until: number;
}

/** A run as it is drawn, in offsets of the document's present version. */
interface Drawn {
  runId: string;
  region: Span;
  cursor: number | undefined;
  fresh: Fresh[];
  /** The version of the document that contains the latest fresh text. */
  version: number;
  underWay: boolean;
}

export class Drawing implements vscode.Disposable {
  private readonly runs = new Map<string, Drawn>();
  private readonly cursor = vscode.window.createTextEditorDecorationType({
    // A bar that takes no room: text must not shift when the cursor comes and goes.
    before: {
      contentText: '\u200b',
      width: '0',
      height: '100%',
      border: '0 solid',
      borderColor: new vscode.ThemeColor('reviser.cursor'),
      textDecoration: 'none; position: absolute; border-left-width: 2px; margin-left: -1px; z-index: 1',
    },
    overviewRulerColor: new vscode.ThemeColor('reviser.cursor'),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
    rangeBehavior: vscode.DecorationRangeBehavior.OpenOpen,
  });
  private readonly fresh = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('reviser.freshBackground'),
    borderRadius: '2px',
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly region = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('reviser.runBackground'),
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly pendingChanged = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];
  private fading: NodeJS.Timeout | undefined;

  /** Fires when a document begins or ceases to show a finished run. */
  readonly onDidChangePending = this.pendingChanged.event;

  constructor() {
    this.disposables = [
      this.cursor,
      this.fresh,
      this.region,
      this.pendingChanged,
      vscode.workspace.onDidChangeTextDocument((event) => this.changed(event)),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document.uri.toString())),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of editors) {
          this.drawIn(editor);
        }
      }),
    ];
  }

  /** Whether a document shows a run that is over and has been neither accepted nor rejected. */
  isPending(document: vscode.TextDocument): boolean {
    return this.runs.get(document.uri.toString())?.underWay === false;
  }

  show(news: RunNews): void {
    const uri = vscode.Uri.parse(news.uri).toString();
    const document = vscode.workspace.textDocuments.find((known) => known.uri.toString() === uri);
    if (!document || news.state === 'accepted' || news.state === 'rejected') {
      this.forget(uri);
      return;
    }
    const drawn = this.drawn(uri, news.runId);
    if (document.version === news.version) {
      // The positions are about another version: decorations have followed the edits since.
      this.take(drawn, document, news);
    }
    drawn.underWay = isUnderWay(news.state);
    if (!drawn.underWay) {
      drawn.cursor = undefined;
      drawn.fresh = [];
    }
    const isEmpty = drawn.region.start === drawn.region.end;
    // The result of a revision is drawn change by change.
    if (!drawn.underWay && (isEmpty || news.kind === 'revise')) {
      this.forget(uri);
      return;
    }
    this.draw(uri);
    this.pendingChanged.fire();
  }

  /** Remove the decorations of all runs. */
  clear(): void {
    for (const uri of [...this.runs.keys()]) {
      this.forget(uri);
    }
  }

  dispose(): void {
    clearTimeout(this.fading);
    this.clear();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private drawn(uri: string, runId: string): Drawn {
    let drawn = this.runs.get(uri);
    if (drawn?.runId !== runId) {
      const region = { start: 0, end: 0 };
      drawn = { runId, region, cursor: undefined, fresh: [], version: -1, underWay: true };
      this.runs.set(uri, drawn);
    }
    return drawn;
  }

  private take(drawn: Drawn, document: vscode.TextDocument, news: RunNews): void {
    const spanOf = (range: RunNews['region']): Span => {
      const { start, end } = asRange(range);
      return { start: document.offsetAt(start), end: document.offsetAt(end) };
    };
    const now = Date.now();
    drawn.region = spanOf(news.region);
    drawn.cursor = spanOf({ start: news.cursor, end: news.cursor }).start;
    drawn.fresh = drawn.fresh.filter(({ until }) => until > now);
    if (news.version !== drawn.version) {
      drawn.version = news.version;
      drawn.fresh.push(...news.fresh.map((range) => ({ ...spanOf(range), until: now + TRAIL_MS })));
    }
    this.followCursor(document, drawn.cursor);
  }

  /** Scroll with the model, unless the user has scrolled away from it. */
  private followCursor(document: vscode.TextDocument, cursor: number): void {
    if (!vscode.workspace.getConfiguration('reviser.view').get('followCursor', true)) {
      return;
    }
    const position = document.positionAt(cursor);
    for (const editor of editorsOf(document.uri.toString())) {
      const [first, last] = [editor.visibleRanges[0], editor.visibleRanges.at(-1)];
      if (!first || !last) {
        continue;
      }
      const isNear = position.line >= first.start.line - 2 && position.line <= last.end.line + 2;
      const isSeen = position.line > first.start.line && position.line < last.end.line;
      if (isNear && !isSeen) {
        editor.revealRange(new vscode.Range(position, position));
      }
    }
  }

  private changed(event: vscode.TextDocumentChangeEvent): void {
    const uri = event.document.uri.toString();
    const drawn = this.runs.get(uri);
    if (!drawn || event.contentChanges.length === 0) {
      return;
    }
    if (!drawn.underWay) {
      // A user who goes on editing has accepted the text, or has undone it.
      this.forget(uri);
      return;
    }
    for (const change of event.contentChanges) {
      drawn.region = followSpan(drawn.region, change);
      drawn.fresh = drawn.fresh.map((fresh) => ({ ...fresh, ...followSpan(fresh, change) }));
      drawn.cursor = drawn.cursor === undefined ? undefined : follow(drawn.cursor, change, true);
    }
  }

  private forget(uri: string): void {
    if (this.runs.delete(uri)) {
      this.draw(uri);
      this.pendingChanged.fire();
    }
  }

  private draw(uri: string): void {
    for (const editor of editorsOf(uri)) {
      this.drawIn(editor);
    }
  }

  private drawIn(editor: vscode.TextEditor): void {
    const drawn = this.runs.get(editor.document.uri.toString());
    const rangeOf = ({ start, end }: Span) =>
      new vscode.Range(editor.document.positionAt(start), editor.document.positionAt(end));
    const now = Date.now();
    const fresh = drawn?.fresh.filter(({ until }) => until > now) ?? [];
    const { cursor } = drawn ?? {};
    editor.setDecorations(this.region, drawn ? [rangeOf(drawn.region)] : []);
    editor.setDecorations(this.fresh, fresh.map(rangeOf));
    editor.setDecorations(
      this.cursor,
      cursor === undefined ? [] : [rangeOf({ start: cursor, end: cursor })],
    );
    if (fresh.length > 0) {
      this.fadeAt(Math.min(...fresh.map(({ until }) => until)));
    }
  }

  /** Fade fresh text after a moment; one timer serves all runs. */
  private fadeAt(time: number): void {
    this.fading ??= setTimeout(
      () => {
        this.fading = undefined;
        for (const uri of this.runs.keys()) {
          this.draw(uri);
        }
      },
      Math.max(time - Date.now(), 0) + 20,
    );
  }
}

function editorsOf(uri: string): vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter(
    (editor) => editor.document.uri.toString() === uri,
  );
}
