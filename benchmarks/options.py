"""What a run of the benchmark is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from reviser.cli.options import Argument, Option


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Which models continue which prompts, and what measures what they write."""

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
