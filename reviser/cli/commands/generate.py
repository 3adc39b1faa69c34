"""`reviser continue` and `reviser infill`: the model writes at the end of a file, or inside it."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from reviser.cli.completion import complete_encoding, complete_model
from reviser.cli.delivery import (
    Delivery,
    is_file_of,
    print_diff,
    print_text,
    update_file,
    write_result,
    write_trajectories,
)
from reviser.cli.garbage_collection import without_garbage_collection
from reviser.cli.options import Argument, Option
from reviser.core.errors import FileChanged, ReviserError

if TYPE_CHECKING:
    from reviser.core.trajectory import Trajectory
    from reviser.decoding.rollout import Rollout
    from reviser.decoding.sampler import Sampler
    from reviser.session.documents import DocumentFile
    from reviser.session.engine import Engine
    from reviser.session.session import Generation, Session

_WATCH_INTERVAL = 0.25

FileArgument = Annotated[Path, Argument("text file; - reads standard input")]
ModelOption = Annotated[
    str | None,
    Option(
        "name or folder of a model (see reviser models list), or openai:URL",
        flags=("--model", "-m"),
        complete=complete_model,
    ),
]
MaxActionsOption = Annotated[int, Option("largest number of actions in a run", least=1)]
TemperatureOption = Annotated[float, Option("sampling temperature; 0 always takes the most likely action", least=0)]
MoveTemperatureOption = Annotated[
    float, Option("sampling temperature of moves, above 0; never higher than --temperature")
]
LongestRepeatOption = Annotated[int, Option("do not write so many tokens in a row twice; 0 or 1: no limit", least=0)]
TopKOption = Annotated[int, Option("sample from the K most likely actions; 0 means all", least=0)]
TopPOption = Annotated[
    float, Option("sample from the most likely actions that together have probability P, above 0 and up to 1")
]
MinPOption = Annotated[
    float, Option("leave out actions less than P times as likely as the most likely one", least=0, most=1)
]
SeedOption = Annotated[int | None, Option("the same seed gives the same actions", least=0)]
NumberOption = Annotated[int, Option("number of different runs", least=1, flags=("-n", "--number"))]
EncodingOption = Annotated[
    str | None,
    Option(
        "encoding of the text, such as windows-1252; by default its bytes tell",
        metavar="NAME",
        complete=complete_encoding,
    ),
]
InPlaceOption = Annotated[bool, Option("change the file itself, atomically", flags=("--in-place", "-i"))]
OutputOption = Annotated[
    Path | None, Option("write the result to this file; - prints it", metavar="OUT", flags=("--output", "-o"))
]
InteractiveOption = Annotated[
    bool, Option("ask about each change, then change the file", flags=("--interactive", "-p"))
]
DiffOption = Annotated[bool, Option("print a unified diff")]
JsonOption = Annotated[bool, Option("print JSON, with statistics")]
TrajectoryOption = Annotated[Path | None, Option("record the actions (see reviser replay)", metavar="OUT")]
WatchOption = Annotated[bool, Option("run again whenever the file changes; Ctrl-C ends")]
ThreadsOption = Annotated[int | None, Option("threads for the model", least=1)]
CheckStepsBackOption = Annotated[
    bool,
    Option(
        "move back to insert something only if the text reads as well with it",
        flags=("--check-steps-back/--no-check-steps-back",),
    ),
]


@dataclass(frozen=True, kw_only=True)
class WritingOptions:
    """The options of both commands: the file, how the model writes, and the destination of the result."""

    file: FileArgument
    model: ModelOption = None
    encoding: EncodingOption = None
    in_place: InPlaceOption = False
    output: OutputOption = None
    diff: DiffOption = False
    json: JsonOption = False
    trajectory: TrajectoryOption = None
    number: NumberOption = 1
    watch: WatchOption = False
    max_actions: MaxActionsOption = 256
    longest_repeat: LongestRepeatOption = 8
    temperature: TemperatureOption = 0.7
    move_temperature: MoveTemperatureOption = 0.35
    top_k: TopKOption = 50
    top_p: TopPOption = 1.0
    min_p: MinPOption = 0.0
    seed: SeedOption = None
    threads: ThreadsOption = None

    def job(self) -> WritingJob:
        return WritingJob(
            self.file,
            Delivery(
                in_place=self.in_place, output=self.output, diff=self.diff, json=self.json, trajectory=self.trajectory
            ),
            SamplerSettings(
                self.temperature, self.top_k, self.top_p, self.min_p, self.seed, self.number, self.move_temperature
            ),
            self.max_actions,
            self.model,
            self.threads,
            self.encoding,
        )


@dataclass(frozen=True, kw_only=True)
class ContinueOptions(WritingOptions):
    """The options of `continue`: those of writing, and whether steps back are checked."""

    check_steps_back: CheckStepsBackOption = True


def continue_(options: ContinueOptions) -> None:
    """Continue a text: print it with what the model writes after it.

    The file is not changed unless --in-place is given. In a terminal you watch the cursor write; a pipe gets
    the finished text, in the file's encoding and with its line endings. Exit status 1 means that another
    program changed the file during the run: then it is left alone, and the result is saved beside it.
    """
    options.job().run(
        lambda session, sampler: session.continue_(
            sampler,
            max_actions=options.max_actions,
            check_steps_back=options.check_steps_back,
            longest_repeat=options.longest_repeat,
        ),
        options.watch,
    )


@dataclass(frozen=True, kw_only=True)
class InfillOptions(WritingOptions):
    """The options of `infill`: those of writing, and the place to write at."""

    at: Annotated[str, Option("where to write: line and column, counted from 1", metavar="LINE:COL")]
    to: Annotated[str | None, Option("replace the text from --at up to here", metavar="LINE:COL")] = None
    tries: Annotated[
        int, Option("fill the gap up to so many times and keep the text and the end that best join the rest", least=1)
    ] = 3


def infill(options: InfillOptions) -> None:
    """Write between the text before a place and the text after it.

    The file is not changed unless --in-place is given. Exit status 1 means that another program changed
    it during the run: then it is left alone, and the result is saved beside it.
    """

    def start(session: Session, sampler: Sampler) -> Generation:
        first = offset_of(session.text, options.at)
        last = first if options.to is None else offset_of(session.text, options.to)
        if last < first:
            raise ReviserError(f"--to {options.to} lies before --at {options.at}")
        return session.infill(
            first,
            last,
            sampler,
            max_actions=options.max_actions,
            longest_repeat=options.longest_repeat,
            tries=options.tries,
        )

    options.job().run(start, options.watch)


def offset_of(text: str, place: str) -> int:
    """The character offset of LINE:COL, both counted from 1."""
    from reviser.session.documents import offset_at

    found = re.fullmatch(r"(\d+):(\d+)", place)
    if not found:
        raise ReviserError(f"{place} is not a place; write LINE:COL, such as 3:14")
    line, column = (int(part) for part in found.groups())
    return offset_at(text, line, column)


@dataclass(frozen=True)
class SamplerSettings:
    """The settings of the samplers that choose the model's actions."""

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    seed: int | None
    number: int
    move_temperature: float = 0.35

    def samplers(self) -> Iterator[Sampler]:
        from reviser.decoding.sampler import Sampler

        first = int.from_bytes(os.urandom(4), "little") if self.seed is None else self.seed
        for offset in range(self.number):
            yield Sampler(
                self.temperature,
                self.top_k or None,
                self.top_p,
                self.min_p,
                seed=first + offset,
                move_temperature=self.move_temperature,
            )


