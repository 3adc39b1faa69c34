"""The command that runs the benchmark: its options, its plan and its summary.

Run the same command again to continue after an interruption; finished work is reused. An empty name
(--mauve "") leaves a measurement out. Exit status 1 means that something could not be measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.protocol.results import Results
from benchmarks.protocol.runs import ProgressBars, RunCache, RunFolder, default_cache, key_of
from benchmarks.protocol.setup import BUILTIN, Setup, best_source
from benchmarks.sections.page import summary_text, write_report
from benchmarks.suite import Suite, SuitePlan
from reviser.checkpoints.home import save_checkpoint
from reviser.checkpoints.library import DEFAULT, find_model, name_of, place_for
from reviser.checkpoints.pulling import SOURCES, pull
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.scoring.judges import LIKELIHOOD
from reviser.scoring.loading import home_folder, short_name

BASE = "smollm2"
QUICK_PROMPTS = 32


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Options of a run: models, prompts and measures."""

    models: Annotated[
        tuple[str, ...],
        Argument(
            "names or paths, NAME=SOURCE, or plain:MODEL; the arena compares the first with each other",
            metavar="MODEL…",
        ),
    ]
    data: Annotated[
        str | None,
        Option(
            "builtin, c4, a JSONL or text file, a folder, or hf:NAME@CONFIG#SPLIT",
            default="c4, or builtin where the hub cannot be reached",
        ),
    ] = None
    prompts: Annotated[int, Option("prompts for each seed", least=1)] = 1000
    seed: Annotated[tuple[int, ...], Option("a seed; may be given several times")] = (123, 124, 125)
    shortest: Annotated[int, Option("fewest GPT-2 tokens of a text", least=1)] = 144
    longest: Annotated[int, Option("most GPT-2 tokens of a text", least=1)] = 216
    prompt_tokens: Annotated[int, Option("GPT-2 tokens of a prompt", least=1)] = 35
    total_tokens: Annotated[int, Option("tokens of prompt and continuation", least=1)] = 180
    max_actions: Annotated[int, Option("most actions of a Reviser", least=1)] = 256
    temperature: Annotated[float, Option("sampling temperature", least=0)] = 0.9
    top_k: Annotated[int, Option("sample from the K most likely tokens", least=1)] = 50
    diffusion_steps: Annotated[int, Option("steps of SEDD and MDLM", least=1)] = 128
    evaluator: Annotated[tuple[str, ...], Option("model for evalPPL: smollm2, gpt2-large, Dream, a path")] = (
        "smollm2",
    )
    judge: Annotated[tuple[str, ...], Option("arena judge: likelihood:EVALUATOR, or a chat model")] = (
        "likelihood:smollm2",
    )
    both_ways: Annotated[bool, Option("ask judges in both orders")] = False
    mauve: Annotated[tuple[str, ...], Option("features for MAUVE: minilm, gpt2, bert")] = ("minilm",)
    out: Annotated[Path | None, Option("the run's folder", metavar="DIR", default="runs/bench-…")] = None
    cache: Annotated[
        Path | None, Option("file that caches texts and scores", metavar="FILE", default="the user's own")
    ] = None
    json: Annotated[bool, Option("print JSON")] = False


def run(options: BenchOptions) -> int:
    """Runs the benchmark: models continue prompts, and the texts are measured and reported; returns the exit status."""
    plan = plan_of(options, say=lambda text: print(text, file=sys.stderr, flush=True))
    return int(bool(_told(plan, options.out, options.cache, options.json)["missing"]))


def quick(model: str | None, out: Path | None, as_json: bool) -> None:
    """Runs a quick benchmark of a model and SmolLM2 on a few built-in texts."""
    _told(quick_plan(model), out, None, as_json)


def _told(plan: SuitePlan, out: Path | None, cache: Path | None, as_json: bool) -> Results:
    folder, results = carry_out(plan, out, cache, quiet=as_json)
    if as_json:
        print(json.dumps({"folder": str(folder.path)} | results, ensure_ascii=False))
    else:
        print(summary_text(results))
        print(f"report: {folder.path / 'report.html'}", file=sys.stderr)
    return results


def carry_out(
    plan: SuitePlan, out: Path | None = None, cache: Path | None = None, *, quiet: bool = False
) -> tuple[RunFolder, Results]:
    """Runs or resumes a plan and writes its report; returns the folder and the results."""
    bars = ProgressBars(quiet=quiet)
    unavailable = _keep_models(plan, bars)
    name = f"bench-{key_of(**plan.to_dict())[:8]}"
    folder = RunFolder.start(out or Path("runs") / name, plan.to_dict())
    with RunCache(cache or default_cache()) as opened:
        suite = Suite(plan, folder, opened, bars)
        suite.unavailable = unavailable
        results = suite.run()
    write_report(folder)
    return folder, results


def _keep_models(plan: SuitePlan, bars: ProgressBars) -> dict[str, str]:
    """Fetches models with known names into the user's models, as `models pull` does.

    Returns the reasons for those that cannot be fetched, by name.
    """
    unavailable = {}
    sources = [source for _, source in plan.named_models()]
    sources += [*plan.evaluators, *(judge.removeprefix(LIKELIHOOD) for judge in plan.judges)]
    for source in dict.fromkeys(sources):
        if source in SOURCES and home_folder(source) is None:
            bars.say(f"fetching {source}, to be kept in {place_for(source)}")
            try:
                save_checkpoint(place_for(source), pull(source))
            except ReviserError as error:
                unavailable[source] = str(error)
    return unavailable


def plan_of(options: BenchOptions, say: Callable[[str], None]) -> SuitePlan:
    """Makes the plan of the options; an empty name leaves a measurement out."""
    setup = Setup(
        data=options.data or best_source(say),
        prompts=options.prompts,
        seeds=options.seed,
        shortest=options.shortest,
        longest=options.longest,
        prompt_tokens=options.prompt_tokens,
        total_tokens=options.total_tokens,
        max_actions=options.max_actions,
        temperature=options.temperature,
        top_k=options.top_k,
        diffusion_steps=options.diffusion_steps,
    )
    return SuitePlan(
        setup,
        options.models,
        evaluators=tuple(filter(None, options.evaluator)),
        judges=tuple(filter(None, options.judge)),
        both_ways=options.both_ways,
        features=tuple(filter(None, options.mauve)),
    )


def quick_plan(model: str | None = None) -> SuitePlan:
    """A plan that takes minutes on two cores: one model (by default the default one) and SmolLM2, built-in texts."""
    folder = find_model(model)
    setup = Setup(data=BUILTIN, prompts=QUICK_PROMPTS, seeds=(123,))
    name = short_name(str(folder)) if name_of(folder) != DEFAULT else DEFAULT
    models = (f"{name}={folder}", *((BASE,) if name != BASE else ()))
    return SuitePlan(setup, models, evaluators=(BASE,), judges=(f"{LIKELIHOOD}{BASE}",))
