"""The report of a run: one self-contained page and one Markdown file, the paper's figures beside the measured.

Everything comes from the run's folder, so a report can be made again at any time. The paper's rows are
marked as such wherever they stand: other data, other judges, other evaluators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.measures import flops, statistics
from benchmarks.protocol.records import Generation, Prompt, read_records
from benchmarks.protocol.runs import RunFolder
from benchmarks.report import paper_tables
from benchmarks.report.plots import (
    STYLE,
    Bars,
    Curve,
    Mark,
    alone,
    bars,
    curves,
    intervals,
)
from benchmarks.report.tables import Table
from reviser.core.files import write_atomically
from reviser.core.vocabulary import MOVES

SAMPLES = 6
LENGTH_BIN = 10
REAL = "real text"
QUOTED = "(paper)"
_GREY = 7


@dataclass(frozen=True)
class Plot:
    """A drawing with the name of its file and what it shows."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Sample:
    """A prompt and what was written after it: who, what, and where its making can be watched."""

    prompt: str
    texts: tuple[tuple[str, str, str | None], ...]


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    rows: tuple[tuple[str, str], ...]


Block = str | Table | Plot | Sample | Facts


@dataclass(frozen=True)
class Section:
    """A part of the report; plain strings are paragraphs."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def anchor(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())


def write_report(folder: RunFolder) -> None:
    """Put `report.html`, `report.md` and the plots as files into a run's folder."""
    results = folder.read_json("results.json")
    sections = sections_of(results, _samples(folder, results))
    title = "Continuation benchmark"
    for section in sections:
        for block in section.blocks:
            if isinstance(block, Plot):
                write_atomically(
                    folder.file("plots", f"{block.name}.svg"), alone(block.svg).encode()
                )
    write_atomically(folder.file("report.md"), as_markdown(title, results, sections).encode())
    write_atomically(folder.file("report.html"), as_page(title, results, sections).encode())


def sections_of(results: dict[str, Any], samples: Sequence[Sample] = ()) -> list[Section]:
    """The parts of the report that there is something to say in."""
    parts = [
        Section("Summary", (_summary_note(results), summary_table(results))),
        *_reproduction(results),
        _missing(results),
        _arena(results),
        _perplexity(results),
        _mauve(results),
        _writing(results),
        _lengths(results),
        _costs(results),
        Section("Samples", tuple(samples)),
        _settings(results),
    ]
    return [part for part in parts if part.blocks]


def tables_of(results: dict[str, Any]) -> str:
    """All that the report says in words and tables, as Markdown: no plots, no samples."""
    kept = []
    for section in sections_of(results):
        blocks = tuple(block for block in section.blocks if not isinstance(block, Plot | Sample))
        if blocks and section.title != "Settings and hardware":
            kept.append(Section(section.title, blocks))
    return _sections_markdown(kept)


def summary_text(results: dict[str, Any]) -> str:
    """The summary for a terminal."""
    lines = [_summary_note(results), "", summary_table(results).markdown()]
    lines += [f"Not measured: {entry['what']}: {entry['why']}" for entry in results["missing"]]
    return "\n".join(lines).rstrip("\n")