class ResultSummary(TypedDict):
    """A finished run as JSON holds it."""

    file: str
    model: str | None
    seed: int | None
    text: str
    written: str
    actions: int
    moves: int
    ending: str
    seconds: float
    actions_per_s: float | None


@dataclass(frozen=True)
class FinishedRun:
    """A finished run: the text, how it was written, and counts of actions."""

    text: str
    engine: Engine
    rollout: Rollout
    ending: str
    actions: int
    moves: int
    seconds: float
    written: str

    def trajectory(self) -> Trajectory:
        from reviser.core.trajectory import Trajectory

        return Trajectory.record(self.rollout, self.engine.tokenizer, self.engine.name)

    def summary(self, file: Path) -> ResultSummary:
        return {
            "file": str(file),
            "model": self.engine.name,
            "seed": self.rollout.sampler.seed,
            "text": self.text,
            "written": self.written,
            "actions": self.actions,
            "moves": self.moves,
            "ending": self.ending,
            "seconds": round(self.seconds, 3),
            "actions_per_s": round(self.actions / self.seconds, 1) if self.seconds else None,
        }


@dataclass(frozen=True)
class WritingJob:
    """One run of the command: a file, a model, and what is done with the written text."""

    file: Path
    delivery: Delivery
    choosing: SamplerSettings
    max_actions: int
    model: str | None
    threads: int | None
    encoding: str | None

    def run(self, start: Callable[[Session, Sampler], Generation], watch: bool) -> None:
        if watch and str(self.file) == "-":
            raise ReviserError("standard input cannot be watched")
        with without_garbage_collection():
            samplers = list(self.choosing.samplers())
            if len(samplers) > 1 and self.delivery.writes:
                raise ReviserError("a file can take one result; leave out --number")
            self.delivery.check([self.file])
            document = self._read()
            engine = self._load()
        session = engine.session(document.text)
        while True:
            results = []
            for sampler in samplers:
                session.text = document.text
                results.append(self._generate(start(session, sampler), engine))
            written = self._deliver(document, results, watch)
            if not watch:
                return
            document = self._wait_for_change(written)

    def _read(self) -> DocumentFile:
        from reviser.core.files import input_name
        from reviser.session.documents import DocumentFile

        document = DocumentFile.read(self.file, self.encoding)
        if not document.text.strip():
            raise ReviserError(f"{input_name(self.file)} is empty; write a few words for the model to go on from")
        return document

    def _load(self) -> Engine:
        from reviser.cli.progress import working
        from reviser.session.engine import load_engine

        with working("loading the model"):
            return load_engine(self.model, threads=self.threads)

    def _generate(self, run: Generation, engine: Engine) -> FinishedRun:
        from reviser.cli.progress import working
        from reviser.core.files import input_name

        started = time.perf_counter()
        if self.delivery.live:
            from reviser.cli.live import watch_generation

            frames = watch_generation(run)
        else:
            with working("writing"):
                frames = list(run)
        if not run.written.strip():
            print(f"{input_name(self.file)}: nothing to add", file=sys.stderr, flush=True)
        return FinishedRun(
            run.text,
            engine,
            run.rollout,
            str(run.rollout.ending),
            len(frames),
            sum(frame.step.action.kind == "move" for frame in frames),
            time.perf_counter() - started,
            run.written,
        )

    def _deliver(self, document: DocumentFile, results: list[FinishedRun], watch: bool) -> str:
        """Write the results out; returns the text that the file holds afterwards, or held when it was read."""
        from reviser.core.files import STREAM

        text = results[0].text
        if self.delivery.trajectory:
            write_trajectories(self.delivery, [result.trajectory() for result in results])
        file = self.file if self.delivery.in_place else self.delivery.output
        if watch and is_file_of(document, file):
            return self._update_watched(document, text)
        if file and file != STREAM:
            write_result(document, text, file)
        elif not self.delivery.live:
            self._print(document, results)
        return document.text

    def _update_watched(self, document: DocumentFile, text: str) -> str:
        """Update the file unless another program has changed it: then the next run starts from the new text."""
        try:
            update_file(document, text)
        except FileChanged as error:
            print(f"reviser: {error}; it is read again", file=sys.stderr, flush=True)
            return document.text
        return text

    def _print(self, document: DocumentFile, results: list[FinishedRun]) -> None:
        import json

        if self.delivery.json:
            summaries = [result.summary(self.file) for result in results]
            shown = summaries if len(summaries) > 1 else summaries[0]
            print(json.dumps(shown, ensure_ascii=False, indent=2), flush=True)
        elif self.delivery.diff:
            for result in results:
                print_diff(document, result.text)
        elif len(results) == 1:
            print_text(document, results[0].text)
        else:
            texts = (result.text.removesuffix("\n") for result in results)
            parts = (f"== {number}\n{text}\n" for number, text in enumerate(texts, start=1))
            print_text(document, "\n".join(parts))

    def _wait_for_change(self, known: str) -> DocumentFile:
        """Wait until the file's text differs from `known`, and return the document."""
        while True:
            time.sleep(_WATCH_INTERVAL)
            try:
                document = self._read()
            except ReviserError:
                continue  # being rewritten by an editor
            if document.text != known:
                return document
