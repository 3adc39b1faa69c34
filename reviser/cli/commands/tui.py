"""`reviser tui`: the terminal editor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from reviser.cli.commands.generate import EncodingOption, ModelOption
from reviser.cli.extras import load_extra
from reviser.cli.options import Argument, Option


@dataclass(frozen=True, kw_only=True)
class TuiOptions:
    """The options of `tui`: the files to open, and the model."""

    files: Annotated[tuple[Path, ...], Argument("text files to open; new ones are made", default="")] = ()
    model: ModelOption = None
    encoding: EncodingOption = None
    play: Annotated[Path | None, Option("play a trajectory file", metavar="FILE")] = None


def tui(options: TuiOptions) -> None:
    """Edit texts in the terminal and watch the model write in them."""
    load_extra("tui.app", "tui").run_editor(
        list(options.files), model=options.model, play=options.play, encoding=options.encoding
    )