def summary_table(results: dict[str, Any]) -> Table:
    """One row for each contestant with its main figures."""
    evaluators = list(dict.fromkeys(row["evaluator"] for row in results["perplexity"]))
    features = list(dict.fromkeys(row["features"] for row in results["mauve"]))
    judges = list(dict.fromkeys(row["judge"] for row in results["arena"]))
    first = results["arena"][0]["first"] if judges else ""
    columns = (
        "contestant",
        *(f"evalPPL, {name}" for name in evaluators),
        *(f"bits/byte, {name}" for name in evaluators),
        *(f"MAUVE, {name}" for name in features),
        *(f"{first} wins against it, {name}" for name in judges),
        "tokens",
        "stopped",
        "distinct-2",
        "repeated-4",
        "moves",
        "s/text",
    )
    return Table(
        columns,
        tuple(
            (
                entry["name"],
                *(_perplexity_of(results, entry["name"], name) for name in evaluators),
                *(_bits_of(results, entry["name"], name) for name in evaluators),
                *(_mauve_of(results, entry["name"], name) for name in features),
                *(_wins_against(results, entry["name"], name) for name in judges),
                f"{entry['tokens']:.0f}",
                f"{entry['endings'].get('stop', 0) / entry['texts']:.0%}",
                f"{entry['variety']['distinct_2']:.2f}",
                f"{entry['variety']['repeated_4']:.2f}",
                f"{entry['statistics']['move_fraction']:.0%}" if entry["statistics"] else "–",
                f"{entry['seconds']:.2f}" if entry["name"] != REAL else "–",
            )
            for entry in results["contestants"]
        ),
    )


def _find(rows: Sequence[dict[str, Any]], **wanted: str) -> dict[str, Any] | None:
    return next((row for row in rows if wanted.items() <= row.items()), None)


def _perplexity_of(results: dict[str, Any], contestant: str, evaluator: str) -> str:
    row = _find(results["perplexity"], contestant=contestant, evaluator=evaluator)
    return _with_interval(row["mean"], row["interval"]) if row else "–"


def _bits_of(results: dict[str, Any], contestant: str, evaluator: str) -> str:
    row = _find(results["perplexity"], contestant=contestant, evaluator=evaluator)
    return f"{row['bits_per_byte']:.3f}" if row else "–"


def _mauve_of(results: dict[str, Any], contestant: str, features: str) -> str:
    row = _find(results["mauve"], contestant=contestant, features=features)
    return f"{row['score']:.4f}" if row else "–"


def _wins_against(results: dict[str, Any], contestant: str, judge: str) -> str:
    row = _find(results["arena"], second=contestant, judge=judge)
    return _rate(row["win_rate"]) if row else "–"


def _with_interval(value: float, interval: Sequence[float], digits: int = 1) -> str:
    shown, low, high = (_digits(number, digits) for number in (value, *interval))
    return f"{shown} ({low} to {high})"


def _digits(value: float, digits: int) -> str:
    """So many digits behind the point; none where the number is large."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.{digits}f}"


def _plain(value: float) -> str:
    """Four digits that count, and never an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _rate(rate: dict[str, float | None]) -> str:
    share, low, high = rate["share"], rate["low"], rate["high"]
    if share is None or low is None or high is None:
        return "–"
    return f"{share:.1%} ({low:.1%} to {high:.1%})"


def _summary_note(results: dict[str, Any]) -> str:
    counts = results["prompts"]
    setup = results["settings"]["setup"]
    prompts = (
        f"{sum(counts.values())} prompts ({len(counts)} {'seed' if len(counts) == 1 else 'seeds'})"
    )
    return (
        f"{prompts} of {setup['prompt_tokens']} GPT-2 tokens from {Path(setup['data']).name}, to be continued to "
        f"{setup['total_tokens']}. In brackets: 95% intervals."
    )


_HOLDS = {True: "holds", False: "does not hold", None: "open"}


