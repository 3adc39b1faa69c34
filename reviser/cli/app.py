"""The `reviser` command: one file per command group, heavy imports only where they are used."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reviser import __version__
from reviser.cli.commands.apply import apply
from reviser.cli.commands.bench import app as bench
from reviser.cli.commands.check import check
from reviser.cli.commands.generate import continue_, infill
from reviser.cli.commands.lsp import lsp, serve
from reviser.cli.commands.mcp import mcp
from reviser.cli.commands.models import app as models
from reviser.cli.commands.next import next_
from reviser.cli.commands.replay import replay
from reviser.cli.commands.revise import revise
from reviser.cli.commands.train import add_training
from reviser.cli.commands.tui import tui
from reviser.cli.entry import complain
from reviser.cli.options import with_fields

app = typer.Typer(
    name="reviser",
    help="Text editing with a language model that writes as you do: with a cursor.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("continue")(with_fields(continue_))
app.command()(with_fields(infill))
app.command()(with_fields(revise))
app.command()(with_fields(check))
app.command("next")(with_fields(next_))
app.command()(with_fields(apply))
app.command()(with_fields(replay))
app.add_typer(models)
add_training(app)
app.add_typer(bench)
app.command()(with_fields(lsp))
app.command()(with_fields(serve))
app.command()(with_fields(mcp))
app.command()(with_fields(tui))

_REASONS = {
    "int_parsing": "{value} is not a whole number",
    "float_parsing": "{value} is not a number",
    "greater_than_equal": "{value} is not at least {ge:g}",
    "less_than_equal": "{value} is not at most {le:g}",
    "value_error": "{error}",
}
"""The messages for refused values, by pydantic's names for the reasons."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from reviser.native import slow_notice

        typer.echo(f"reviser {__version__}")
        if notice := slow_notice():
            typer.echo(notice)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def run_app() -> int:
    """Run the command line; returns its exit status. Errors are raised, except for those in the words of the
    command."""
    usage_error: type[Any] = typer.BadParameter.__mro__[1]
    try:
        status = app(standalone_mode=False)
    except typer.Abort:
        return 1
    except usage_error as error:
        return _complain_about_words(error)
    return status if isinstance(status, int) else 0


def _complain_about_words(error: Any) -> int:
    """Print one sentence on words that the command does not understand, and where to read more."""
    if reason := _reason_of_validator(error.__cause__):
        error.message = reason
    said = " ".join(error.format_message().split()).rstrip(".")
    if said:
        place = error.ctx.command_path if error.ctx else "reviser"
        complain(f"{said[0].lower()}{said[1:]} (see {place} --help)")
    return int(error.exit_code)


def _reason_of_validator(error: Any) -> str | None:
    """The reason for which pydantic (used by newer versions of Typer) refuses a value; None if the error has another
    cause."""
    if not hasattr(error, "errors"):
        return None
    first = error.errors()[0]
    reason = _REASONS.get(first["type"])
    if reason is None:
        return str(first["msg"])
    return reason.format(value=first["input"], **first.get("ctx", {}))
