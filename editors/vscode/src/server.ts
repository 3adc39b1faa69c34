/** The client of the server: it starts the server for the first suitable document and passes its notifications on. */

import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  ExecuteCommandRequest,
  LanguageClient,
  State,
  type ClientCapabilities,
  type LanguageClientOptions,
  type StaticFeature,
} from 'vscode-languageclient/node';
import type { RunEdits } from './edits';
import { findServer } from './finding';
import {
  CHANGES,
  NEXT_EDITS,
  RUN,
  STATUS,
  type ChangesNews,
  type NextEditsNews,
  type RunNews,
  type Status,
  type Target,
} from './protocol';
import { SCHEMES } from './scope';
import { Suggestions } from './suggestions';

const MAX_RESTARTS = 3;
// Settings of the extension alone, which the server would report as unknown.
const OWN_SETTINGS = ['server', 'view'];
const INSTALL = "pip install 'reviser[lsp]'";

/** Tells the server that this client draws runs. */
class DrawsRuns implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { ...capabilities.experimental, reviser: true };
  }
  initialize(): void {}
  getState(): { kind: 'static' } {
    return { kind: 'static' };
  }
  clear(): void {}
}

/** A client that logs its own errors without a message; the extension tells the user once, in helpful words. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown, show: boolean | 'force' = true): void {
    super.error(message, data, show === 'force' ? false : show);
  }
}

export type Condition = { state: 'down' | 'starting' | 'up' } | { state: 'missing'; reason: string };

export class Server implements vscode.Disposable {
  private readonly suggestions = new Suggestions();
  private client: LanguageClient | undefined;
  private starting: Promise<LanguageClient | undefined> | undefined;
  private errors: string[] = [];
  private lastWords: Promise<void> | undefined;
  private hasWarned = false;
  private readonly log = vscode.window.createOutputChannel('Reviser', { log: true });
  private readonly conditionChanged = new vscode.EventEmitter<Condition>();
  private readonly runNews = new vscode.EventEmitter<RunNews>();
  private readonly changesNews = new vscode.EventEmitter<ChangesNews>();
  private readonly nextEditsNews = new vscode.EventEmitter<NextEditsNews>();
  private readonly statusNews = new vscode.EventEmitter<Status>();
  private readonly settingsTaken = new vscode.EventEmitter<void>();

  readonly onDidChangeCondition = this.conditionChanged.event;
  readonly onRun = this.runNews.event;
  readonly onChanges = this.changesNews.event;
  readonly onNextEdits = this.nextEditsNews.event;
  readonly onStatus = this.statusNews.event;
  /** Fires when the server has asked for the settings. */
  readonly onSettings = this.settingsTaken.event;

  /** Whether a run is under way; meanwhile no suggestions are requested. */
  isWriting = false;

  constructor(private readonly edits: RunEdits) {}

  get isUp(): boolean {
    return this.client?.state === State.Running;
  }

  /** The client, started if need be; undefined if that fails, which the user is then told. */
  async ready(): Promise<LanguageClient | undefined> {
    if (this.isUp) {
      return this.client;
    }
    this.starting ??= this.start().finally(() => (this.starting = undefined));
    return this.starting;
  }

  /** Run a command of the server. */
  async execute<Answer>(command: string, target: Target = {}): Promise<Answer | undefined> {
    const client = await this.ready();
    return client?.sendRequest(ExecuteCommandRequest.type, { command, arguments: [target] });
  }

  async restart(): Promise<void> {
    this.hasWarned = false;
    await this.starting;
    await this.stop();
    await this.ready();
  }

  showLog(): void {
    this.log.show();
  }

  async dispose(): Promise<void> {
    await this.stop();
    vscode.Disposable.from(
      this.log,
      this.conditionChanged,
      this.runNews,
      this.changesNews,
      this.nextEditsNews,
      this.statusNews,
      this.settingsTaken,
    ).dispose();
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.log.warn(`The server did not stop as asked: ${error}`);
    }
    this.conditionChanged.fire({ state: 'down' });
  }

  private async start(): Promise<LanguageClient | undefined> {
    this.conditionChanged.fire({ state: 'starting' });
    const found = await findServer();
    if (typeof found === 'string') {
      this.missing(found);
      return undefined;
    }
    this.log.info(`Starting ${found.command}, found in ${found.where}.`);
    const args = ['lsp', ...vscode.workspace.getConfiguration('reviser.server').get<string[]>('arguments', [])];
    const client = new QuietClient(
      'reviser',
      'Reviser',
      { command: found.command, args },
      this.options(),
    );
    client.registerFeature(new DrawsRuns());
    client.onNotification(RUN, (news: RunNews) => this.runNews.fire(news));
    client.onNotification(CHANGES, (news: ChangesNews) => this.changesNews.fire(news));
    client.onNotification(NEXT_EDITS, (news: NextEditsNews) => this.nextEditsNews.fire(news));
    client.onNotification(STATUS, (status: Status) => this.statusNews.fire(status));
    client.onDidChangeState(({ newState }) => {
      if (client === this.client && newState === State.Stopped) {
        this.conditionChanged.fire({ state: 'down' });
      }
    });
    this.client = client;
    this.errors = [];
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      // Its last output may arrive a moment after its end.
      await Promise.race([this.lastWords, new Promise((resolve) => setTimeout(resolve, 1000))]);
      const words = this.errors.at(-1) ?? String(error instanceof Error ? error.message : error);
      this.missing(`${found.command} does not start: ${words}`);
      return undefined;
    }
    this.conditionChanged.fire({ state: 'up' });
    return client;
  }

  private options(): LanguageClientOptions & { stdioOptions: object } {
    let restarts = 0;
    return {
      documentSelector: SCHEMES.map((scheme) => ({ scheme })),
      outputChannel: this.log,
      // Documents that are not visible need not be sent.
      textSynchronization: { delayOpenNotifications: true },
      initializationFailedHandler: () => false,
      stdioOptions: {
        stdout: () => {},
        stderr: (stream: NodeJS.ReadableStream) => {
          stream.on('data', (data: Buffer) => this.takeErrors(data.toString()));
          this.lastWords = new Promise((resolve) => stream.once('end', resolve));
        },
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => ({
          action:
            this.isUp && restarts++ < MAX_RESTARTS ? CloseAction.Restart : CloseAction.DoNotRestart,
          handled: true,
        }),
      },
      middleware: {
        provideInlineCompletionItems: (document, position, context, token, next) =>
          this.isWriting
            ? []
            : this.suggestions.provide(document, position, context, token, next),
        // A light bulb at every line would be noise: unasked, there is one where a mistake is shown.
        provideCodeActions: (document, range, context, token, next) =>
          context.triggerKind === vscode.CodeActionTriggerKind.Automatic &&
          !context.only &&
          !context.diagnostics.some(({ source }) => source === 'reviser')
            ? []
            : next(document, range, context, token),
        // The status bar shows it already.
        handleWorkDoneProgress: () => {},
        workspace: {
          handleApplyEdit: (params, next) =>
            this.edits.apply(params, async (given) => {
              const result = await next(given, new vscode.CancellationTokenSource().token);
              return 'applied' in result ? result : { applied: false };
            }),
          configuration: async (params, token, next) => {
            const answer = await next(params, token);
            this.settingsTaken.fire();
            return Array.isArray(answer) ? answer.map(withoutOwn) : answer;
          },
        },
      },
    };
  }

  private takeErrors(text: string): void {
    const lines = text.split('\n').filter((line) => line.trim());
    this.errors.push(...lines);
    this.errors.splice(0, this.errors.length - 20);
    for (const line of lines) {
      this.log.error(line);
    }
  }

  private missing(reason: string): void {
    this.conditionChanged.fire({ state: 'missing', reason });
    this.log.error(reason);
    if (!this.hasWarned) {
      this.hasWarned = true;
      void this.explain(reason);
    }
  }

  private async explain(reason: string): Promise<void> {
    const [copy, set, again] = ['Copy the Command', 'Set the Path', 'Try Again'];
    const choice = await vscode.window.showWarningMessage(
      `${reason} To install it: ${INSTALL}`,
      copy,
      set,
      again,
    );
    if (choice === copy) {
      await vscode.env.clipboard.writeText(INSTALL);
    } else if (choice === set) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'reviser.server.path');
    } else if (choice === again) {
      await this.restart();
    }
  }
}

function withoutOwn(settings: unknown): unknown {
  if (typeof settings !== 'object' || settings === null) {
    return settings;
  }
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => !OWN_SETTINGS.includes(name)),
  );
}