def _reproduction(results: dict[str, Any]) -> list[Section]:
    """How the models of a reproduction were trained, and which of the paper's rankings hold for them."""
    made = results.get("reproduction") or {}
    training = Table(
        (
            "model",
            "steps",
            "million ids",
            "loss at the end",
            "weights, MB",
            "thousand ids/s",
            "seconds",
        ),
        tuple(
            (
                name,
                f"{entry['steps']:,}",
                f"{entry['ids'] / 1e6:.1f}",
                f"{entry['loss']:.3f}",
                f"{entry['weights_mb']:.0f}",
                f"{entry['ids_per_s'] / 1e3:.1f}",
                f"{entry['seconds']:.0f}",
            )
            for name, entry in made.get("training", {}).items()
        ),
    )
    rankings = Table(
        ("measure", "the paper's ranking", "measured", "here"),
        tuple(
            (
                entry["measure"],
                entry["claim"],
                _as_measured(entry["measured"]),
                _HOLDS[entry["holds"]],
            )
            for entry in made.get("findings", ())
        ),
        names=2,
    )
    found = [entry["holds"] for entry in made.get("findings", ())]
    recipes = {_recipe(entry["settings"]) for entry in made.get("training", {}).values()}
    trained = (
        f"{'; '.join(sorted(recipes))}. All models have the same layers, width, heads and MLP and saw the same texts, the same number of ids "
        "and the same schedule. Losses are in nats for each id: of the next one (AR), of the next action "
        "(Reviser), and bounds (SEDD, MDLM), so they do not compare. Seconds are with compiling and saving."
    )
    ranked = (
        "How the paper ranks its smaller models, under each judge, evaluator and kind of features here: of "
        f"{len(found)} comparisons {found.count(True)} hold, {found.count(False)} do not and {found.count(None)} are "
        "open. One holds if the 95% intervals agree with it, does not if they contradict it, and is open if they "
        "overlap. An evaluator that is one of the models finds its own texts likely. A mean perplexity can be the work "
        "of a few texts, very short ones above all; the median is not."
    )
    parts = (
        Section("Training", (trained, training) if training.rows else ()),
        Section("The paper's rankings", (ranked, rankings) if rankings.rows else ()),
    )
    return [part for part in parts if part.blocks]


def _recipe(settings: dict[str, Any]) -> str:
    rows = settings["rows"] * settings["accumulate"]
    return (
        f"{settings['model']}, {rows} rows of {settings['row_length']} ids a step, learning rate "
        f"{settings['peak_rate']:g} to {settings['final_rate']:g}, seed {settings['seed']}"
    )


def _as_measured(values: dict[str, float | None]) -> str:
    if "share" in values:
        return _rate(values)
    return ", ".join(
        f"{name} {'–' if value is None else _plain(value)}" for name, value in values.items()
    )


def _missing(results: dict[str, Any]) -> Section:
    rows = tuple((entry["what"], entry["why"]) for entry in results["missing"])
    return Section("Not measured", (Facts(rows),) if rows else ())


def _colours(results: dict[str, Any]) -> dict[str, int]:
    names = [entry["name"] for entry in results["contestants"] if entry["name"] != REAL]
    return {name: number for number, name in enumerate(names)} | {REAL: _GREY}


def _arena(results: dict[str, Any]) -> Section:
    measured = results["arena"]
    if not measured:
        return Section("Arena", ())
    rows = [
        (
            row["first"],
            row["second"],
            row["judge"],
            _rate(row["win_rate"]),
            f"{row['wins']} / {row['losses']} / {row['ties']}",
            f"{row['invalid']} of {row['asked']}",
            _rate(row["shown_first"]),
            _rate(row["agreement"]) if row["agreement"] else "–",
        )
        for row in measured
    ]
    quoted = [
        (
            f"{entry.reviser} {QUOTED}",
            entry.baseline,
            "Skywork-Critic-8B",
            f"{entry.reviser_wins:.2f}".rstrip("0").rstrip(".") + "%",
            *["–"] * 4,
        )
        for entry in paper_tables.ARENAS
    ]
    columns = (
        "contestant",
        "against",
        "judge",
        "win rate",
        "wins / losses / ties",
        "invalid",
        "for the one shown first",
        "same both ways",
    )
    table = _beside(columns, rows, quoted, names=3)
    colours = _colours(results)
    marks = [
        Mark(
            f"{row['first']} against {row['second']}",
            rate["share"],
            rate["low"],
            rate["high"],
            colour=colours[row["second"]],
        )
        for row in measured
        if (rate := row["win_rate"])["share"] is not None
    ]
    marks += [
        Mark(
            f"{entry.reviser} against {entry.baseline}",
            entry.reviser_wins / 100,
            quoted=True,
            colour=_GREY,
        )
        for entry in paper_tables.ARENAS
    ]
    plot = Plot(
        "win-rates",
        "Win rates with Wilson intervals; hollow: the paper's",
        intervals("Win rates", marks, show="{:.0%}".format, limits=(0, 1), at=0.5),
    )
    note = (
        "A judge sees the prompt and both continuations, in an order drawn for each example. A tie, or a "
        "contradiction between both orders, counts as half a win. A likelihood judge prefers the "
        "predictable."
    )
    return Section("Arena", (note, table, plot))


