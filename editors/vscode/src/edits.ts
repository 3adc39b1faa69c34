/**
 * Applies the server's edits so that one undo step reverts a whole run, and nothing of the user's.
 *
 * Each workspace edit is an undo step of its own, so the edits of a run go through a text editor, which can
 * leave the step open. The first edit of a run closes the user's step before it, and so does the first one
 * after the user typed elsewhere: their text must never share a step with the model's.
 */

import * as vscode from 'vscode';
import {
  TextDocumentEdit,
  type ApplyWorkspaceEditParams,
  type ApplyWorkspaceEditResult,
  type TextEdit,
} from 'vscode-languageclient/node';
import { labelOf } from './protocol';

type Next = (params: ApplyWorkspaceEditParams) => Promise<ApplyWorkspaceEditResult>;

interface RunEdit {
  label: string;
  uri: string;
  version: number;
  edits: TextEdit[];
}

export class RunEdits {
  /** The label of the run under way, and the version that its latest edit left. */
  private open: { label: string; version: number | undefined } | undefined;

  begin(runId: string): void {
    if (this.open?.label !== labelOf(runId)) {
      this.open = { label: labelOf(runId), version: undefined };
    }
  }

  end(runId: string): void {
    if (this.open?.label === labelOf(runId)) {
      this.open = undefined;
    }
  }

  async apply(params: ApplyWorkspaceEditParams, next: Next): Promise<ApplyWorkspaceEditResult> {
    const edit = editOfRun(params);
    const editor = edit && editorOf(edit.uri);
    if (!edit || !editor) {
      // A document that no editor shows can be edited only by a workspace edit.
      return next(params);
    }
    if (editor.document.version !== edit.version) {
      return { applied: false, failureReason: 'the document has changed' };
    }
    const run = this.open?.label === edit.label ? this.open : undefined;
    const stops = { undoStopBefore: run?.version !== edit.version, undoStopAfter: run === undefined };
    const applied = await applyIn(editor, edit, stops);
    if (applied === undefined) {
      return next(params);
    }
    if (applied && run) {
      run.version = edit.version + 1;
    }
    return { applied };
  }
}

/** Whether the edit was carried out; undefined if the editor has just been closed. */
async function applyIn(
  editor: vscode.TextEditor,
  edit: RunEdit,
  stops: { undoStopBefore: boolean; undoStopAfter: boolean },
): Promise<boolean | undefined> {
  try {
    return await editor.edit((builder) => {
      for (const { range, newText } of edit.edits) {
        builder.replace(asRange(range), newText);
      }
    }, stops);
  } catch {
    return undefined;
  }
}

function editOfRun(params: ApplyWorkspaceEditParams): RunEdit | undefined {
  const [change, ...others] = params.edit.documentChanges ?? [];
  if (!params.label || !TextDocumentEdit.is(change) || others.length > 0) {
    return undefined;
  }
  const { uri, version } = change.textDocument;
  const edits = change.edits.filter((edit): edit is TextEdit => 'newText' in edit);
  return version === null ? undefined : { label: params.label, uri, version, edits };
}

/** An editor that shows a document, the active one first. */
export function editorOf(uri: string): vscode.TextEditor | undefined {
  const shown = vscode.window.visibleTextEditors.filter(
    (editor) => editor.document.uri.toString() === vscode.Uri.parse(uri).toString(),
  );
  return shown.find((editor) => editor === vscode.window.activeTextEditor) ?? shown[0];
}

export function asRange(range: TextEdit['range']): vscode.Range {
  const { start, end } = range;
  return new vscode.Range(start.line, start.character, end.line, end.character);
}
