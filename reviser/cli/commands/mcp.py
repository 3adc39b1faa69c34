"""`reviser mcp`: documents for agents, through the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reviser.cli.extras import load_extra


def mcp(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders whose files may be edited, and no others.", show_default=False)
    ],
) -> None:
    """Let an agent edit documents by actions, through the Model Context Protocol.

    Agents start this command themselves and talk to it through standard input and output.
    """
    load_extra("reviser.mcp.server", "mcp").make_server(folders).run()
