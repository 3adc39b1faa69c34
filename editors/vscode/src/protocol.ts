/** The messages of the server that the standard protocol has no types for. */

import type { Position, Range } from 'vscode-languageclient/node';

export const CHANGES = 'reviser/changes';
export const NEXT_EDITS = 'reviser/nextEdits';
export const RUN = 'reviser/run';
export const STATUS = 'reviser/status';

export type RunState = 'loading' | 'writing' | 'finished' | 'stopped' | 'accepted' | 'rejected';

/** The state of a live run, in positions of that version of the document. */
export interface RunNews {
  uri: string;
  version: number;
  runId: string;
  kind: 'continue' | 'infill' | 'revise';
  state: RunState;
  region: Range;
  cursor: Position;
  fresh: Range[];
  actions: number;
  actionsPerSecond: number;
  reason: string | null;
  /** Whether the server has told the user the reason. */
  said: boolean;
}

/** All pending changes of a document, in positions of that version of it. */
export interface ChangesNews {
  uri: string;
  version: number;
  changes: { id: string; runId: string; range: Range; old: string; new: string }[];
}

/** All next edits that are offered in a document, in positions of that version of it. */
export interface NextEditsNews {
  uri: string;
  version: number;
  edits: { range: Range; old: string; new: string; reason: string; places: number; confidence: number }[];
}

export interface Status {
  state: 'off' | 'idle' | 'thinking' | 'loading' | 'writing' | 'failed';
  model: string | null;
  modelLoaded: boolean;
  enabled: boolean;
  actionsPerSecond: number;
  runId: string | null;
  /** Why the model cannot be used. */
  problem: string | null;
  requests: number;
  fromCache: number;
  superseded: number;
  evaluated: number;
}

/** The argument of a command; each command uses the fields it needs. */
export interface Target {
  uri?: string;
  position?: Position;
  range?: Range;
  changeId?: string;
  enabled?: boolean;
  model?: string;
}

export function isUnderWay(state: RunState): boolean {
  return state === 'loading' || state === 'writing';
}

/** The label that the server gives to each edit of a run. */
export function labelOf(runId: string): string {
  return `Reviser run ${runId}`;
}