def _median(row: dict[str, Any]) -> str:
    """The median example's perplexity, with its interval where the run has one."""
    interval = row.get("median_interval")
    return _with_interval(row["median"], interval, 2) if interval else _digits(row["median"], 2)


def _perplexity(results: dict[str, Any]) -> Section:
    measured = results["perplexity"]
    if not measured:
        return Section("Perplexity", ())
    rows = [
        (
            row["contestant"],
            row["evaluator"],
            _with_interval(row["mean"], row["interval"], 2),
            _over_seeds(row),
            _median(row),
            _digits(row["over_tokens"], 2),
            _digits(row["median_token"], 2),
            f"{row['bits_per_byte']:.4f}",
            str(row["examples"]),
            str(row["empty"]),
        )
        for row in measured
    ]
    printed = {"GPT-2 Large": 0, "Dream-7B": 1}
    quoted = [
        (f"{name} {QUOTED}", evaluator, f"{values[place]:.4f}", *["–"] * 7)
        for evaluator, place in printed.items()
        for name, values in paper_tables.EVAL_PPL.items()
    ]
    columns = (
        "contestant",
        "evaluator",
        "mean over examples",
        "mean ± deviation of seeds",
        "median example",
        "over tokens",
        "median token",
        "bits/byte",
        "examples",
        "empty",
    )
    colours = _colours(results)
    marks = [
        Mark(
            f"{row['contestant']}, {row['evaluator']}",
            row["mean"],
            row["interval"][0],
            row["interval"][1],
            colour=colours[row["contestant"]],
        )
        for row in measured
    ]
    marks += [
        Mark(f"{name}, {evaluator}", values[place], quoted=True, colour=_GREY)
        for evaluator, place in printed.items()
        for name, values in paper_tables.EVAL_PPL.items()
    ]
    plot = Plot(
        "perplexity",
        "Mean perplexity over examples, on a logarithmic axis; hollow: the paper's",
        intervals("Perplexity of continuations", marks, show=_plain, log=True),
    )
    note = (
        "Perplexity of the continuation's tokens alone, given the prompt; lower is likelier, which is "
        "not the same as better. Evaluators with different tokenizers compare in bits per byte. "
        "Diffusion-style evaluators give upper bounds."
    )
    return Section("Perplexity", (note, _beside(columns, rows, quoted, names=2), plot))


def _over_seeds(row: dict[str, Any]) -> str:
    if row["seed_spread"] is None:
        return "–"
    means = row["by_seed"].values()
    return f"{_digits(sum(means) / len(means), 2)} ± {_digits(row['seed_spread'], 2)}"


def _mauve(results: dict[str, Any]) -> Section:
    measured = results["mauve"]
    if not measured:
        return Section("MAUVE", ())
    rows = [
        (
            row["contestant"],
            row["features"],
            f"{row['score']:.4f}",
            f"{row['spread']:.4f}",
            f"{row['smoothed']:.4f}",
            str(row["texts"]),
            str(row["clusters"]),
        )
        for row in measured
    ]
    quoted = [
        (f"{name} {QUOTED}", "BERT pseudo-log-likelihood", f"{value:.4f}", "–", "–", "3000", "–")
        for name, value in paper_tables.MAUVE.items()
    ]
    columns = (
        "contestant",
        "features",
        "MAUVE",
        "deviation over clusterings",
        "smoothed",
        "texts",
        "clusters",
    )
    colours = _colours(results)
    marks = [
        Mark(
            f"{row['contestant']}, {row['features']}",
            row["score"],
            max(0.0, row["score"] - row["spread"]),
            min(1.0, row["score"] + row["spread"]),
            colour=colours[row["contestant"]],
        )
        for row in measured
    ]
    marks += [
        Mark(name, value, quoted=True, colour=_GREY) for name, value in paper_tables.MAUVE.items()
    ]
    plot = Plot(
        "mauve",
        "MAUVE, with the deviation over clusterings; hollow: the paper's",
        intervals("MAUVE", marks, show="{:.2f}".format, limits=(0, 1)),
    )
    note = (
        "How far continuations and the real ones overlap as distributions, each cut to 100 GPT-2 tokens; "
        "higher is closer. Scores with different features or numbers of texts do not compare."
    )
    return Section("MAUVE", (note, _beside(columns, rows, quoted, names=2), plot))


