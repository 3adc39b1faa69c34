"""MaxMatch (Dahlmeier and Ng 2012): F0.5 of edits, with the edits of a corrected sentence chosen to match an
annotator's best.

A corrected sentence can be split into edits in many ways. Its alignments with the source (with a substitution
costing as much as an insertion, and twice as much, as in the scorer of the CoNLL-2014 shared task) form a graph,
in which neighbouring steps with at most two unchanged words among them may be joined to one edit. Of all paths
through the graph, the one with most of the annotator's edits counts, then the shortest.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.proofreading.scores import FScore, f_score
from benchmarks.proofreading.sets import AnnotatedEdit
from benchmarks.proofreading.tokens import Tokens

UNCHANGED_WORDS = 2

Place = tuple[int, int]
Steps = dict[Place, list[tuple[Place, bool]]]


def m2(
    sources: Sequence[Tokens], outputs: Sequence[Tokens], annotations: Sequence[Sequence[Sequence[AnnotatedEdit]]]
) -> FScore:
    """F0.5 with precision and recall over all sentences."""
    return f_score(
        [counts(source, output, several) for source, output, several in zip(sources, outputs, annotations, strict=True)]
    )


def counts(
    source: Tokens, output: Tokens, annotations: Sequence[Sequence[AnnotatedEdit]]
) -> list[tuple[int, int, int]]:
    """For each sentence and annotator: the numbers of right edits, edits made and edits wanted."""
    if source == output:
        return [(0, 0, len(edits)) for edits in annotations]
    arcs = _arcs(_graph(source, output))
    found = []
    for edits in annotations:
        made = _best_edits(source, output, arcs, edits)
        found.append((_matches(made, edits), len(made), len(edits)))
    return found


Made = tuple[int, int, str]


def _graph(source: Tokens, output: Tokens) -> Steps:
    """All steps of all best alignments under both costs: from a place to the next, changed or not."""
    steps: Steps = {}
    seen: set[tuple[Place, Place]] = set()
    for price in (1, 2):
        for start, end, same in _best_steps(source, output, price):
            if (start, end) not in seen:
                seen.add((start, end))
                steps.setdefault(start, []).append((end, same))
    return steps


def _best_steps(source: Tokens, output: Tokens, price: int) -> list[tuple[Place, Place, bool]]:
    wide = len(output) + 1
    costs = [list(range(wide))]
    for row, word in enumerate(source, 1):
        above, line = costs[-1], [row]
        for column, made in enumerate(output, 1):
            across = above[column - 1] + (0 if word == made else price)
            line.append(min(across, above[column] + 1, line[-1] + 1))
        costs.append(line)
    steps = []
    waiting, seen = [(len(source), len(output))], {(len(source), len(output))}
    while waiting:
        row, column = end = waiting.pop()
        cost = costs[row][column]
        options = []
        if row and column:
            same = source[row - 1] == output[column - 1]
            if costs[row - 1][column - 1] + (0 if same else price) == cost:
                options.append(((row - 1, column - 1), same))
        if row and costs[row - 1][column] + 1 == cost:
            options.append(((row - 1, column), False))
        if column and costs[row][column - 1] + 1 == cost:
            options.append(((row, column - 1), False))
        for start, same in options:
            steps.append((start, end, same))
            if start not in seen:
                seen.add(start)
                waiting.append(start)
    return steps


def _arcs(steps: Steps) -> dict[Place, list[tuple[Place, int, bool]]]:
    """The arcs of the graph from each place: (target, length, whether nothing changes), for steps and joined edits."""
    return {start: _arcs_from(start, steps) for start in sorted(steps)}


def _arcs_from(start: Place, steps: Steps) -> list[tuple[Place, int, bool]]:
    arcs = [(end, 1, True) for end, same in steps[start] if same]
    # The fewest steps to each place, by unchanged words on the way and whether anything was changed.
    reached: dict[tuple[Place, int, bool], int] = {(start, 0, False): 0}
    shortest: dict[Place, int] = {}
    frontier = [(start, 0, False)]
    while frontier:
        following = []
        for state in frontier:
            place, unchanged, changed = state
            for end, same in steps.get(place, ()):
                after = (end, unchanged + same, changed or not same)
                if after[1] > UNCHANGED_WORDS or after in reached:
                    continue
                reached[after] = reached[state] + 1
                following.append(after)
                if after[2]:
                    shortest.setdefault(end, reached[after])
        frontier = following
    return arcs + [(end, length, False) for end, length in shortest.items()]


def _best_edits(
    source: Tokens, output: Tokens, arcs: dict[Place, list[tuple[Place, int, bool]]], edits: Sequence[AnnotatedEdit]
) -> list[Made]:
    wanted = {(edit.start, edit.end, option) for edit in edits for option in edit.corrections}
    spans = {(edit.start, edit.end) for edit in edits}
    best: dict[Place, tuple[int, int, int]] = {(0, 0): (0, 0, 0)}
    came: dict[Place, tuple[Place, bool]] = {}
    for start, leading in arcs.items():  # sorted, so that all ways to a place are known before it
        matched, length, made = best[start]
        for end, steps, same in leading:
            if same:
                cost = (matched, length + 1, made)
            elif (start[0], end[0]) in spans and ((start[0], end[0], " ".join(output[start[1] : end[1]])) in wanted):
                cost = (matched - 1, length, made + 1)
            else:
                cost = (matched, length + steps, made + 1)
            if end not in best or cost < best[end]:
                best[end] = cost
                came[end] = (start, same)
    found: list[Made] = []
    place = (len(source), len(output))
    while place in came:
        start, same = came[place]
        if not same:
            found.append((start[0], place[0], " ".join(output[start[1] : place[1]])))
        place = start
    return found[::-1]


def _matches(made: Sequence[Made], edits: Sequence[AnnotatedEdit]) -> int:
    """The number of edits that an annotator also made; each of the annotator's counts once."""
    left = list(edits)
    for start, end, text in made:
        for edit in left:
            if (edit.start, edit.end) == (start, end) and text in edit.corrections:
                left.remove(edit)
                break
    return len(edits) - len(left)
