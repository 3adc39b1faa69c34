"""The highlights of a run: fresh and erased text, its cursor, and changes under review; and those of next edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from rich.style import Style

from reviser.editor.review import Review
from tui.runs.run import FADE_SECONDS, TRAIL_SECONDS, DraftRun, Trail
from tui.sheet import Sheet
from tui.widgets.text.ghost_text import Ghost, GhostBuffer, shown_as
from tui.widgets.text.styles import TextStyles, fade_step

_TRAIL_CELLS = 32
_TRAILS = 4

# The start and end of a highlight, and its style.
Highlight = tuple[int, int, Style]


@dataclass(frozen=True)
class Overlay:
    """What is drawn over a text: ghosts of erased, replaced or offered text, and changes under review or offered."""

    ghosts: Sequence[Ghost] = ()
    changes: Sequence[Highlight] = ()

    @classmethod
    def of(cls, sheet: Sheet, styles: TextStyles, now: float, bare: bool) -> Overlay:
        """The overlay of a sheet at the time `now`; `bare` is without colour."""
        if review := sheet.review:
            return cls(old_texts(review, styles, bare), review_highlights(review, styles))
        if run := sheet.open_run:
            return cls(losses(run, styles, now, bare))
        return cls(offered_texts(sheet, styles, bare), offer_highlights(sheet, styles))


def around_ghosts(view: GhostBuffer, highlight: Highlight) -> Iterator[Highlight]:
    """A highlight, split where ghosts stand between its characters: these are not highlighted."""
    start, end, style = highlight
    inside = view.places_between(start, end)
    for first, last in pairwise([start, *inside, end]):
        if first < last:
            yield view.shown(first), view.shown(last - 1) + 1, style


def old_texts(review: Review, styles: TextStyles, bare: bool) -> list[Ghost]:
    """Ghosts of the texts that open changes have replaced, beside the new ones; `bare` is without colour."""
    here = review.current
    found = []
    for item in review.open_items:
        if item.old:
            ghost = _ghost(item.patch.start, item.old, styles.old_here if item is here else styles.old, bare)
            if item.new:
                # A space between the old and the new text.
                text = ghost.text if item.old[-1].isspace() else f"{ghost.text} "
                ghost = replace(ghost, text=text, bare=int(text[-1] == " "))
            found.append(ghost)
    return found


def offered_texts(sheet: Sheet, styles: TextStyles, bare: bool) -> list[Ghost]:
    """Ghosts of the texts that are offered, behind the old ones; `bare` is without colour."""
    here = sheet.offers.here
    found = []
    for one in sheet.offers.shown:
        style = styles.new_here if one is here else styles.new
        old, new = one.old, shown_as(one.new)
        if bare and old:
            found.append(Ghost(one.start, "[-"))
        lead = "-]" * bool(bare and old)
        # A space between the old and the new text.
        lead += " " * bool(old and new and not old[-1].isspace())
        found.append(Ghost(one.end, lead + new, style, lead=len(lead)))
    return found


def offer_highlights(sheet: Sheet, styles: TextStyles) -> list[Highlight]:
    """The highlights of the texts that offered ones would replace; that at the cursor differs."""
    here, shown = sheet.offers.here, sheet.offers.shown
    return [(one.start, one.end, styles.old_here if one is here else styles.old) for one in shown if one.old]


def losses(run: DraftRun, styles: TextStyles, now: float, bare: bool) -> list[Ghost]:
    """Ghosts of the text that the run has just erased, until they have faded."""
    found = []
    for at, gone in groupby(run.erased, lambda erased: erased.at):
        ages = {erased: now - erased.author.shown_at for erased in gone}
        fresh = [erased for erased, age in ages.items() if age < FADE_SECONDS]
        if fresh:
            style = styles.losses[fade_step(min(ages.values()))]
            text = "".join(erased.text for erased in fresh)
            found.append(_ghost(run.region.start + at, text, style, bare))
    return found


def _ghost(at: int, text: str, style: Style, bare: bool) -> Ghost:
    # Without colour a line through the letters alone could be missed, or not be drawn at all.
    shown = shown_as(text)
    return Ghost(at, f"[-{shown}-]" if bare else shown, style)


def review_highlights(review: Review, styles: TextStyles) -> list[Highlight]:
    """The highlights of the open changes; the current one differs."""
    here = review.current
    return [
        (item.patch.start, item.patch.end, styles.new_here if item is here else styles.new)
        for item in review.open_items
    ]


def run_highlights(run: DraftRun, styles: TextStyles, now: float, start: int, end: int) -> list[Highlight]:
    """The highlights of the region, fresh insertions, recent moves, and the model's cursor."""
    region = run.region
    highlights: list[Highlight] = [(region.start, region.end, styles.region)]
    for first, last, author in run.authors.between(max(start - region.start, 0), max(end - region.start, 0)):
        if (age := now - author.shown_at) < FADE_SECONDS:
            highlights.append((region.start + first, region.start + last, styles.fades[fade_step(age)]))
    for trail in run.trails[-_TRAILS:]:
        highlights += _trail_highlights(run, styles, trail, now)
    cursor = region.start + run.current.cursor
    return [*highlights, (cursor, cursor + 1, styles.model)]


def _trail_highlights(run: DraftRun, styles: TextStyles, trail: Trail, now: float) -> Iterator[Highlight]:
    """The characters that the model's cursor has just passed, fading with distance and time."""
    strength = max(0.0, 1 - (now - trail.at) / TRAIL_SECONDS)
    reach = min(abs(trail.end - trail.start), _TRAIL_CELLS)
    direction = 1 if trail.start > trail.end else -1
    for distance in range(reach):
        share = strength * (1 - distance / reach)
        place = run.region.start + trail.end + direction * distance
        yield place, place + 1, styles.tails[int(share * (len(styles.tails) - 1))]
