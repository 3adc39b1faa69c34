/** The search for the server's program: the setting first, then the active Python environment, then the PATH. */

import { access, constants, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';

const PROGRAM = process.platform === 'win32' ? 'reviser.exe' : 'reviser';
const SCRIPTS = process.platform === 'win32' ? 'Scripts' : 'bin';

export interface Found {
  command: string;
  where: string;
}

/** The part of the Python extension's interface that is used here. */
interface PythonEnvironments {
  getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
  resolveEnvironment(
    environment: { path: string },
  ): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
}

/** The program to start, or a sentence that says why there is none. */
export async function findServer(): Promise<Found | string> {
  const chosen = chosenPath();
  if (chosen) {
    const command = isAbsolute(chosen) ? chosen : await onPath(chosen);
    return command && (await isProgram(command))
      ? { command, where: 'the setting reviser.server.path' }
      : `The setting reviser.server.path names ${chosen}, which is not a program.`;
  }
  for (const { folder, where } of await folders()) {
    const command = join(folder, PROGRAM);
    if (await isProgram(command)) {
      return { command, where };
    }
  }
  return 'The program reviser is neither in the active Python environment nor on the PATH.';
}

/** Calls a function when another Python environment becomes the active one. */
export async function watchPython(changed: () => void): Promise<vscode.Disposable | undefined> {
  return (await pythonEnvironments())?.onDidChangeActiveEnvironmentPath(changed);
}

function chosenPath(): string {
  const path = vscode.workspace.getConfiguration('reviser.server').get('path', '').trim();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  return path.replace(/^~(?=$|[\\/])/, homedir()).replaceAll('${workspaceFolder}', folder);
}

async function folders(): Promise<{ folder: string; where: string }[]> {
  const found: { folder: string; where: string }[] = [];
  const python = await activePython();
  if (python) {
    found.push({ folder: dirname(python), where: 'the active Python environment' });
  }
  for (const name of ['VIRTUAL_ENV', 'CONDA_PREFIX']) {
    const environment = process.env[name];
    if (environment) {
      found.push({ folder: join(environment, SCRIPTS), where: `the environment in ${name}` });
    }
  }
  // A program in the workspace is started only if the user trusts the workspace.
  for (const { uri } of vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : []) {
    for (const name of ['.venv', 'venv']) {
      found.push({ folder: join(uri.fsPath, name, SCRIPTS), where: "the folder's own environment" });
    }
  }
  return [...found, ...pathFolders().map((folder) => ({ folder, where: 'the PATH' }))];
}

async function activePython(): Promise<string | undefined> {
  try {
    const environments = await pythonEnvironments();
    const resource = vscode.workspace.workspaceFolders?.[0]?.uri;
    const active = environments?.getActiveEnvironmentPath(resource);
    const resolved = active && (await environments?.resolveEnvironment(active));
    return resolved?.executable.uri?.fsPath;
  } catch {
    return undefined; // another extension's trouble must not become ours
  }
}

async function pythonEnvironments(): Promise<PythonEnvironments | undefined> {
  const extension = vscode.extensions.getExtension<{ environments?: PythonEnvironments }>(
    'ms-python.python',
  );
  try {
    return (await extension?.activate())?.environments;
  } catch {
    return undefined;
  }
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of pathFolders()) {
    if (await isProgram(join(folder, name))) {
      return join(folder, name);
    }
  }
  return undefined;
}

function pathFolders(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
