"""The evaluators of benchmarks: those of `reviser.scoring`, and masked diffusion models (MDLM)."""

from __future__ import annotations

from pathlib import Path

import torch

from benchmarks.contestants.diffusion.checkpoint import DiffusionModel, is_diffusion, load_diffusion
from benchmarks.contestants.diffusion.released import is_released, read_released
from reviser.scoring import evaluators
from reviser.scoring.evaluators import DenoisingEvaluator, read_text
from reviser.scoring.loading import default_device, dtype_for, is_own, read_config, short_name
from reviser.scoring.perplexity import Evaluator


def load_evaluator(source: str, device: torch.device | None = None) -> Evaluator:
    """Loads the evaluator of a name or path; an MDLM may be our own or a released one."""
    device = device or default_device()
    if is_diffusion(Path(source)):
        made = load_diffusion(Path(source), device, dtype_for(device))
        return _masked_evaluator(short_name(source), made)
    if not is_own(source) and is_released(read_config(source)):
        return _masked_evaluator(source, read_released(source, device, dtype_for(device)))
    return evaluators.load_evaluator(source, device)


def _masked_evaluator(name: str, made: DiffusionModel) -> DenoisingEvaluator:
    """An MDLM as an evaluator; its start marker, if any, is never masked."""
    return DenoisingEvaluator(
        name, lambda text: read_text(made.tokenizer, text, made.start), made, context=made.config.context
    )
