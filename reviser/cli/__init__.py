"""The `reviser` command: one file per command group, heavy imports only where they are used."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from reviser import __version__
from reviser.cli.apply import apply
from reviser.cli.bench import app as bench
from reviser.cli.generate import continue_, infill
from reviser.cli.lsp import lsp, serve
from reviser.cli.mcp import mcp
from reviser.cli.models import app as models
from reviser.cli.replay import replay
from reviser.cli.revise import revise
from reviser.cli.train import PASS_ON, tokenise, train
from reviser.cli.tui import tui
from reviser.errors import ReviserError

app = typer.Typer(
    name="reviser",
    help="Text editing with a language model that writes as you do: with a cursor.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("continue")(continue_)
app.command()(infill)
app.command()(revise)
app.command()(apply)
app.command()(replay)
app.add_typer(models)
app.command(context_settings=PASS_ON)(train)
app.command(context_settings=PASS_ON)(tokenise)
app.add_typer(bench)
app.command()(lsp)
app.command()(serve)
app.command()(mcp)
app.command()(tui)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reviser {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; what a user can cause ends in one plain sentence and exit status 2."""
    try:
        app()
    except ReviserError as error:
        typer.echo(f"reviser: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away; point stdout elsewhere so that closing it does not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
