"""`reviser replay`: check, print, play or export recorded trajectories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reviser.cli.options import Argument, Option

if TYPE_CHECKING:
    from reviser.core.tokenizer import Tokenizer
    from reviser.core.trajectory import Trajectory
    from reviser.session.replay import Replayed


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """The options of `replay`: the trajectories, and what is made of them."""

    file: Annotated[Path, Argument("trajectory file (JSON); - reads standard input")]
    index: Annotated[int | None, Option("only trajectory N of the file, counted from 0", metavar="N", least=0)] = None
    format: Annotated[str, Option("what to print", choices=("text", "json", "actions", "diff"))] = "text"
    play: Annotated[bool, Option("watch the cursor write, in the terminal")] = False
    speed: Annotated[float, Option("speed of --play, above 0; 1 is 12 actions a second")] = 1.0
    html: Annotated[Path | None, Option("write a self-contained page that plays them; - prints it", metavar="OUT")] = (
        None
    )
    tokenizer: Annotated[
        str | None,
        Option(
            "tokenizer of the trajectories: gpt2, or a tokenizer.json; by default that of the model that made them, "
            "or gpt2"
        ),
    ] = None


def replay(options: ReplayOptions) -> None:
    """Replay recorded trajectories: print, check, play or export them.

    Exit status 1 means that a trajectory does not give the text its file states.
    """
    if not 0 < options.speed < math.inf:
        raise typer.BadParameter("the speed must be above 0, and finite", param_hint="--speed")
    if options.html:
        from reviser.core.files import check_output

        check_output(options.html)
    chosen = _load(options.file, options.index)
    readers = _readers(chosen, options.tokenizer)
    if options.play:
        from reviser.cli.live import play_trajectory

        done = {number: play_trajectory(run, readers[number], options.speed) for number, run in chosen.items()}
    else:
        done = _replay_all(chosen, readers, options.file)
    if options.html:
        _write_page(done, options.html)
    elif not options.play:
        typer.echo(_render(done, options.format), nl=False)
    if any(run.matches is False for run in done.values()):
        raise typer.Exit(1)


def _load(file: Path, index: int | None) -> dict[int, Trajectory]:
    from reviser.core.errors import BadTrajectory
    from reviser.core.files import input_name, read_utf8
    from reviser.core.trajectory import load_trajectories

    trajectories = dict(enumerate(load_trajectories(file, read_utf8(file))))
    if index is None:
        return trajectories
    if index not in trajectories:
        raise BadTrajectory(f"{input_name(file)} has no trajectory {index}; the last one is {len(trajectories) - 1}")
    return {index: trajectories[index]}


def _readers(chosen: dict[int, Trajectory], given: str | None) -> dict[int, Tokenizer]:
    """The tokenizer of each trajectory: the given one, or that of the trajectory's model."""
    from reviser.core.tokenizer import load_tokenizer

    known: dict[tuple[str, str | None], Tokenizer] = {}
    readers = {}
    for number, run in chosen.items():
        kind = (run.vocabulary.name, run.model)
        if kind not in known:
            known[kind] = load_tokenizer(given) if given else _tokenizer_of(run)
        readers[number] = known[kind]
    return readers


def _tokenizer_of(run: Trajectory) -> Tokenizer:
    """GPT-2's tokenizer if it fits the trajectory, else that of an installed model with the same vocabulary."""
    from reviser.checkpoints.description import describe
    from reviser.checkpoints.description import load_tokenizer as tokenizer_in
    from reviser.checkpoints.library import find_model
    from reviser.core.errors import ReviserError
    from reviser.core.tokenizer import load_tokenizer

    plain = load_tokenizer("gpt2")
    wanted = run.vocabulary
    if wanted.base_size == plain.size:
        return plain
    # The model that made it may be gone, and another one with its vocabulary still be here.
    for name in (run.model, None):
        try:
            description = describe(find_model(name))
        except ReviserError:
            continue
        vocabulary = description.vocabulary
        if (vocabulary.name, vocabulary.base_size) == (wanted.name, wanted.base_size):
            return tokenizer_in(description)[1]
    return plain


def _replay_all(chosen: dict[int, Trajectory], readers: dict[int, Tokenizer], file: Path) -> dict[int, Replayed]:
    from reviser.core.errors import BadTrajectory
    from reviser.core.files import input_name
    from reviser.session.replay import replay as run

    done = {}
    for number, trajectory in chosen.items():
        try:
            done[number] = run(trajectory, readers[number])
        except BadTrajectory as error:
            raise BadTrajectory(f"{input_name(file)}, trajectory {number}: {error}") from None
    return done


def _render(done: dict[int, Replayed], format: str) -> str:
    import json

    if format == "json":
        summaries = [run.summary() for run in done.values()]
        return json.dumps(summaries, ensure_ascii=False, indent=2) + "\n"
    if format == "diff":
        return "".join(run.diff(number) for number, run in done.items())
    if format == "text":
        parts = {number: run.final_text for number, run in done.items()}
    else:
        parts = {number: "\n".join(frame.label for frame in run.frames) for number, run in done.items()}
    if len(done) == 1:
        return "".join(parts.values()) + "\n"
    return "\n".join(f"== {number}: {done[number].name}\n{part}\n" for number, part in parts.items())


def _write_page(done: dict[int, Replayed], path: Path) -> None:
    from reviser.core.files import STREAM, write_output
    from reviser.viewer import render_page

    page = render_page([run.for_viewer() for run in done.values()])
    write_output(path, page.encode("utf-8"))
    if path != STREAM:
        typer.echo(f"wrote {path}", err=True)