def _writing(results: dict[str, Any]) -> Section:
    editors = {
        entry["name"]: entry for entry in results["contestants"] if entry["statistics"] is not None
    }
    if not editors:
        return Section("How they write", ())
    colours = _colours(results)
    table = statistics.table({name: entry["statistics"] for name, entry in editors.items()})
    note = (
        "All statistics are about the actions after the prompt. A backward revision is a backward move "
        "followed by an insertion before the place it left."
    )
    blocks: list[Block] = [note, table]
    if any(entry["distances"] for entry in editors.values()):
        blocks.append(_distances(editors, colours))
    if any(entry["positions"] for entry in editors.values()):
        blocks.append(_positions(editors, colours))
    return Section("How they write", tuple(blocks))


def _distances(editors: dict[str, dict[str, Any]], colours: dict[str, int]) -> Plot:
    sizes = [delta for delta in MOVES if delta > 0]
    series = []
    for name, entry in editors.items():
        counts = {int(delta): count for delta, count in entry["distances"].items()}
        total = sum(counts.values())
        shares = tuple(
            (counts.get(size, 0) + counts.get(-size, 0)) / total if total else None
            for size in sizes
        )
        series.append(Bars(name, shares, colour=colours[name]))
    for place, model in enumerate(("100M", "300M")):
        printed = [
            paper_tables.TRAJECTORIES[f"move_mass_{size}"][place] if size <= 8 else None
            for size in sizes
        ]
        series.append(
            Bars(f"paper, {model} (1 to 8)", tuple(printed), quoted=True, colour=_GREY - place)
        )
    return Plot(
        "move-distances",
        "Share of the moves by their distance, in either direction",
        bars("Move distances", [str(size) for size in sizes], series, show="{:.0%}".format),
    )


def _positions(editors: dict[str, dict[str, Any]], colours: dict[str, int]) -> Plot:
    series = [
        Curve(
            name,
            tuple((when, middle) for when, _, middle, _ in entry["positions"]),
            tuple((when, low, high) for when, low, _, high in entry["positions"]),
            colour=colours[name],
        )
        for name, entry in editors.items()
        if entry["positions"]
    ]
    return Plot(
        "insertion-positions",
        "Where insertions happen, from the prompt (0) to the end (1): median and middle half",
        curves(
            "Insertion positions over time",
            series,
            across="share of the run's actions",
            show_x="{:.0%}".format,
            show_y="{:.1f}".format,
            limits=(0.0, 1.0),
        ),
    )


