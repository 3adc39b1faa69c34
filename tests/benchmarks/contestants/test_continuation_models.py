from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks.contestants.continuation_models import CausalLm, RealText, load_contestant, named_source, pick
from benchmarks.contestants.own_models import BatchedReviser, DecodingOptions, code_digest, stream_of
from benchmarks.protocol.records import Contestant, Continuation, Editing, Prompt
from benchmarks.protocol.setup import Setup
from reviser.checkpoints.home import Checkpoint, save_checkpoint
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer, decode
from reviser.core.vocabulary import PAPER_KINDS
from reviser.decoding.rollout import seed
from reviser.decoding.sampler import Sampler
from reviser.scoring.loading import short_name
from reviser.session.engine import load_engine
from tests.benchmarks import tiny_models
from tests.reviser.checkpoints.parts import toy_checkpoint

CPU = torch.device("cpu")
SETUP = Setup(prompt_tokens=4, shortest=8, longest=40, total_tokens=16, max_actions=24)


def prompts(count: int = 6) -> list[Prompt]:
    tokenizer = Gpt2Tokenizer()
    texts = ["in the hall", "all the tins", "a thing", "there", "the all", "tall in a hall, all"]
    return [
        Prompt(f"p{number}", text, tuple(tokenizer.encode(text)), " and so on", "a test")
        for number, text in enumerate(texts[:count])
    ]


def written(contestant: Contestant, seed: int = 1, which: list[Prompt] | None = None) -> dict[str, Continuation]:
    done: list[int] = []
    made = list(contestant.generate(which or prompts(), seed, done.append))
    assert sum(done) == len(made)
    return {generation.prompt_id: generation for generation in made}


def reviser(kinds: frozenset[str] = PAPER_KINDS) -> Checkpoint:
    made = toy_checkpoint()
    return replace(made, vocabulary=replace(made.vocabulary, kinds=kinds))


@pytest.fixture
def reviser_folder(tmp_path: Path) -> str:
    return str(save_checkpoint(tmp_path / "tiny-reviser", reviser()))


def test_a_reviser_is_replayed_from_its_actions(reviser_folder: str) -> None:
    contestant = load_contestant(reviser_folder, SETUP, device=CPU)
    assert contestant.name == "tiny-reviser"
    vocabulary, tokenizer = reviser().vocabulary, reviser().tokenizer
    kinds: Counter[str] = Counter()
    made = written(contestant)
    assert len(made) == 6
    for prompt in prompts():
        generation = made[prompt.id]
        assert generation.actions is not None
        assert len(generation.actions) <= SETUP.max_actions
        canvas, _ = seed(vocabulary, tokenizer.encode(prompt.text))
        for id in generation.actions:
            action = canvas.action(id)
            kinds[action.kind] += 1
            canvas.apply(action)
        text = decode(tokenizer, canvas.tokens)
        assert text.startswith(prompt.text)
        assert text == prompt.text + generation.continuation
        assert (generation.ending == "stop") == canvas.stopped
    assert kinds["move"]
    assert kinds["insert"]


@pytest.mark.parametrize("device_batches", [False, True])
def test_what_is_written_depends_on_seed_and_prompt_alone(reviser_folder: str, device_batches: bool) -> None:
    def load() -> Contestant:
        if device_batches:
            return BatchedReviser("batched", "", reviser(), SETUP)
        return load_contestant(reviser_folder, SETUP, device=CPU)

    whole = written(load())
    few = written(load(), which=prompts()[4:1:-1])
    for id, generation in few.items():
        assert replace(generation, seconds=0.0) == replace(whole[id], seconds=0.0)
    other = written(load(), seed=2)
    assert {g.continuation for g in other.values()} != {g.continuation for g in whole.values()}


def test_fingerprints_change_with_weights_and_sampling(reviser_folder: str, tmp_path: Path) -> None:
    def made_of(folder: str, setup: Setup = SETUP) -> str:
        return load_contestant(folder, setup, device=CPU).fingerprint

    other = str(save_checkpoint(tmp_path / "other", toy_checkpoint(seed=1)))
    copy = str(save_checkpoint(tmp_path / "copy", reviser()))
    assert made_of(reviser_folder) == made_of(copy)
    assert made_of(reviser_folder) != made_of(other)
    assert made_of(reviser_folder) != made_of(reviser_folder, replace(SETUP, top_k=3))
    assert isinstance(load_contestant(reviser_folder, SETUP, device=CPU), Editing)


def test_a_baseline_of_ours_writes_tokens_up_to_the_protocols_length() -> None:
    contestant = BatchedReviser("ar", "", reviser(frozenset({"insert", "stop"})), SETUP)
    for generation in written(contestant).values():
        assert generation.actions is None
        assert len(generation.tokens) <= SETUP.new_tokens
        assert (generation.ending == "limit") == (len(generation.tokens) == SETUP.new_tokens)


@pytest.mark.parametrize("device_batches", [False, True])
def test_a_plain_model_inserts_and_stops_alone(reviser_folder: str, device_batches: bool) -> None:
    if device_batches:
        plain: Contestant = BatchedReviser("plain", "", reviser(), SETUP, DecodingOptions(plain=True))
    else:
        plain = load_contestant(f"plain:{reviser_folder}", SETUP, device=CPU)
        assert plain.name == "tiny-reviser, plain"
    for generation in written(plain).values():
        assert generation.actions is None
        assert len(generation.tokens) <= SETUP.new_tokens


