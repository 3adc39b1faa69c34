"""`reviser bench`: measurements of the engine and of models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reviser.cli.completion import complete_model
from reviser.cli.extras import load_extra
from reviser.cli.options import add_deferred

app = typer.Typer(
    name="bench",
    help="Measure the engine and models; alone, a quick benchmark of the default model.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
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
        load_extra("benchmarks.command", "bench").quick(model, out, json)


_DEFERRED = (
    (
        *("run", "command", "bench"),
        """Let models continue prompts, measure all that they write, and report it.

        Run the same command again to continue after an interruption; finished work is reused. An empty name
        (--mauve "") leaves a measurement out. Exit status 1 means that something could not be measured.
        """,
    ),
    (
        *("reproduce", "reproduction.command", "all"),
        "Train AR, Revisers, SEDD and MDLM alike and compare them: --scale smoke, lab, bench or bench-warm.",
    ),
    (
        "speed",
        "speed.decoding",
        "bench",
        "Actions per second here, beside transformers and llama.cpp with the same weights.",
    ),
    ("canvas", "speed.canvas", "bench", "The cost of an edit on canvases from a thousand to a million tokens."),
    (
        *("lsp", "speed.suggestions.command", "lsp"),
        "How quickly suggestions come in an editor: a replayed typing session (two minutes).",
    ),
    (
        *("proofreading", "proofreading.command", "bench"),
        """How well programs proofread: GLEU and F0.5 on public sets, or recall by kind on your own.

        The public sets are fetched once, after you accept their licences. A program that is not
        installed is left out and named; exit status 1 means that one you asked for was.
        """,
    ),
    (
        *("everyday", "everyday.command", "bench"),
        """Everyday openings: whom a critic prefers, and whether steps back break sentences.

        A contestant is a model folder or name, `default`, `plain:MODEL` for one of ours that may only insert
        and stop, a GGUF file or `smollm2` for the base, or a causal language model by folder or hub name;
        NAME= before it names it. The first is compared with each of the others.
        """,
    ),
    (
        *("next-edit", "next_edits.command", "bench"),
        """How well next edits are foretold: sessions of people, of whose edits the first are made.

        Sessions come from git histories (`python -m training sessions find`). Precision and recall are told after
        one, two and three edits, beside find and replace, with intervals of 95 %, and by sorts of edits.
        """,
    ),
)
for _name, _module, _extra, _help in _DEFERRED:
    add_deferred(app, _name, f"benchmarks.{_module}", extra=_extra, help=_help)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)], json: _Json = False
) -> None:
    """Write the report of a run again: report.html and report.md."""
    found = load_extra("benchmarks.protocol.runs", "bench").RunFolder.existing(folder)
    load_extra("benchmarks.sections.page", "bench").write_report(found)
    if json:
        import json as to_json

        typer.echo(to_json.dumps(found.read_json("results.json"), ensure_ascii=False))
    else:
        typer.echo(f"wrote {folder / 'report.html'} and {folder / 'report.md'}", err=True)


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
