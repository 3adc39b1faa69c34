"""`reviser replay`: check, print, play or export recorded trajectories."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from reviser.replay import Replayed
    from reviser.tokenizer import Tokenizer
    from reviser.trajectory import Trajectory


class Format(StrEnum):
    """What `replay` prints."""

    text = "text"
    json = "json"
    actions = "actions"
    diff = "diff"


def replay(
    file: Annotated[
        Path,
        typer.Argument(help="Trajectory file (JSON); - reads standard input.", show_default=False),
    ],
    index: Annotated[
        int | None, typer.Option(help="Only trajectory N of the file, counted from 0.", metavar="N")
    ] = None,
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.text,
    play: Annotated[
        bool, typer.Option("--play", help="Watch the cursor write, in the terminal.")
    ] = False,
    speed: Annotated[float, typer.Option(help="Speed of --play; 1 is 12 actions a second.")] = 1.0,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a self-contained page that plays them.", metavar="OUT"),
    ] = None,
    tokenizer: Annotated[
        str, typer.Option(help="Tokenizer of the trajectories: gpt2, or a tokenizer.json.")
    ] = "gpt2",
) -> None:
    """Replay recorded trajectories: print, check, play or export them.

    Exit status 1 means that a trajectory does not give the text its file states.
    """
    from reviser.tokenizer import load_tokenizer

    if speed <= 0:
        raise typer.BadParameter("the speed must be above 0", param_hint="--speed")
    chosen = _load(file, index)
    reader = load_tokenizer(tokenizer)
    if play:
        from reviser.cli.live import play_trajectory

        done = {number: play_trajectory(run, reader, speed) for number, run in chosen.items()}
    else:
        done = _replay_all(chosen, reader, file)
    if html:
        _write_page(done, html)
    elif not play:
        typer.echo(_render(done, format), nl=False)
    if any(run.matches is False for run in done.values()):
        raise typer.Exit(1)


def _load(file: Path, index: int | None) -> dict[int, Trajectory]:
    from reviser.errors import BadTrajectory
    from reviser.files import read_utf8
    from reviser.trajectory import load_trajectories

    trajectories = dict(enumerate(load_trajectories(file, read_utf8(file))))
    if index is None:
        return trajectories
    if index not in trajectories:
        raise BadTrajectory(
            f"{file} has no trajectory {index}; the last one is {len(trajectories) - 1}"
        )
    return {index: trajectories[index]}


def _replay_all(
    chosen: dict[int, Trajectory], tokenizer: Tokenizer, file: Path
) -> dict[int, Replayed]:
    from reviser.errors import BadTrajectory
    from reviser.replay import replay as run

    done = {}
    for number, trajectory in chosen.items():
        try:
            done[number] = run(trajectory, tokenizer)
        except BadTrajectory as error:
            raise BadTrajectory(f"{file}, trajectory {number}: {error}") from None
    return done


def _render(done: dict[int, Replayed], format: Format) -> str:
    import json

    match format:
        case Format.json:
            summaries = [run.summary() for run in done.values()]
            return json.dumps(summaries, ensure_ascii=False, indent=2) + "\n"
        case Format.diff:
            return "".join(run.diff(number) for number, run in done.items())
        case Format.text:
            parts = {number: run.final_text for number, run in done.items()}
        case Format.actions:
            parts = {
                number: "\n".join(frame.label for frame in run.frames)
                for number, run in done.items()
            }
    if len(done) == 1:
        return "".join(parts.values()) + "\n"
    return "\n".join(
        f"== {number}: {done[number].name}\n{part}\n" for number, part in parts.items()
    )


def _write_page(done: dict[int, Replayed], path: Path) -> None:
    from reviser.files import write_atomically
    from reviser.viewer import render_page

    page = render_page([run.for_viewer() for run in done.values()])
    write_atomically(path, page.encode("utf-8"))
    typer.echo(f"wrote {path}", err=True)
