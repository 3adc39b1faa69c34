"""Diffusion models of ours from their rows to a contestant: trained by the trainer of all other models."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch

from benchmarks.contestants.continuation_models import Diffusion, load_contestant
from benchmarks.contestants.diffusion.checkpoint import DiffusionModel, is_diffusion, load_diffusion, save_diffusion
from benchmarks.contestants.diffusion.training import DiffusionTrainer, fresh_diffusion
from benchmarks.measures.evaluators import load_evaluator
from benchmarks.protocol.records import Prompt
from benchmarks.protocol.setup import Setup
from reviser.checkpoints.tokenizer_files import make_tokenizer
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.model import preset
from reviser.scoring.perplexity import PromptedText
from tests.reviser.checkpoints.parts import toy_tokenizer_json
from training.batches.loader import Loader
from training.data.boundaries import boundary_classes
from training.data.corpus import Corpus
from training.samples.mixture import Mixture
from training.samples.samples import Samples
from training.trainer.parallel import join_world
from training.trainer.settings import preset_settings

CPU = torch.device("cpu")
TOKENIZER = make_tokenizer(toy_tokenizer_json(), "toy")
KINDS: list[Literal["sedd", "mdlm"]] = ["sedd", "mdlm"]
SETTINGS = preset_settings("tiny", steps=60, rows=8, peak_rate=1e-2, objective="ar")


def vocabulary() -> Vocabulary:
    kinds = frozenset({"insert", "stop"})
    return Vocabulary(TOKENIZER.size, TOKENIZER.markers, kinds=kinds, name="toy")


def loader() -> Loader:
    """The rows of the autoregressive baseline."""
    texts = [TOKENIZER.encode("in the hall all the tins are in a tin. " * 3)] * 60
    corpus = Corpus.of(texts, boundary_classes(TOKENIZER))
    samples = Samples(corpus, vocabulary(), Mixture.left_to_right(SETTINGS.history), seed=0)
    return Loader(samples, SETTINGS.rows, row_length=SETTINGS.row_length, workers=1)


def untrained(kind: Literal["sedd", "mdlm"]) -> DiffusionModel:
    trunk = preset("tiny", vocab_size=vocabulary().size)
    return fresh_diffusion(kind, trunk, vocabulary(), TOKENIZER, toy_tokenizer_json())


def losses_of(made: DiffusionModel, steps: int) -> list[float]:
    with join_world("none") as world:
        torch.manual_seed(0)
        trainer = DiffusionTrainer(SETTINGS, made.model, loader(), world)
        return [trainer.mean_loss(measured) for measured in islice(trainer.steps(), steps)]


@pytest.mark.parametrize("kind", KINDS)
def test_learns_from_the_baselines_rows(kind: Literal["sedd", "mdlm"]) -> None:
    losses = losses_of(untrained(kind), SETTINGS.steps or 0)
    # A bound in nats for each token: nothing is known at first, and much of so dull a text at last.
    assert np.mean(losses[:3]) == pytest.approx(np.log(vocabulary().size), rel=0.35)
    assert np.mean(losses[-15:]) < 0.6 * np.mean(losses[:3])


@pytest.fixture(params=KINDS)
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = untrained(request.param)
    with torch.no_grad():
        for parameter in made.model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return save_diffusion(tmp_path / request.param, made)


def test_a_folder_gives_the_same_model_back(saved: Path) -> None:
    assert is_diffusion(saved)
    one, other = (load_diffusion(saved, CPU) for _ in range(2))
    again = save_diffusion(saved.parent / "again", one)
    for name, tensor in load_diffusion(again, CPU).model.state_dict().items():
        assert torch.equal(tensor, other.model.state_dict()[name]), name
    assert one.model.head.weight is one.model.embedding.weight
    assert one.config == other.config
    assert one.start == (vocabulary().start_id,)
    assert one.ends == {vocabulary().stop_id}
    assert one.tokenizer.encode("all the") == TOKENIZER.encode("all the")


def test_a_folder_of_ours_is_a_contestant(saved: Path) -> None:
    setup = Setup(prompt_tokens=4, shortest=8, longest=40, total_tokens=14, diffusion_steps=8)
    contestant = load_contestant(str(saved), setup, device=CPU)
    assert isinstance(contestant, Diffusion)
    assert contestant.name == saved.name
    prompts = [Prompt(f"p{n}", text, (), "", "") for n, text in enumerate(["in the hall", "all"])]
    for generation in contestant.generate(prompts, 1, lambda done: None):
        assert len(generation.tokens) <= setup.new_tokens
        assert not {vocabulary().stop_id, vocabulary().size} & set(generation.tokens)


def test_only_our_mdlm_is_an_evaluator(saved: Path) -> None:
    evaluator = load_evaluator(str(saved), CPU)
    assert evaluator.kind == "diffusion"
    texts = [PromptedText("in the", " hall"), PromptedText("in", "")]
    if saved.name == "sedd":
        with pytest.raises(ReviserError, match="only an MDLM"):
            evaluator.losses(texts)
        return
    loss, empty = evaluator.losses(texts)
    assert len(loss.nats) == len(TOKENIZER.encode(" hall"))
    assert loss.total > 0
    assert empty.nats == ()


def test_weights_of_another_shape_are_refused(saved: Path) -> None:
    config = saved / "config.json"
    config.write_text(config.read_text().replace('"layers": 2', '"layers": 3'))
    with pytest.raises(ReviserError, match="not those of its configuration"):
        load_diffusion(saved, CPU)
