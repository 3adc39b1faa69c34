/** Which documents Reviser is for, as the settings say. */

import * as vscode from 'vscode';

export const SCHEMES = ['file', 'untitled'];

// Where the server works unless told otherwise.
const PROSE = ['plaintext', 'markdown', 'restructuredtext', 'latex', 'tex', 'html', 'git-commit', 'mail', 'eml'];

/** Whether the server may know this document. */
export function isServed(document: vscode.TextDocument): boolean {
  return SCHEMES.includes(document.uri.scheme);
}

/** Whether a document is one that Reviser works in: by the last glob that fits, else by its language, as the server. */
export function isForReviser(document: vscode.TextDocument): boolean {
  if (!isServed(document)) {
    return false;
  }
  const settings = vscode.workspace.getConfiguration('reviser', document);
  for (const [glob, wanted] of Object.entries(settings.get<Record<string, boolean>>('globs', {})).reverse()) {
    const pattern = glob.includes('/') ? glob : `**/${glob}`;
    if (vscode.languages.match({ pattern }, document)) {
      return wanted;
    }
  }
  const languages = settings.get<Record<string, boolean>>('languages', {});
  return languages[document.languageId] ?? languages['*'] ?? PROSE.includes(document.languageId);
}
