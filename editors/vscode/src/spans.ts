/** Spans of a document that move with the edits around them. */

export interface Span {
  start: number;
  end: number;
}

export interface Change {
  rangeOffset: number;
  rangeLength: number;
  text: string;
}

/** The offset after a change; one at an insertion stays before it, or moves behind it. */
export function follow(offset: number, change: Change, moves: boolean): number {
  const { rangeOffset: start, rangeLength: removed, text } = change;
  const end = start + removed;
  if (offset < start || (offset === start && !(moves && removed === 0))) {
    return offset;
  }
  if (offset >= end) {
    return offset + text.length - removed;
  }
  return moves ? start + text.length : start;
}

/** The span after a change; text inserted at its edges does not belong to it. */
export function followSpan(span: Span, change: Change): Span {
  const start = follow(span.start, change, true);
  return { start, end: Math.max(start, follow(span.end, change, false)) };
}
