"""`python -m training ppo MODEL --data … --reward … --out …`: a model is tuned towards a reward."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from reviser.checkpoints.home import Checkpoint, load
from reviser.checkpoints.library import find_model
from reviser.cli.arguments import Parser
from reviser.cli.entry import complain
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from training.data.corpus import Corpus
from training.data.shards import describe_tokenizer
from training.ppo.rewards import Judges, parse_rewards, reward
from training.ppo.rollouts import DocumentPrompts, Oracle
from training.ppo.saving import read_facts, resume, save_facts, save_result, save_run
from training.ppo.settings import PpoSettings
from training.ppo.tuner import Tuner
from training.trainer.metrics import MetricsLog, PlainView, make_view
from training.trainer.saving import check_out
from training.trainer.trainer import interruptible

# Iterations whose prompts show what real text costs.
_REAL_ITERATIONS = 2
_SHOWN = (
    "step",
    "reward",
    "kl",
    "entropy",
    "clip_fraction",
    "explained_variance",
    "tokens",
    "stopped",
    "moves",
    "repeated_4",
)


def tune(options: argparse.Namespace, settings: PpoSettings) -> None:
    """Run `settings` to the end, or until asked to stop; either way the run is saved."""
    out: Path = options.out
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        # On some processors this would mean half precision.
        torch.set_float32_matmul_precision("high")
    corpus = Corpus.open(options.data)
    parts = load(find_model(options.model), dtype=torch.float32)
    check_fit(corpus, parts)
    source = DocumentPrompts(corpus, settings)
    oracle = Oracle(parts.vocabulary, corpus.classes, settings)
    known = [prompt for number in range(_REAL_ITERATIONS) for prompt in source.prompts(number)]
    rewards = parse_rewards(options.reward, judges_for(parts.tokenizer, device), known)
    facts = facts_of(options, settings)
    tuner = Tuner(settings, parts, source, oracle, partial(reward, rewards), device)
    if options.resume:
        check_same(read_facts(out), facts)
        resume(out, tuner)
    out.mkdir(parents=True, exist_ok=True)
    save_facts(out, facts)
    log = MetricsLog(out / "metrics.jsonl", tuner.progress.iteration)
    try:
        with make_view() as view, interruptible() as asked:
            finished = _loop(tuner, parts, facts, out, log, view, asked)
            save_run(out, tuner, parts, facts)
            if finished:
                view.say(f"wrote {save_result(out, tuner, parts, facts)}")
            else:
                view.say(f"stopped at iteration {tuner.progress.iteration}; go on with --resume")
    finally:
        log.close()


def _loop(
    tuner: Tuner,
    parts: Checkpoint,
    facts: dict[str, Any],
    out: Path,
    log: MetricsLog,
    view: PlainView,
    asked: list[bool],
) -> bool:
    """Tune until the run is over (True) or was asked to stop (False)."""
    while tuner.done < 1:
        if asked:
            return False
        entry = tuner.iterate()
        log.write(**entry)
        view.show({name: entry[name] for name in _SHOWN if name in entry}, min(tuner.done, 1.0))
        if tuner.progress.iteration % tuner.settings.checkpoint_every == 0 and tuner.done < 1:
            started = time.perf_counter()
            save_run(out, tuner, parts, facts)
            # Large models take a while, which is part of the minutes that a run may last.
            tuner.progress.seconds += time.perf_counter() - started
    return True


def judges_for(tokenizer: Tokenizer, device: torch.device) -> Judges:
    """The judges of the benchmarks."""
    from training.ppo.judges import LoadedJudges

    return LoadedJudges(tokenizer, device)


def check_fit(corpus: Corpus, parts: Checkpoint) -> None:
    """Refuse texts whose tokens the model reads as others."""
    if describe_tokenizer(parts.tokenizer).sha256 != corpus.tokenizer.sha256:
        raise ReviserError("the texts were made with another tokenizer than the model's")


def facts_of(options: argparse.Namespace, settings: PpoSettings) -> dict[str, Any]:
    """What a run is, for its folder and for the model's own record."""
    return {
        "settings": settings.to_dict(),
        "rewards": options.reward,
        "init": str(options.model),
        "data": str(options.data),
        "command": " ".join(["python -m training ppo", *options.words]),
    }


def check_same(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to go on with another model or other rewards: what was learned would not fit."""
    for name, what in (("init", "model"), ("rewards", "reward")):
        if before.get(name) != now[name]:
            raise ReviserError(f"the run in this folder has another {what}: {before.get(name)}")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m training ppo", description=__doc__)
    parser.add_argument("model", help="the supervised model: a folder or a name")
    parser.add_argument(
        "--data", type=Path, required=True, help="token shards (python -m training data)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument(
        "--reward",
        action="append",
        default=[],
        metavar="[WEIGHT*][rank:]NAME[:ARGUMENT]",
        help="a term of the reward, such as rank:likelihood:smollm2 or 0.5*repetition; may be given "
        "several times",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on from the run's last checkpoint"
    )
    for field in dataclasses.fields(PpoSettings):
        if field.name == "compile":
            continue
        kinds = {"int": int, "float": float, "int | None": int, "float | None": float}
        flag = "--" + field.name.replace("_", "-")
        shown = None if field.default in (None, "") else f"({field.default})"
        parser.add_argument(flag, type=kinds.get(str(field.type), str), help=shown)
    parser.add_argument("--no-compile", dest="compile", action="store_false", default=None)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(words)
    options.words = words
    names = [field.name for field in dataclasses.fields(PpoSettings)]
    try:
        settings = PpoSettings.from_options(**{name: getattr(options, name) for name in names})
        check_out(options.out, resumed=options.resume)
        tune(options, settings)
    except ReviserError as error:
        return complain(error)
    return 0
