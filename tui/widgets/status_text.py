"""The texts of the status line: the state of the run, and the place of the cursor."""

from __future__ import annotations

from reviser.core.counts import counted
from tui.runs.run import DraftRun
from tui.runs.statistics import Statistics
from tui.sheet import Sheet

_ENDINGS = {
    "stop": "the model stopped",
    "limit": "limit of actions reached",
    "exhausted": "nothing more to do",
    "end": "end of the recording",
}


def run_in_words(sheet: Sheet, waited: float) -> str:
    """The state of the run of a sheet; it has waited `waited` seconds for its model."""
    if review := sheet.review:
        left = len(review.open_items)
        return f"change {review.number} of {len(review.items)} · {left} to decide"
    run = sheet.open_run
    if run is None:
        return ""
    if run.status and run.writing:
        return f"{run.status}… {int(waited)} s"
    steps = len(run.path) - 1
    pace = f"{run.speed}/s" if run.speed else "full speed"
    if run.current is not run.tip:
        place = f"{run.current.depth} of {steps}"
        return f"playing {place} · {pace}" if run.writing else f"at step {place}"
    if run.writing:
        speed = Statistics.of(run).actions_per_second
        rate = f"{speed:.0f} actions/s" if speed and run.seconds > 0.5 else pace
        return f"writing · {counted(steps, 'step')} · {rate}"
    return f"{_ending(run) or 'paused'} · {counted(steps, 'step')}"


def _ending(run: DraftRun) -> str | None:
    over = _ENDINGS.get(run.ending or "")
    if run.revising:
        return "nothing to change" if over and not run.reviewable else over
    return "nothing to add" if run.ending in ("stop", "exhausted") and not run.text.strip() else over


def findings_in_words(sheet: Sheet) -> str:
    """The offered place or the mistake at the cursor, or how many there are."""
    offers, mistakes = sheet.offers, sheet.mistakes
    if here := offers.here:
        number = offers.shown.index(here) + 1
        return f"{here.says} · {number} of {len(offers)} · {here.confidence:.0%} · {here.reason}"
    if here := mistakes.here:
        return f"{here.says} · {here.kind} · {here.confidence:.0%}"
    if reasons := {one.reason for one in offers.shown}:
        places = counted(len(offers), "more place")
        return f"{reasons.pop()}: {places}" if len(reasons) == 1 else f"Your edits: {places}"
    return counted(len(mistakes), "mistake") if len(mistakes) else ""


def place_in_words(sheet: Sheet) -> str:
    """Line and column of the cursor."""
    cursor, buffer = sheet.draft.selection.cursor, sheet.draft.buffer
    line = buffer.line_of(cursor)
    return f"{line + 1}:{cursor - buffer.line_start(line) + 1}"


def extent_in_words(sheet: Sheet) -> str:
    """The number of words, or the size of the selection."""
    selection = sheet.draft.selection
    if selection.empty:
        return counted(sheet.words.number, "word")
    words = sheet.words.selected
    told = counted(selection.end - selection.start, "character") if words is None else counted(words, "word")
    return f"{told} selected"
