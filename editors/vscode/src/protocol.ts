/** The messages of the server that the standard protocol has no types for. */

import type { Position, Range } from 'vscode-languageclient/node';

export const CHANGES = 'reviser/changes';
export const RUN = 'reviser/run';
export const STATUS = 'reviser/status';

export type RunState = 'loading' | 'writing' | 'finished' | 'stopped' | 'accepted' | 'rejected';

/** Where a live run stands, in positions of that version of the document. */
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

/** All changes of a document that wait to be kept or put back, in positions of that version of it. */
export interface ChangesNews {
  uri: string;
  version: number;
  changes: { id: string; runId: string; range: Range; old: string; new: string }[];
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

/** What a command is about; each takes what it needs. */
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
