/** The status bar item: the state of Reviser, without flicker. */

import * as vscode from 'vscode';
import type { Status } from './protocol';

const SETTLE_MS = 200;

/** The state to show; `missing` and `starting` are about the server itself. */
export type Shown =
  | { state: 'missing'; reason: string }
  | { state: 'starting' }
  | { state: 'waiting' }
  | { state: 'known'; status: Status; enabledHere: boolean };

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    'reviser.status',
    vscode.StatusBarAlignment.Right,
    90,
  );
  private shown: Shown = { state: 'waiting' };
  private waiting: NodeJS.Timeout | undefined;

  constructor() {
    this.item.name = 'Reviser';
    this.render();
  }

  /** Show or hide the item in this window. */
  setVisible(visible: boolean): void {
    if (visible) {
      this.item.show();
    } else {
      this.item.hide();
    }
  }

  /** Show a state; one that lasts less than `SETTLE_MS` milliseconds is never drawn. */
  show(shown: Shown): void {
    this.shown = shown;
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      this.render();
    }, SETTLE_MS);
  }

  dispose(): void {
    clearTimeout(this.waiting);
    this.item.dispose();
  }

  private render(): void {
    const { text, tooltip, command, warns } = describe(this.shown);
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command ?? 'reviser.showStatus';
    this.item.accessibilityInformation = { label: tooltip };
    this.item.backgroundColor = warns
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
  }
}

interface Look {
  text: string;
  tooltip: string;
  command?: string;
  warns?: boolean;
}

function describe(shown: Shown): Look {
  switch (shown.state) {
    case 'missing':
      return {
        text: '$(warning) Reviser',
        tooltip: `${shown.reason} Click for help.`,
        command: 'reviser.restart',
        warns: true,
      };
    case 'starting':
      return { text: '$(loading~spin) Reviser', tooltip: 'Reviser is starting' };
    case 'waiting':
      return { text: '$(edit) Reviser', tooltip: 'Reviser starts when you write prose' };
    case 'known':
      return describeStatus(shown.status, shown.enabledHere);
  }
}

function describeStatus(status: Status, enabledHere: boolean): Look {
  const model = status.model ?? 'the default model';
  if (status.runId) {
    const rate = Math.round(status.actionsPerSecond).toString().padStart(3, '\u2007');
    return {
      text: status.state === 'loading' ? '$(loading~spin) Reviser' : `$(loading~spin) Reviser ${rate}/s`,
      tooltip: `Reviser is ${status.state === 'loading' ? 'reading' : 'writing'} with ${model}; click to stop`,
      command: 'reviser.stopWriting',
    };
  }
  if (status.state === 'off') {
    return { text: '$(circle-slash) Reviser', tooltip: 'Reviser is off' };
  }
  if (!enabledHere) {
    return { text: '$(circle-slash) Reviser', tooltip: 'Reviser is off for this document' };
  }
  switch (status.state) {
    case 'failed':
      return { text: '$(warning) Reviser', tooltip: `Reviser: ${status.problem}`, warns: true };
    case 'loading':
      return { text: '$(loading~spin) Reviser', tooltip: `Reviser is loading ${model}` };
    case 'thinking':
      return { text: '$(loading~spin) Reviser', tooltip: `Reviser is thinking of a suggestion (${model})` };
    default:
      return { text: '$(edit) Reviser', tooltip: `Reviser is idle (${model})` };
  }
}
