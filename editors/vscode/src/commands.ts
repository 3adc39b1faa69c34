/** The commands: each sends a request to the server and tells the user the result. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Changes } from './changes';
import { findServer } from './finding';
import type { NextEdits } from './nextEdits';
import type { RunNews, Status, Target } from './protocol';
import { isServed } from './scope';
import type { Server } from './server';

const run = promisify(execFile);

type Command = (target?: Target) => Promise<unknown> | void;

export function registerCommands(
  server: Server,
  changes: Changes,
  nextEdits: NextEdits,
  refresh: () => Promise<void>,
): vscode.Disposable {
  const decide = (command: string) => (target?: Target) => decideAbout(server, changes, command, target);
  const commands: Record<string, Command> = {
    continueWriting: () => write(server, 'reviser.continue', (editor) => ({ position: editor.selection.end })),
    fillIn: () =>
      write(server, 'reviser.infill', ({ selection }) => ({
        range: { start: selection.start, end: selection.end },
      })),
    reviseText: () =>
      write(server, 'reviser.revise', ({ selection }) => ({
        range: { start: selection.start, end: selection.end },
      })),
    fixParagraph: () =>
      write(server, 'reviser.reviseParagraph', ({ selection }) => ({
        range: { start: selection.start, end: selection.end },
      })),
    keepChange: decide('reviser.acceptChange'),
    putBackChange: decide('reviser.rejectChange'),
    keepAllChanges: (target) => aboutRun(server, 'reviser.acceptAllChanges', target),
    putBackAllChanges: (target) => aboutRun(server, 'reviser.rejectAllChanges', target),
    nextChange: () => changes.go(here(), 1),
    previousChange: () => changes.go(here(), -1),
    nextEdit: () => (nextEdits.jump(here()) ? undefined : aboutEdit(server, nextEdits, 'reviser.acceptNextEdit')),
    nextEditEverywhere: () => aboutEdit(server, nextEdits, 'reviser.acceptAllNextEdits'),
    dropNextEdit: () => aboutEdit(server, nextEdits, 'reviser.refuseNextEdit'),
    stopWriting: () => (server.isUp ? server.execute('reviser.stop') : undefined),
    undoRun: () => aboutRun(server, 'reviser.undo'),
    rejectRun: () => aboutRun(server, 'reviser.reject'),
    acceptRun: () => aboutRun(server, 'reviser.accept'),
    toggle: () => toggle(server).then(refresh),
    toggleEverywhere: () => toggleEverywhere(),
    showStatus: () => showStatus(server),
    chooseModel: () => chooseModel(server),
    restart: () => server.restart(),
    showLog: () => server.showLog(),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, command]) =>
      vscode.commands.registerCommand(`reviser.${name}`, (target?: Target) =>
        sayErrors(() => command(target)),
      ),
    ),
  );
}

/** Show an error of the server as a sentence, not as a stack trace. */
async function sayErrors(command: () => Promise<unknown> | void): Promise<void> {
  try {
    await command();
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    void vscode.window.showWarningMessage(`Reviser: ${words}`);
  }
}

function here(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    throw new Error('there is no document to work in');
  }
  return editor;
}

async function write(
  server: Server,
  command: string,
  where: (editor: vscode.TextEditor) => Target,
): Promise<void> {
  const editor = here();
  const target = { uri: editor.document.uri.toString(), ...where(editor) };
  const status = await server.execute<Status>('reviser.status', { uri: target.uri });
  if (status && !status.enabled && !(await offerToSwitchOn(server, editor.document))) {
    return;
  }
  await server.execute<RunNews>(command, target);
}

async function offerToSwitchOn(server: Server, document: vscode.TextDocument): Promise<boolean> {
  const switchOn = 'Switch It On Here';
  const choice = await vscode.window.showInformationMessage(
    `Reviser is off for this document (${document.languageId}).`,
    switchOn,
  );
  if (choice !== switchOn) {
    return false;
  }
  await setEnabled(server, document, true);
  return true;
}

async function aboutRun(server: Server, command: string, target?: Target): Promise<void> {
  if (server.isUp) {
    await server.execute(command, target?.uri ? target : { uri: here().document.uri.toString() });
  }
}

/** Decide about the clicked change; else about the one at the cursor, and then go to the next. */
async function decideAbout(
  server: Server,
  changes: Changes,
  command: string,
  target?: Target,
): Promise<void> {
  if (target?.changeId) {
    await aboutRun(server, command, target);
    return;
  }
  const editor = here();
  const place = { uri: editor.document.uri.toString(), position: editor.selection.active };
  await aboutRun(server, command, place);
  changes.go(editor, 1);
}

