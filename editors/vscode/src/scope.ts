/** The test whether Reviser is on for a document, by the settings. */

import * as vscode from 'vscode';

export const SCHEMES = ['file', 'untitled'];

// The languages in which the server works by default.
const PROSE = ['plaintext', 'markdown', 'restructuredtext', 'latex', 'tex', 'html', 'git-commit', 'mail', 'eml'];

/** Whether this document is sent to the server. */
export function isServed(document: vscode.TextDocument): boolean {
  return SCHEMES.includes(document.uri.scheme);
}

/** Whether Reviser works in a document: by the last glob that matches, else by its language, as in the server. */
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
