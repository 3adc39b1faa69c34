"""`reviser bench`: measurements of the engine and of models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reviser.cli.completion import complete_model
from reviser.cli.deferred import command_with
from reviser.cli.extras import load_extra

app = typer.Typer(
    name="bench",
    help="Measure the engine and models; alone, a quick benchmark of the default model.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_Write = Annotated[Path | None, typer.Option(help="Also write the result to this Markdown file.", metavar="OUT")]
_Out = Annotated[Path | None, typer.Option(help="The run's folder.", metavar="DIR", show_default="runs/bench-…")]


@app.callback()
def quick(
    context: typer.Context,
    model: Annotated[
        str | None,
        typer.Option(
            help="The model to measure, by name or path.", show_default="the default one", autocompletion=complete_model
        ),
    ] = None,
    out: _Out = None,
    json: _Json = False,
) -> None:
    """Measure the engine and models; alone, a quick benchmark of the default model.

    Without a command: the default model and SmolLM2 continue a few of the built-in texts, in
    minutes on two cores.
    """
    if context.invoked_subcommand is None:
        _carry_out(load_extra("benchmarks.suite", "bench").quick_plan(model), out, None, json)


@command_with(app, "benchmarks.options", options="BenchOptions", extra="bench")
def run(options: Any) -> None:
    """Let models continue prompts, measure all that they write, and report it.

    Run the same command again to continue after an interruption; finished work is reused. An empty name
    (--mauve "") leaves a measurement out. Exit status 1 means that something could not be measured.
    """
    plan = load_extra("benchmarks.suite", "bench").plan_of(options, say=lambda text: typer.echo(text, err=True))
    if _carry_out(plan, options.out, options.cache, options.json)["missing"]:
        raise typer.Exit(1)


def _carry_out(plan: Any, out: Path | None, cache: Path | None, as_json: bool) -> dict[str, object]:
    import json

    suite = load_extra("benchmarks.suite", "bench")
    folder, results = suite.carry_out(plan, out, cache, quiet=as_json)
    if as_json:
        typer.echo(json.dumps({"folder": str(folder.path)} | results, ensure_ascii=False))
    else:
        typer.echo(load_extra("benchmarks.report.page", "bench").summary_text(results))
        typer.echo(f"report: {folder.path / 'report.html'}", err=True)
    found: dict[str, object] = results
    return found


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)], json: _Json = False
) -> None:
    """Write the report of a run again: report.html, report.md and the plots."""
    found = load_extra("benchmarks.protocol.runs", "bench").RunFolder.existing(folder)
    load_extra("benchmarks.report.page", "bench").write_report(found)
    if json:
        import json as to_json

        typer.echo(to_json.dumps(found.read_json("results.json"), ensure_ascii=False))
    else:
        typer.echo(f"wrote {folder / 'report.html'} and {folder / 'report.md'}", err=True)


@command_with(app, "benchmarks.studies.reproduce", options="ReproduceOptions", extra="all")
def reproduce(options: object) -> None:
    """Train AR, Reviser, SEDD and MDLM alike and compare them: --scale smoke, lab, bench or bench-warm."""
    load_extra("benchmarks.studies.reproduce", "all").run(options)


@command_with(app, "benchmarks.speed.decoding", options="SpeedOptions", extra="bench")
def speed(options: object) -> None:
    """Actions per second here, beside transformers and llama.cpp with the same weights."""
    load_extra("benchmarks.speed.decoding", "bench").run_command(options)


@command_with(app, "benchmarks.speed.canvas", options="CanvasOptions", extra="bench")
def canvas(options: object) -> None:
    """The cost of an edit on canvases from a thousand to a million tokens."""
    load_extra("benchmarks.speed.canvas", "bench").run(options)


@app.command()
def flops(
    json: _Json = False,
    terms: Annotated[bool, typer.Option("--terms", help="Also the parts of the formulas, and departures.")] = False,
    trajectories: Annotated[
        Path | None, typer.Option(help="What these recorded runs cost, predicted and counted.", metavar="FILE")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="With --trajectories: the model's name, path or preset.",
            autocompletion=complete_model,
            show_default="the paper's reference model",
        ),
    ] = None,
) -> None:
    """The paper's inference costs, from its formulas; or those of recorded runs of any model."""
    module = load_extra("benchmarks.measures.flops", "bench")
    if trajectories is not None:
        typer.echo(module.measured_report(model, trajectories, as_json=json))
    elif model is not None:
        raise typer.BadParameter("the cost of a model needs --trajectories", param_hint="--model")
    else:
        typer.echo(module.paper_report(as_json=json, with_terms=terms))


@app.command()
def stats(
    file: Annotated[Path, typer.Argument(help="Trajectory file (JSON); - reads standard input.")], json: _Json = False
) -> None:
    """How the recorded runs were written: the paper's trajectory statistics."""
    typer.echo(load_extra("benchmarks.measures.statistics", "bench").file_report(file, as_json=json))


@command_with(app, "benchmarks.studies.edit_cost", options="EditCostOptions", extra="train")
def edits(options: object) -> None:
    """What real edits cost as actions, beside a whole rewrite and a unified diff."""
    load_extra("benchmarks.studies.edit_cost", "train").run(options)


@command_with(app, "benchmarks.speed.suggestions.command", options="SuggestionOptions", extra="lsp")
def lsp(options: object) -> None:
    """How quickly suggestions come in an editor: a replayed typing session (two minutes)."""
    load_extra("benchmarks.speed.suggestions.command", "lsp").run(options)


@command_with(app, "benchmarks.proofreading.command", options="ProofreadingOptions", extra="bench")
def proofreading(options: object) -> int:
    """How well programs proofread: GLEU and F0.5 on public sets, or recall by kind on your own.

    The public sets are fetched once, after you accept their licences. A program that is not
    installed is left out and named; exit status 1 means that one you asked for was.
    """
    status: int = load_extra("benchmarks.proofreading.command", "bench").run(options)
    return status


@command_with(app, "benchmarks.everyday.command", options="EverydayOptions", extra="bench")
def everyday(options: object) -> None:
    """Everyday openings: whom a critic prefers, and whether steps back break sentences.

    A contestant is a model folder or name, `default`, `plain:MODEL` for one of ours that may only insert
    and stop, a GGUF file or `smollm2` for the base, or a causal language model by folder or hub name;
    NAME= before it names it. The first is compared with each of the others.
    """
    load_extra("benchmarks.everyday.command", "bench").run(options)
