"""The page on evidence: which of it tells right changes from wrong ones, and what the dial does with what the program weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.proofreading.calibration.curve import Share
from benchmarks.proofreading.deciding.collecting import LEAST, Judged, Sample
from benchmarks.proofreading.deciding.figures import (
    Dial,
    area,
    average_precision,
    correcting,
    left_alone,
    lowest_setting,
    made,
    proposals,
)
from benchmarks.proofreading.deciding.weighing import (
    CHOSEN,
    OTHERS,
    READING,
    WAYS,
    Weighing,
    combined,
    dial_of,
)
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.proofreading.calibration import BETTER
from reviser.proofreading.evidence.readings import BEHIND

SETTINGS: Final = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9)
_READING: Final = (0.0, 0.4, READING, 1.2)
_OTHERS: Final = (0.0, 0.6, OTHERS, 1.8)
_EXPLAINED = f"""\
A change is right if it brings its text nearer to a corrected one, in words and marks; in finished texts every change is wrong. Unknown words are
corrected first, at 0.5, and count; other changes are those of the first look that no veto speaks against, down to a probability of {LEAST:g}. Each way to decide is a
logistic regression on the log-odds of the model's probability and on what its row names. It was fitted to the texts of the first list and is shown on those of the second.
"As it is" is the probability itself. Changes of kinds that need more confidence need more in every row. F0.5 is by changes of words, so it is
not that of the benchmarks. The area is the probability that a right change has a higher confidence than a wrong one, over all corrected texts together.
A sentence "reads" by the log-probability of its words from the change on to {BEHIND} tokens behind it, from left to right, less that of the old ones; "a little" is {BETTER:g}.
"""


@dataclass(frozen=True)
class Study:
    """Texts to fit to, texts with mistakes and finished ones to measure on, each under a name, and the target for each finished one."""

    fit: Mapping[str, list[Sample]]
    corrected: Mapping[str, list[Sample]]
    finished: Mapping[str, list[Sample]]
    targets: Mapping[str, tuple[float, ...]]
    wanted: Mapping[str, int]


@dataclass(frozen=True)
class Row:
    """The figures of a way to decide."""

    name: str
    area: float
    precision: float
    figures: tuple[tuple[float, ...], ...]


def dials_of(study: Study, dial: Dial) -> dict[int, float]:
    """The dial of each proposal that is measured, by its identity."""
    texts = (*study.corrected.values(), *study.finished.values())
    return {id(one): dial(one) for some in texts for one in proposals(some)}


def raw(one: Judged) -> float:
    """As the program decides without a calibration."""
    return dial_of(one.chance, one.share)


def weighed(weighing: Weighing) -> Dial:
    """As it decides with one."""
    return lambda one: dial_of(weighing.confidence(one), one.share)


def row(study: Study, name: str, dial: Dial) -> Row:
    """The figures of a way to decide."""
    dials = dials_of(study, dial)
    some = [one for texts in study.corrected.values() for one in proposals(texts)]
    scores = np.array([dials[id(one)] for one in some])
    right = np.array([one.right for one in some], np.float64)
    figures = []
    for finished, targets in study.targets.items():
        for target in targets:
            setting = lowest_setting(study.finished[finished], dials, target)
            figures.append(
                tuple(
                    correcting(texts, dials, setting, study.wanted[known]).f
                    for known, texts in study.corrected.items()
                )
            )
    return Row(name, area(scores, right), average_precision(scores, right), tuple(figures))


def evidence_table(study: Study, ways: Mapping[str, Weighing]) -> str:
    """All ways to decide."""
    rows = [row(study, "as it is", raw)]
    rows += [row(study, name, weighed(ways[name])) for name in WAYS]
    known = " / ".join(study.corrected)
    columns = [
        f"F0.5 of {known} at {100 * target:g} % of {name} left alone"
        for name, targets in study.targets.items()
        for target in targets
    ]
    cells = tuple(
        (
            one.name,
            f"{one.area:.3f}",
            f"{one.precision:.3f}",
            *(" / ".join(f"{100 * f:.1f}" for f in figure) for figure in one.figures),
        )
        for one in rows
    )
    return Table(("what is weighed", "area", "mean precision", *columns), cells).markdown()


def weights_table(study: Study) -> str:
    """What other weights of reading and of other changes would do."""
    grid = [
        [
            _mean(row(study, "", weighed(Weighing((combined(read, beside),), (0.0, 1.0)))))
            for beside in _OTHERS
        ]
        for read in _READING
    ]
    rows = tuple(
        (f"{read:g}", *(f"{mean:.1f}" for mean in means))
        for read, means in zip(_READING, grid, strict=True)
    )
    return Table(("reading", *(f"others {one:g}" for one in _OTHERS)), rows).markdown()


def _mean(found: Row) -> float:
    return 100 * float(np.mean(found.figures))


def dial_table(study: Study, dial: Dial) -> str:
    """What each setting does."""
    dials = dials_of(study, dial)
    everything = [
        text for texts in (*study.corrected.values(), *study.finished.values()) for text in texts
    ]
    corrected = [text for texts in study.corrected.values() for text in texts]
    rows = []
    for setting in SETTINGS:
        cells = [f"{setting:g}"]
        for name, texts in study.corrected.items():
            found = correcting(texts, dials, setting, study.wanted[name])
            cells.append(
                f"{100 * found.f:.1f} ({100 * found.precision:.0f}, {100 * found.recall:.0f})"
            )
        cells += [
            f"{100 * left_alone(texts, dials, setting):.1f} %" for texts in study.finished.values()
        ]
        cells += [_share(made(texts, dials, setting)) for texts in (corrected, everything)]
        rows.append(tuple(cells))
    columns = (
        "dial",
        *(f"{name}: F0.5 (precision, recall)" for name in study.corrected),
        *(f"{name} left alone" for name in study.finished),
        "right, texts with mistakes",
        "right, all texts",
    )
    return Table(columns, tuple(rows)).markdown()


def _share(share: Share) -> str:
    if not share.made:
        return "–"
    low, high = share.interval
    return f"{100 * share.value:.0f} % ({100 * low:.0f} to {100 * high:.0f}) of {share.made}"


def page(command: str, study: Study, ways: Mapping[str, Weighing], model: str) -> str:
    """The page in Markdown; it has no text of any source."""
    facts = {
        "Model": f"weights {model}",
        "Fitted to": _sizes(study.fit),
        "Measured on": _sizes({**study.corrected, **study.finished}),
    }
    program = ways[CHOSEN]
    intercept, slope = program.weights
    return "\n".join(
        [
            f"# Evidence on changes\n\n{provenance(command, **facts)}\n{_EXPLAINED}",
            evidence_table(study, ways),
            "## Weights\n\nThe mean of all F0.5 of the table above, by what reading and other changes weigh beside the log-odds of the probability:\n",
            weights_table(study),
            f"Chosen: {READING:g} and {OTHERS:g}. All three are multiplied by {slope:.2f}, and {intercept:.2f} is added: so the dial says how often changes are right in the texts that this was fitted to.\n",
            f"## The dial as it is\n\n{dial_table(study, raw)}",
            f"## The dial with chosen weights\n\n{dial_table(study, weighed(program))}",
        ]
    )


def _sizes(texts: Mapping[str, Sequence[Sample]]) -> str:
    return ", ".join(
        f"{name} ({len(some):,} texts, {len(proposals(some)):,} changes)"
        for name, some in texts.items()
    )
