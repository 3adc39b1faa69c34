"""`reviser models`: list, inspect, import, export and pull models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reviser.cli.completion import complete_model
from reviser.cli.options import Argument, Option, with_fields
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    import torch

    from reviser.checkpoints.building import Progress
    from reviser.checkpoints.home import Checkpoint
    from reviser.checkpoints.summary import Summary
    from reviser.core.vocabulary import Vocabulary

app = typer.Typer(
    name="models",
    help="List, inspect, import, export and pull models.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


ModelArgument = Annotated[str, Argument("name or folder of a model", complete=complete_model)]


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """The options of `models list`: its form."""

    json: Annotated[bool, Option("print JSON")] = False


@dataclass(frozen=True, kw_only=True)
class InfoOptions(ListOptions):
    """The options of `models info`: the model."""

    model: ModelArgument


@dataclass(frozen=True, kw_only=True)
class KeepingOptions:
    """The options of a new model here: its name or folder, and how it is stored."""

    name: Annotated[str | None, Option("name of the new model", metavar="NAME", default="from its source")] = None
    to: Annotated[Path | None, Option("folder to write instead of the user's model folder", metavar="DIR")] = None
    dtype: Annotated[
        str | None, Option("how to store the weights", choices=("f32", "f16", "bf16"), default="as they are read")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ImportOptions(KeepingOptions):
    """The options of `models import`: the source."""

    source: Annotated[str, Argument("a released .pt file, a .gguf file, a Hugging Face or Reviser folder, or a hub id")]


@dataclass(frozen=True, kw_only=True)
class PullOptions(KeepingOptions):
    """The options of `models pull`: the model."""

    model: Annotated[str, Argument("smollm2, reviser-100m, reviser-300m, or a hub id")]


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The options of `models export`: the model, and the form of its copy."""

    model: ModelArgument
    out: Annotated[Path, Argument("the folder or, for gguf, the file to write")]
    format: Annotated[
        str | None,
        Option("format of the export", choices=("hf", "gguf", "reviser"), default="hf; reviser if --quantise is given"),
    ] = None
    dtype: Annotated[
        str | None,
        Option("how to store the weights", choices=("f32", "f16", "bf16", "q8_0"), default="as they are; f16 for gguf"),
    ] = None
    quantise: Annotated[
        str | None, Option("round the weights to so many bits: a small folder that loads quickly", choices=("4", "8"))
    ] = None
    shard_mb: Annotated[int, Option("largest file of quantised weights, in megabytes", least=1)] = 45


def list_models(options: ListOptions) -> None:
    """List the models that have a name here."""
    from reviser.checkpoints import library

    entries = library.list_models()
    if options.json:
        _print_json(
            [
                {
                    "name": entry.name,
                    "folder": str(entry.folder),
                    "embedded": entry.embedded,
                    "bytes": library.stored_bytes(entry.folder),
                    "note": library.note(entry.folder),
                }
                for entry in entries
            ]
        )
        return
    for entry in entries:
        size = _size(library.stored_bytes(entry.folder))
        place = "embedded" if entry.embedded else str(entry.folder)
        typer.echo("  ".join(filter(None, (entry.name, size, place, library.note(entry.folder)))))
    if not entries:
        typer.echo(f"no models in {library.user_folder()}; try: reviser models pull smollm2", err=True)


def info(options: InfoOptions) -> None:
    """Show what a model is, without reading its weights."""
    from reviser.checkpoints.library import find_model
    from reviser.checkpoints.summary import inspect

    summary = inspect(find_model(options.model))
    if options.json:
        _print_json(summary.to_dict())
    else:
        for label, value in _lines(summary):
            typer.echo(f"{label:<12} {value}")


def import_(options: ImportOptions) -> None:
    """Import a model from a file, a folder or the hub."""
    from reviser.checkpoints.hub import is_hub_id
    from reviser.checkpoints.importing import import_model

    source = options.source
    if not is_hub_id(source) and not Path(source).exists():
        raise ReviserError(f"there is no file or folder {source}")
    name = options.name or _name_from(source)
    target = _free_place(name, options.to)
    with _progress_bar() as progress:
        _keep(import_model(source, name=name, progress=progress), target, options.dtype, progress)
    typer.echo(f"wrote {target}", err=True)