def test_moves_at_a_low_temperature_write_other_texts(reviser_folder: str) -> None:
    usual = load_contestant(reviser_folder, SETUP, device=CPU)
    surer = load_contestant(reviser_folder, SETUP, device=CPU, decoding=DecodingOptions(move_temperature=0.1))
    assert usual.fingerprint != surer.fingerprint
    assert [one.actions for one in written(usual).values()] != [one.actions for one in written(surer).values()]


def test_what_was_written_by_other_rules_is_not_taken_for_the_same(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "ending.py").write_text("NEAR = 0.75\n")
    before = code_digest(tmp_path)
    code_digest.cache_clear()
    assert code_digest(tmp_path) == before
    (tmp_path / "rules" / "ending.py").write_text("NEAR = 0.5\n")
    code_digest.cache_clear()
    assert code_digest(tmp_path) != before


def test_a_model_that_never_moves_is_not_called_plain(tmp_path: Path) -> None:
    with pytest.raises(ReviserError, match="writes from left to right anyway"):
        load_contestant(f"plain:{tiny_models.gpt2(tmp_path)}", SETUP, device=CPU)


def test_names_stand_before_their_models(tmp_path: Path) -> None:
    assert named_source("ours=plain:runs/x/model") == ("ours", "plain:runs/x/model")
    assert named_source("plain:runs/x/model") == ("x, plain", "plain:runs/x/model")
    odd = tmp_path / "a=b"
    odd.mkdir()
    assert named_source(str(odd)) == ("a=b", str(odd))


FAMILIES = [tiny_models.gpt2, tiny_models.pythia, tiny_models.opt]


@pytest.mark.parametrize("family", FAMILIES)
def test_transformers_models_continue_prompts(family: Callable[[Path], Path], tmp_path: Path) -> None:
    contestant = load_contestant(str(family(tmp_path / "some-model")), SETUP, device=CPU)
    assert contestant.name == "some-model"
    made = written(contestant)
    assert len(made) == 6
    assert all(len(g.tokens) <= SETUP.new_tokens for g in made.values())
    assert len({g.continuation for g in made.values()}) == 6
    again = written(contestant, which=prompts()[2:4])
    for id, generation in again.items():
        assert replace(generation, seconds=0.0) == replace(made[id], seconds=0.0)


def test_greedy_is_what_transformers_generates(tmp_path: Path) -> None:
    contestant = load_contestant(str(tiny_models.gpt2(tmp_path)), replace(SETUP, temperature=0.0), device=CPU)
    assert isinstance(contestant, CausalLm)
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for prompt in prompts():
        ids = tokenizer(prompt.text, return_tensors="pt")["input_ids"]
        expected = model.generate(
            ids, do_sample=False, max_new_tokens=SETUP.new_tokens, pad_token_id=0, attention_mask=torch.ones_like(ids)
        )[0, ids.shape[1] :].tolist()
        expected = expected[: expected.index(0)] if 0 in expected else expected
        assert list(written(contestant, which=[prompt])[prompt.id].tokens) == expected


def test_choices_follow_temperature_and_top_k() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0]]).repeat(20_000, 1)
    drawn = torch.rand(20_000, generator=torch.Generator().manual_seed(0))
    counts = torch.bincount(pick(logits, drawn, replace(SETUP, temperature=0.5, top_k=3)), minlength=4)
    expected = torch.softmax(torch.tensor([float("-inf"), 2.0, 4.0, 6.0]), 0)
    # Four standard errors of the largest share.
    assert torch.allclose(counts / 20_000, expected, atol=4 * 0.5 / 20_000**0.5)
    assert counts[0] == 0


def test_the_same_numbers_pick_the_same_ids_as_ever() -> None:
    """Results on file were drawn by this rule, in which softmax and sums are of double precision."""
    generator = torch.Generator().manual_seed(1)
    logits = 3 * torch.randn(4000, 500, generator=generator)
    drawn = torch.rand(4000, generator=generator, dtype=torch.float64)
    best, ids = logits.topk(SETUP.top_k, dim=-1)
    sums = (best / SETUP.temperature).double().softmax(dim=-1).cumsum(dim=-1)
    place = torch.searchsorted(sums, drawn[:, None] * sums[:, -1:], right=True)
    assert torch.equal(pick(logits, drawn, SETUP), ids.gather(1, place)[:, 0])


def test_real_text_is_a_contestant_too() -> None:
    made = written(RealText())
    assert {g.continuation for g in made.values()} == {" and so on"}


def test_a_run_folder_gives_its_model_its_name() -> None:
    assert short_name("runs/lab-ar/model") == "lab-ar"
    assert short_name("EleutherAI/pythia-160m") == "pythia-160m"


def test_streams_differ_by_prompt_and_seed() -> None:
    one, other = prompts(2)
    assert len({stream_of(one, 1), stream_of(other, 1), stream_of(one, 2)}) == 3


@pytest.mark.parametrize("checked", [True, False])
def test_by_the_rules_a_model_writes_as_our_commands_let_it(reviser_folder: str, checked: bool) -> None:
    long = replace(SETUP, max_actions=80)
    source = reviser_folder if checked else f"unchecked:{reviser_folder}"
    contestant = load_contestant(source, long, device=CPU, decoding=DecodingOptions(move_temperature=0.35, rules=True))
    for prompt in prompts(3):
        session = load_engine(reviser_folder).session(prompt.text)
        sampler = Sampler(long.temperature, long.top_k, seed=stream_of(prompt, 1), move_temperature=0.35)
        run = session.continue_(sampler, max_actions=80, check_steps_back=checked)
        ids = tuple(frame.step.id for frame in run)
        assert written(contestant, 1, [prompt])[prompt.id].actions == ids