/** Decide about the next edit that is shown. */
async function aboutEdit(server: Server, nextEdits: NextEdits, command: string): Promise<void> {
  const editor = here();
  const range = nextEdits.shown(editor);
  if (range && server.isUp) {
    const { start, end } = range;
    await server.execute(command, { uri: editor.document.uri.toString(), range: { start, end } });
  }
}

async function setEnabled(
  server: Server,
  document: vscode.TextDocument,
  enabled?: boolean,
): Promise<void> {
  const everywhere = vscode.workspace.getConfiguration('reviser');
  if (!everywhere.get('enabled', true)) {
    await everywhere.update('enabled', true, vscode.ConfigurationTarget.Global);
    enabled = true;
  }
  const target: Target = { uri: document.uri.toString() };
  await server.execute('reviser.setEnabled', enabled === undefined ? target : { ...target, enabled });
}

async function toggle(server: Server): Promise<void> {
  await setEnabled(server, here().document);
}

async function toggleEverywhere(): Promise<void> {
  const settings = vscode.workspace.getConfiguration('reviser');
  const enabled = !settings.get('enabled', true);
  await settings.update('enabled', enabled, vscode.ConfigurationTarget.Global);
}

interface Choice extends vscode.QuickPickItem {
  command?: string;
}

/** A list of the present state and of the commands that are possible now. */
async function showStatus(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const document = editor && isServed(editor.document) ? editor.document : undefined;
  const status = await server.execute<Status>('reviser.status', document ? { uri: document.uri.toString() } : {});
  if (!status) {
    return;
  }
  const isWriting = status.runId !== null;
  const separator = (label: string): Choice => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const does = (label: string, command: string, description = ''): Choice => ({
    label,
    description,
    command: `reviser.${command}`,
  });
  const forDocument = document
    ? [
        ...(isWriting ? [does('$(debug-stop) Stop', 'stopWriting')] : []),
        does('$(edit) Continue here', 'continueWriting'),
        does('$(sparkle) Fill in here', 'fillIn', 'with a look at what follows'),
        does('$(pencil) Revise', 'reviseText', 'the selection, or the paragraph here'),
        does(
          status.enabled ? '$(circle-slash) Switch off here' : '$(check) Switch on here',
          'toggle',
          document.languageId,
        ),
      ]
    : [];
  const choices: Choice[] = [
    separator(summary(status)),
    ...forDocument,
    separator('everywhere'),
    does('$(settings-gear) Set model', 'chooseModel', status.model ?? 'the default model'),
    status.state === 'off'
      ? does('$(check) Switch on everywhere', 'toggleEverywhere')
      : does('$(circle-slash) Switch off everywhere', 'toggleEverywhere'),
    does('$(refresh) Restart the server', 'restart'),
    does('$(output) Show the log', 'showLog'),
  ];
  const choice = await vscode.window.showQuickPick(choices, { title: 'Reviser' });
  if (choice?.command) {
    await vscode.commands.executeCommand(choice.command);
  }
}

function summary(status: Status): string {
  const model = status.modelLoaded ? 'model in memory' : 'no model in memory';
  return `${status.problem ?? status.state}, ${model}, asked ${status.requests} times, answered ${status.fromCache} from memory`;
}

/** Choose a known model or a folder; it is saved in the settings once the server has accepted it. */
async function chooseModel(server: Server): Promise<void> {
  const byDefault: vscode.QuickPickItem = { label: 'The default model' };
  const folder: vscode.QuickPickItem = { label: '$(folder-opened) A folder…' };
  const models = (await knownModels()).map((label) => ({ label }));
  const choice = await vscode.window.showQuickPick([byDefault, ...models, folder], {
    title: 'Reviser: Set Model',
  });
  if (!choice) {
    return;
  }
  const model = choice === byDefault ? '' : choice === folder ? await chooseFolder() : choice.label;
  if (model === undefined) {
    return;
  }
  await server.execute<Status>('reviser.setModel', { model });
  const settings = vscode.workspace.getConfiguration('reviser');
  await settings.update('model', model, vscode.ConfigurationTarget.Global);
}

async function chooseFolder(): Promise<string | undefined> {
  const folders = await vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    openLabel: 'Use This Model',
  });
  return folders?.[0]?.fsPath;
}

async function knownModels(): Promise<string[]> {
  const found = await findServer();
  if (typeof found === 'string') {
    return [];
  }
  const { stdout } = await run(found.command, ['models', 'list', '--json']);
  const models: { name: string }[] = JSON.parse(stdout);
  return models.map(({ name }) => name);
}
