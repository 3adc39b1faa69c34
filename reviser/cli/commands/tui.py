"""`reviser tui`: the terminal editor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reviser.cli.commands.generate import EncodingOption, ModelOption
from reviser.cli.extras import load_extra


def tui(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Text files to open; new ones are made.", show_default=False)
    ] = None,
    model: ModelOption = None,
    encoding: EncodingOption = None,
    play: Annotated[Path | None, typer.Option(help="Play a trajectory file.", metavar="FILE")] = None,
) -> None:
    """Edit texts in the terminal and watch the model write in them."""
    load_extra("tui.app", "tui").run_editor(files or [], model=model, play=play, encoding=encoding)
