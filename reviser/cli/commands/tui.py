"""`reviser tui`: the terminal editor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reviser.cli.extras import load_extra


def tui(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Text files to open; new ones are made.", show_default=False),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Name or folder of a model (see reviser models list), or openai:URL.",
        ),
    ] = None,
    play: Annotated[
        Path | None, typer.Option(help="Play a trajectory file.", metavar="FILE")
    ] = None,
) -> None:
    """Edit texts in the terminal and watch the model write in them."""
    load_extra("tui.app", "tui").run_editor(files or [], model=model, play=play)