def export(options: ExportOptions) -> None:
    """Export a model: for transformers and vLLM (hf), llama.cpp (gguf), or as a Reviser folder."""
    quantise, dtype, out = options.quantise, options.dtype, options.out
    format = options.format or ("reviser" if quantise else "hf")
    if quantise and (format != "reviser" or dtype):
        raise typer.BadParameter("is for Reviser folders, and takes the place of --dtype", param_hint="--quantise")
    if format != "gguf" and dtype == "q8_0":
        raise typer.BadParameter("q8_0 is for gguf only", param_hint="--dtype")
    from reviser.checkpoints.home import load, save_checkpoint
    from reviser.checkpoints.library import find_model

    checkpoint = load(find_model(options.model))
    with _progress_bar() as progress:
        progress("quantising" if quantise else "writing", 0, 0)
        if format == "gguf":
            from reviser.checkpoints.formats.gguf_files import GgufType, write_gguf

            write_gguf(checkpoint, out, GgufType(dtype or "f16"), progress)
        elif format == "hf":
            from reviser.checkpoints.formats.llama import write_llama

            write_llama(checkpoint, out, dtype=_torch_dtype(dtype))
        elif quantise:
            from reviser.model.layout import Quantisation

            bits = Quantisation(4 if quantise == "4" else 8)
            save_checkpoint(out, checkpoint, quantisation=bits, shard_bytes=options.shard_mb * 1_000_000)
        else:
            save_checkpoint(out, checkpoint, dtype=_torch_dtype(dtype))
    typer.echo(f"wrote {out}", err=True)


def pull(options: PullOptions) -> None:
    """Fetch a model from the network, unless it is here already."""
    from reviser.checkpoints.library import place_for

    target = options.to or place_for(options.name or _name_from(options.model))
    if (target / "config.json").is_file():
        typer.echo(f"{target} is here already", err=True)
        return
    from reviser.checkpoints.pulling import pull as fetch

    with _progress_bar() as progress:
        _keep(fetch(options.model, progress), target, options.dtype, progress)
    typer.echo(f"wrote {target}", err=True)


app.command("list")(with_fields(list_models))
app.command()(with_fields(info))
app.command("import")(with_fields(import_))
app.command()(with_fields(export))
app.command()(with_fields(pull))


def _name_from(source: str) -> str:
    path = Path(source)
    return path.stem if path.is_file() else path.resolve().name


def _free_place(name: str, to: Path | None) -> Path:
    """The folder for a new model; checked before the work, so that a taken name costs no time."""
    from reviser.checkpoints.library import place_for

    target = to or place_for(name)
    if (target / "config.json").exists():
        raise ReviserError(f"{target} already exists; choose another --name")
    return target


def _keep(checkpoint: Checkpoint, target: Path, dtype: str | None, progress: Progress) -> None:
    from reviser.checkpoints.home import save_checkpoint

    progress("writing", 0, 0)
    save_checkpoint(target, checkpoint, dtype=_torch_dtype(dtype))


def _torch_dtype(precision: str | None) -> torch.dtype | None:
    if precision is None:
        return None
    import torch

    names = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    return names[precision]


@contextmanager
def _progress_bar() -> Iterator[Progress]:
    """A progress bar on a terminal's error stream, removed at the end; plain lines if that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _ProgressLines().show
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(what: str, done: int, total: int) -> None:
            # An unknown total makes the bar pulse.
            bar.update(task, description=what, completed=done, total=total or None)

        yield show


class _ProgressLines:
    """Progress as lines on standard error: one for each new step, and one for each tenth of a long step."""

    def __init__(self) -> None:
        self._said = ("", 0)

    def show(self, what: str, done: int, total: int) -> None:
        tenths = done * 10 // total if total else 0
        if self._said != (what, tenths):
            self._said = (what, tenths)
            typer.echo(f"{what}: {tenths}0 %" if tenths else what, err=True)


def _print_json(data: object) -> None:
    import json

    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def _lines(summary: Summary) -> list[tuple[str, str]]:
    from reviser.native import slow_notice

    config, vocabulary = summary.config, summary.vocabulary
    heads = f"{config.heads} heads"
    if config.kv_heads != config.heads:
        heads += f" ({config.kv_heads} key/value)"
    stored = str(summary.quantisation or ", ".join(summary.dtypes))
    lines = [
        ("folder", str(summary.folder)),
        ("model", f"{config.kind}, {config.layers} layers of {config.width}, {heads}, feed-forward {config.ff}"),
        ("parameters", f"{summary.parameters / 1e6:.1f} million"),
        ("stored as", f"{stored}, {_size(summary.file_bytes)}"),
        ("context", f"{config.context} ids"),
        (
            "vocabulary",
            f"{vocabulary.size} ids: {vocabulary.base_size} tokens and "
            f"{vocabulary.size - vocabulary.base_size} operators",
        ),
        ("actions", ", ".join(_kinds(vocabulary))),
        ("tokenizer", summary.tokenizer),
    ]
    if notice := slow_notice():
        lines.append(("speed", notice))
    if config.uses_canvas:
        lines.append(("sees", "the canvas beside the history"))
    lines += [(key, _plain(value)) for key, value in summary.metadata.items()]
    if summary.metadata.get("operators") == "untrained":
        lines.append(("note", "it can write but not edit yet: train it first"))
    return lines


def _kinds(vocabulary: Vocabulary) -> list[str]:
    """The kinds of action that the vocabulary has ids for and that are in use."""
    from reviser.core.vocabulary import EXTENSIONS

    absent = set(EXTENSIONS) - set(vocabulary.extensions)
    return [kind for kind in vocabulary.to_dict()["kinds"] if kind not in absent]


def _plain(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
