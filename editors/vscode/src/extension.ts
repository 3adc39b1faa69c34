/** The entry point of the extension: it connects the server, the decorations and the commands. */

import * as vscode from 'vscode';
import { Changes } from './changes';
import { registerCommands } from './commands';
import { Drawing } from './drawing';
import { RunEdits } from './edits';
import { watchPython } from './finding';
import { NextEdits } from './nextEdits';
import { isUnderWay, type RunNews, type Status } from './protocol';
import { SCHEMES, isForReviser, isServed } from './scope';
import { Server, type Condition } from './server';
import { StatusBar } from './statusBar';

// Reasons that need no message, because the user stopped the run.
const OWN_WISH = /^you (stopped|cancelled) it/;

class Reviser {
  private readonly edits = new RunEdits();
  private readonly server = new Server(this.edits);
  private readonly drawing = new Drawing();
  private readonly changes = new Changes(SCHEMES);
  private readonly nextEdits = new NextEdits();
  private readonly bar = new StatusBar();
  private status: Status | undefined;
  private enabledHere = true;
  private isSwitchedOn = false;

  constructor(context: vscode.ExtensionContext) {
    const { server, drawing, changes, nextEdits, bar } = this;
    context.subscriptions.push(
      drawing,
      changes,
      nextEdits,
      bar,
      registerCommands(server, changes, nextEdits, () => this.askAboutDocument()),
      server.onRun((news) => this.takeRun(news)),
      server.onChanges((news) => changes.show(news)),
      server.onNextEdits((news) => nextEdits.show(news)),
      server.onStatus((status) => this.takeStatus(status)),
      server.onDidChangeCondition((condition) => this.takeCondition(condition)),
      // The server applies the settings once it has this answer.
      server.onSettings(() => setTimeout(() => this.askAboutDocument(), 100)),
      drawing.onDidChangePending(() => this.setPending()),
      changes.onDidChange(() => this.setPending()),
      vscode.window.onDidChangeActiveTextEditor(() => this.changeDocument()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.attend()),
      vscode.workspace.onDidOpenTextDocument(() => this.attend()),
      vscode.workspace.onDidChangeConfiguration((event) => this.changeSettings(event)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.attend()),
    );
    void watchPython(() => server.restart()).then((watch) => watch && context.subscriptions.push(watch));
    this.attend();
  }

  async end(): Promise<void> {
    await this.server.dispose();
  }

  /** Start the server and show the status for documents in which it may write; others need neither. */
  private attend(): void {
    const documents = vscode.window.visibleTextEditors.map(({ document }) => document);
    const wanted = documents.filter(isForReviser);
    if (
      !this.server.isUp &&
      wanted.some((document) => vscode.workspace.getConfiguration('reviser', document).get('enabled', true))
    ) {
      void this.server.ready();
    }
    // Only the server knows about documents switched on one by one; a run may also be in a hidden document.
    this.bar.setVisible(wanted.length > 0 || this.isSwitchedOn || this.server.isWriting);
  }

  private changeSettings(event: vscode.ConfigurationChangeEvent): void {
    if (event.affectsConfiguration('reviser.server')) {
      void this.server.restart();
    } else if (event.affectsConfiguration('reviser')) {
      this.attend();
    }
  }

  private changeDocument(): void {
    this.attend();
    this.setPending();
    void this.askAboutDocument();
  }

  /** Whether Reviser is on for the active document. */
  private async askAboutDocument(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (!document || document.isClosed || !this.server.isUp || !isServed(document)) {
      this.isSwitchedOn = false;
      this.attend();
      return;
    }
    try {
      const status = await this.server.execute<Status>('reviser.status', { uri: document.uri.toString() });
      this.enabledHere = status?.enabled ?? true;
      this.isSwitchedOn = status?.enabled ?? false;
      this.status ??= status;
      this.showStatus();
    } catch {
      // The document was closed meanwhile.
    }
  }

  private takeRun(news: RunNews): void {
    const underWay = isUnderWay(news.state);
    if (underWay) {
      this.edits.begin(news.runId);
    } else {
      this.edits.end(news.runId);
    }
    this.setWriting(underWay);
    this.drawing.show(news);
    if (news.state === 'stopped' && news.reason && !news.said && !OWN_WISH.test(news.reason)) {
      this.tellWhyStopped(news);
    }
  }

  private tellWhyStopped(news: RunNews): void {
    const words = `Reviser stopped: ${news.reason}`;
    if (news.actions === 0 && !news.reason?.startsWith('you ')) {
      // The run failed before it wrote anything: the user is waiting and must be told.
      void vscode.window.showWarningMessage(words);
    } else {
      vscode.window.setStatusBarMessage(words, 4000);
    }
  }

  private takeStatus(status: Status): void {
    this.status = status;
    this.showStatus();
  }

  private takeCondition(condition: Condition): void {
    if (condition.state !== 'up') {
      this.status = undefined;
      this.isSwitchedOn = false;
      this.setWriting(false);
      this.drawing.clear();
      this.changes.clear();
      this.nextEdits.clear();
    }
    if (condition.state === 'missing') {
      this.bar.show(condition);
    } else if (condition.state === 'starting') {
      this.bar.show({ state: 'starting' });
    } else if (condition.state === 'down') {
      this.bar.show({ state: 'waiting' });
    } else {
      void this.askAboutDocument();
    }
  }

  private showStatus(): void {
    this.attend();
    if (this.status) {
      this.bar.show({ state: 'known', status: this.status, enabledHere: this.enabledHere });
    }
  }

  private setWriting(writing: boolean): void {
    if (this.server.isWriting !== writing) {
      this.server.isWriting = writing;
      this.attend();
      void vscode.commands.executeCommand('setContext', 'reviser.writing', writing);
    }
  }

  private setPending(): void {
    const document = vscode.window.activeTextEditor?.document;
    const pending = document !== undefined && this.drawing.isPending(document);
    const changes = document !== undefined && this.changes.isPending(document);
    void vscode.commands.executeCommand('setContext', 'reviser.pending', pending);
    void vscode.commands.executeCommand('setContext', 'reviser.changes', changes);
  }
}

let reviser: Reviser | undefined;

export function activate(context: vscode.ExtensionContext): void {
  reviser = new Reviser(context);
}

export async function deactivate(): Promise<void> {
  await reviser?.end();
}