def _lengths(results: dict[str, Any]) -> Section:
    colours = _colours(results)
    series = []
    for entry in results["contestants"]:
        counts: dict[int, int] = {}
        for length, count in entry["lengths"].items():
            place = int(length) // LENGTH_BIN
            counts[place] = counts.get(place, 0) + count
        # Steps: flat over each bin, and down to nothing at both ends.
        points = [(min(counts) * LENGTH_BIN, 0.0)]
        for place in range(min(counts), max(counts) + 1):
            share = counts.get(place, 0) / entry["texts"]
            points += [(place * LENGTH_BIN, share), ((place + 1) * LENGTH_BIN, share)]
        points.append((points[-1][0], 0.0))
        series.append(Curve(entry["name"], tuple(points), colour=colours[entry["name"]]))
    plot = Plot(
        "lengths",
        f"Length of continuations in the contestants' own tokens, in steps of {LENGTH_BIN}",
        curves(
            "Length of continuations",
            series,
            across="tokens",
            show_x="{:.0f}".format,
            show_y="{:.0%}".format,
        ),
    )
    endings = list(
        dict.fromkeys(name for entry in results["contestants"] for name in entry["endings"])
    )
    table = Table(
        (
            "contestant",
            "texts",
            "mean tokens",
            *(f"ended by {name}" for name in endings),
            "distinct-1",
            "distinct-2",
            "distinct-3",
            "distinct-2 overall",
            "repeated-4",
            "looping",
        ),
        tuple(
            (
                entry["name"],
                str(entry["texts"]),
                f"{entry['tokens']:.1f}",
                *(f"{entry['endings'].get(name, 0) / entry['texts']:.1%}" for name in endings),
                *(f"{entry['variety'][f'distinct_{n}']:.3f}" for n in (1, 2, 3)),
                f"{entry['variety']['distinct_2_overall']:.3f}",
                f"{entry['variety']['repeated_4']:.3f}",
                f"{entry['variety']['looping']:.1%}",
            )
            for entry in results["contestants"]
        ),
    )
    return Section("Length and variety", (table, plot))


def _costs(results: dict[str, Any]) -> Section:
    measured = {
        entry["name"]: flops.Measured(**entry["flops"])
        for entry in results["contestants"]
        if entry["flops"]
    }
    colours = _colours(results)
    marks = [
        Mark(f"{name}, counted", entry.counted, colour=colours[name])
        for name, entry in measured.items()
    ]
    marks += [
        Mark(f"{figure.method}, {figure.variant}", figure.multiplier, quoted=True, colour=_GREY)
        for figure in flops.figures()
        if figure.multiplier != 1 or figure.method == "AR"
    ]
    steps = results["settings"]["setup"]["diffusion_steps"]
    here = flops.diffusion(flops.REFERENCE, flops.LENGTH, steps)
    marks.append(
        Mark(
            f"SEDD and MDLM in this run, T_dec={steps}",
            here / flops.REFERENCE.autoregressive(flops.LENGTH),
            colour=_GREY,
        )
    )
    plot = Plot(
        "flops",
        "Inference cost as a multiple of an autoregressive model's, logarithmic; hollow: the paper's",
        intervals("Inference cost", marks, show=_plain, log=True, at=1.0),
    )
    note = (
        "Multiply-accumulates of matrix products alone, by the paper's formulas. Predicted: its formula at "
        "the measured move fraction and mean length. Counted: the actions that were really taken. With the "
        "prompt: also what reading it costs both models."
    )
    table: tuple[Block, ...] = (flops.measured_table(measured),) if measured else ()
    return Section("Cost", (note, *table, plot))


def _settings(results: dict[str, Any]) -> Section:
    settings = results["settings"]
    setup = settings["setup"]
    rows = [(name, str(value)) for name, value in results["provenance"].items()]
    for name in ("models", "evaluators", "judges", "features"):
        rows.append((name, ", ".join(settings[name]) or "none"))
    rows.append(("judges asked both ways", "yes" if settings["both_ways"] else "no"))
    for name, value in setup.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        rows.append((name.replace("_", " "), shown))
    return Section("Settings and hardware", (Facts(tuple(rows)),))


def _beside(
    columns: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    quoted: Sequence[tuple[str, ...]],
    names: int,
) -> Table:
    """Measured rows, and below them the paper's."""
    places = frozenset(range(len(rows), len(rows) + len(quoted)))
    return Table(columns, (*rows, *quoted), names, places)


