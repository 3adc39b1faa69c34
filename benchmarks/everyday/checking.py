"""How far the critic and the measure of joins can be trusted: their figures on cases with a known answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.everyday.constructed import CASE_KINDS, DESCRIBED, JoinCase, ObviousCase
from benchmarks.everyday.critic import WAYS, Critic, Opinion, Preference
from benchmarks.everyday.joins import JudgedJoin, Reader, judged
from benchmarks.measures.arena import Interval, wilson
from benchmarks.protocol.runs import Bars, Cache, key_of, measured_each
from benchmarks.report.tables import Table


@dataclass(frozen=True)
class CriticFigures:
    """On the cases of one kind: the share it gets right (a tie is half), and what each part alone would get."""

    kind: str
    cases: int
    right: Interval
    undivided: Interval
    parts: tuple[float, ...]


@dataclass(frozen=True)
class JoinFigures:
    """Broken joins among constructed ones; `found` and `false` are over texts, the others over joins."""

    reader: str
    threshold: float
    texts: int
    found: Interval
    false: Interval
    precision: float
    recall: float
    before: float
    after: float


def check_critic(
    critic: Critic, cases: Sequence[ObviousCase], cache: Cache, bars: Bars
) -> list[CriticFigures]:
    """Ask the critic about real continuations and obviously worse ones."""
    asked = [(case.opening, text) for case in cases for text in (case.real, case.worse)]
    with bars.task(f"{critic.name} on obvious cases", len(asked)) as progress:
        found = measured_each(
            asked,
            lambda pair: key_of(kind="everyday opinion", critic=critic.fingerprint, pair=pair),
            lambda part: [asdict(critic.opinion(*pair)) for pair in part],
            cache,
            progress,
            chunk=1,
        )
    opinions = [Opinion(**value | {"praise": tuple(value["praise"])}) for value in found]
    pairs = list(zip(cases, opinions[::2], opinions[1::2], strict=True))
    return [
        _critic_figures(
            kind, [(real, worse) for case, real, worse in pairs if kind in (case.kind, "all")]
        )
        for kind in (*CASE_KINDS, "all")
    ]


def _critic_figures(kind: str, pairs: Sequence[tuple[Opinion, Opinion]]) -> CriticFigures:
    made = [Preference.between(*pair) for pair in pairs]
    alone = (
        *(
            sum(real.praise[way] > worse.praise[way] for real, worse in pairs)
            for way in range(len(WAYS))
        ),
        sum(real.help > worse.help for real, worse in pairs),
        sum(real.cost < worse.cost for real, worse in pairs),
    )
    return CriticFigures(
        kind,
        len(pairs),
        wilson(sum(entry.points for entry in made), len(made)),
        wilson(sum(entry.agrees for entry in made), len(made)),
        tuple(count / len(pairs) for count in alone),
    )


def check_joins(
    reader: Reader, cases: Sequence[JoinCase], threshold: float, bars: Bars
) -> JoinFigures:
    """Let the reader tell broken joins from fine ones."""
    found: list[tuple[JoinCase, list[JudgedJoin]]] = []
    with bars.task(f"{reader.name} on joins", len(cases)) as progress:
        for case in cases:
            found.append((case, judged(reader, reader.read(case.text), case.joins, threshold)))
            progress(1)
    broken = [joins for case, joins in found if case.broken]
    fine = [joins for case, joins in found if not case.broken]
    hits = sum(any(join.broken for join in joins) for joins in broken)
    alarms = sum(any(join.broken for join in joins) for joins in fine)
    return JoinFigures(
        reader=reader.name,
        threshold=threshold,
        texts=len(found),
        found=wilson(hits, len(broken)),
        false=wilson(alarms, len(fine)),
        precision=hits / max(hits + alarms, 1),
        recall=hits / max(len(broken), 1),
        before=_share(broken, 0),
        after=_share(broken, 1),
    )


def _share(texts: Sequence[Sequence[JudgedJoin]], place: int) -> float:
    return sum(joins[place].broken for joins in texts) / max(len(texts), 1)


NOTES = (
    "In hundredths, with 95 % Wilson intervals. A fine text has one of its own sentences taken for an insertion; in a broken one "
    "half a sentence of another text is put into the middle of a sentence. An obvious case is an opening of 40 words, the 40 words "
    "that really follow, and something worse of the same length; right is to prefer the real ones. Undivided: the critic's answers and "
    "its reading prefer the same one. The columns behind it say what each part would get right alone; likelihood is the cost per byte."
)


def _interval(value: Interval) -> str:
    return f"{100 * value.share:.1f} ({100 * value.low:.1f} to {100 * value.high:.1f})"


def critic_table(figures: Sequence[CriticFigures]) -> Table:
    columns = (
        "the worse one",
        "cases",
        "right",
        "undivided",
        "good? alone",
        "careful? alone",
        "help of the opening alone",
        "likelihood alone",
    )
    rows = tuple(
        (
            DESCRIBED.get(entry.kind, entry.kind),
            str(entry.cases),
            _interval(entry.right),
            _interval(entry.undivided),
            *(f"{100 * part:.1f}" for part in entry.parts),
        )
        for entry in figures
    )
    return Table(columns, rows)


def join_table(figures: Sequence[JoinFigures]) -> Table:
    columns = (
        "reader",
        "threshold",
        "texts",
        "precision",
        "recall",
        "broken texts found",
        "fine texts called broken",
        "found at the first join",
        "at the second",
    )
    rows = tuple(
        (
            entry.reader,
            f"{entry.threshold:.2f}",
            str(entry.texts),
            f"{100 * entry.precision:.1f}",
            f"{100 * entry.recall:.1f}",
            _interval(entry.found),
            _interval(entry.false),
            f"{100 * entry.before:.1f}",
            f"{100 * entry.after:.1f}",
        )
        for entry in figures
    )
    return Table(columns, rows)
