"""`reviser mcp`: documents for agents, through the Model Context Protocol."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from reviser.cli.extras import load_extra
from reviser.cli.options import Argument


@dataclass(frozen=True, kw_only=True)
class McpOptions:
    """The options of `mcp`: what agents may edit."""

    folders: Annotated[tuple[Path, ...], Argument("folders whose files may be edited, and no others")]


def mcp(options: McpOptions) -> None:
    """Let an agent edit documents by actions, through the Model Context Protocol.

    Agents start this command themselves and talk to it through standard input and output.
    """
    load_extra("reviser.mcp.server", "mcp").make_server(list(options.folders)).run()