def _samples(folder: RunFolder, results: dict[str, Any]) -> list[Sample]:
    """What everybody wrote after the first prompts of the first seed."""
    seed = int(next(iter(results["prompts"])))
    prompts = read_records(folder.file("prompts", f"{seed}.jsonl"), Prompt)[:SAMPLES]
    written: dict[str, dict[str, Generation]] = {}
    for entry in results["contestants"]:
        made = read_records(folder.file("generations", f"{entry['file']}.jsonl"), Generation)
        written[entry["name"]] = {one.prompt_id: one for one in made if one.seed == seed}
    viewers = {entry["name"]: entry["viewer"] for entry in results["contestants"]}
    return [
        Sample(
            prompt.text,
            tuple(
                (
                    name,
                    texts[prompt.id].continuation,
                    f"{viewers[name]}#{number}" if viewers[name] else None,
                )
                for name, texts in written.items()
            ),
        )
        for number, prompt in enumerate(prompts)
    ]


def as_page(title: str, results: dict[str, Any], sections: Sequence[Section]) -> str:
    """The whole report as one HTML document that needs nothing else."""
    facts = results["provenance"]
    lead = f"<p>{escape(facts['Date'])}, {escape(facts['Hardware'])}, commit {escape(facts['Commit'])}</p>"
    return Template(_part("page.html")).substitute(
        title=escape(title),
        style=_part("page.css") + STYLE,
        lead=lead,
        contents="".join(f'<a href="#{s.anchor}">{escape(s.title)}</a>' for s in sections),
        body="".join(_section_html(section) for section in sections),
    )


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _section_html(section: Section) -> str:
    blocks = "".join(_block_html(block) for block in section.blocks)
    return (
        f'<section id="{section.anchor}">\n<h2>{escape(section.title)}</h2>\n{blocks}</section>\n'
    )


def _block_html(block: Block) -> str:
    match block:
        case str():
            return f"<p>{escape(block)}</p>\n"
        case Table():
            return f'<div class="scroll">{block.html()}</div>\n'
        case Plot():
            caption = f"<figcaption>{escape(block.caption)}</figcaption>"
            return f'<figure>{caption}<div class="scroll">{block.svg}</div></figure>\n'
        case Facts():
            rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in block.rows)
            return f"<dl>{rows}</dl>\n"
        case Sample():
            return _sample_html(block)


def _sample_html(sample: Sample) -> str:
    columns = ""
    for name, text, link in sample.texts:
        watch = f' <a href="{escape(link)}">watch</a>' if link else ""
        columns += f"<div><h4>{escape(name)}{watch}</h4><p>{escape(text)}</p></div>"
    return (
        f'<div class="sample"><div class="prompt">{escape(sample.prompt)}</div>'
        f'<div class="columns">{columns}</div></div>\n'
    )


def as_markdown(title: str, results: dict[str, Any], sections: Sequence[Section]) -> str:
    """The same report for a reader of Markdown; plots are files beside it."""
    return f"# {title}\n\n{_sections_markdown(sections)}"


def _sections_markdown(sections: Sequence[Section]) -> str:
    parts = []
    for section in sections:
        parts.append(f"## {section.title}\n")
        parts += [_block_markdown(block) for block in section.blocks]
    return "\n".join(parts)


def _block_markdown(block: Block) -> str:
    match block:
        case str():
            return f"{block}\n"
        case Table():
            return block.markdown()
        case Plot():
            return f"![{block.caption}](plots/{block.name}.svg)\n"
        case Facts():
            return "".join(f"- {name}: {value}\n" for name, value in block.rows)
        case Sample():
            lines = [f"> {_one_line(block.prompt)}\n"]
            for name, text, link in block.texts:
                watch = f" ([watch]({link}))" if link else ""
                lines.append(f"- **{name}**{watch}: {_one_line(text)}")
            return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    """A text as one line in which Markdown finds nothing of its own."""
    plain = " ".join(text.split())
    for mark in "\\`*_[]<>#|":
        plain = plain.replace(mark, f"\\{mark}")
    return plain
