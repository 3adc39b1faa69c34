"""`python -m training ppo MODEL --data … --reward … --out …`: a model is tuned towards a reward."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import torch

from reviser.checkpoints.home import Checkpoint, load
from reviser.checkpoints.library import find_model
from reviser.cli.options import Argument, Group, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from training.data.corpus import Corpus
from training.data.shards import describe_tokenizer
from training.ppo.rewards import Judges, parse_rewards, reward
from training.ppo.rollouts import DocumentPrompts, PrefixOracle
from training.ppo.saving import TuningFacts, read_facts, resume, save_facts, save_result, save_run
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


@dataclass(frozen=True, kw_only=True)
class TuningOptions:
    """Which model is tuned towards which reward."""

    model: Annotated[str, Argument("the supervised model: a folder or a name")]
    data: Annotated[Path, Option("token shards (python -m training data)")]
    out: Annotated[Path, Option("folder of the run")]
    reward: Annotated[
        tuple[str, ...],
        Option(
            "a term of the reward, such as rank:likelihood:smollm2 or 0.5*repetition; may be given several times",
            metavar="[WEIGHT*][rank:]NAME[:ARGUMENT]",
        ),
    ] = ()
    resume: Annotated[bool, Option("resume from the run's last checkpoint")] = False
    settings: Annotated[PpoSettings, Group(PpoSettings)]
    words: Words = ()


def tune(options: TuningOptions) -> None:
    """Run `settings` to the end, or until asked to stop; either way the run is saved."""
    out, settings = options.out, options.settings
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        # On some processors this would mean half precision.
        torch.set_float32_matmul_precision("high")
    corpus = Corpus.open(options.data)
    parts = load(find_model(options.model), dtype=torch.float32)
    check_fit(corpus, parts)
    source = DocumentPrompts(corpus, settings)
    oracle = PrefixOracle(parts.vocabulary, corpus.classes, settings)
    known = [prompt for number in range(_REAL_ITERATIONS) for prompt in source.prompts(number)]
    rewards = parse_rewards(options.reward, judges_for(parts.tokenizer, device), known)
    facts = facts_of(options)
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
    tuner: Tuner, parts: Checkpoint, facts: TuningFacts, out: Path, log: MetricsLog, view: PlainView, asked: list[bool]
) -> bool:
    """Tune until the run is over (True) or was asked to stop (False)."""
    while tuner.done < 1:
        if asked:
            return False
        entry = tuner.iterate()
        log.write(**entry)
        view.show({name: value for name, value in entry.items() if name in _SHOWN}, min(tuner.done, 1.0))
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


def facts_of(options: TuningOptions) -> TuningFacts:
    """What a run is, for its folder and for the model's own record."""
    return {
        "settings": options.settings.to_dict(),
        "rewards": list(options.reward),
        "init": str(options.model),
        "data": str(options.data),
        "command": " ".join(["python -m training ppo", *options.words]),
    }


def check_same(before: TuningFacts, now: TuningFacts) -> None:
    """Refuse to go on with another model or other rewards: what was learned would not fit."""
    for what, one, other in (
        ("model", before.get("init"), now["init"]),
        ("reward", before.get("rewards"), now["rewards"]),
    ):
        if one != other:
            raise ReviserError(f"the run in this folder has another {what}: {one}")


def run(options: TuningOptions) -> None:
    check_out(options.out, resumed=options.resume)
    tune(options)
