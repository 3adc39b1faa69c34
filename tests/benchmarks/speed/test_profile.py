"""Where time goes: the parts make up the whole, and the report names instructions, memory and every length."""

from __future__ import annotations

import pytest
import torch

from benchmarks.speed.contestants.page import CONTEXTS
from benchmarks.speed.profile import ProfileResult, Prompt, Spent, Texts, report, spent
from reviser.model import Reviser, preset
from reviser.native import NativeDecoder, available
from reviser.native.decoder import Profile


def test_parts_make_up_the_whole() -> None:
    clocks = Profile(steps=4, total=0.9, matrices=0.6, attention=0.2, preparation=0.1)
    shares = Spent(1.0, 1.5, clocks).shares()
    assert sum(shares.values()) == pytest.approx(1e6)
    assert shares["products with weights"] == pytest.approx(0.5e6)
    assert shares["outside the library"] == pytest.approx(0.1e6)


@pytest.mark.skipif(not available(), reason="the native library was not built")
def test_clocks_of_a_real_decoder() -> None:
    torch.manual_seed(0)
    config = preset("tiny")
    with NativeDecoder.from_model(Reviser(config).eval(), threads=1) as decoder:

        def work() -> None:
            decoder.truncate(0)
            decoder.prefill(range(40))
            decoder.decode(1)

        one = spent(decoder, work)
    assert one.clocks.steps == 2
    assert 0 < one.clocks.preparation < one.clocks.matrices < one.clocks.total < one.wall
    assert all(microseconds >= 0 for microseconds in one.shares().values())


def test_report() -> None:
    parts = {"products with weights": 3000.0, "attention": 1000.0}
    prompts = {str(length): Prompt(ms=5.0, processor_ms=9.0, tokens_per_s=400.0, us=parts) for length in CONTEXTS}
    text = report(
        ProfileResult(
            model="default",
            level="neon",
            threads=2,
            memory_bandwidth_gb_s=37.7,
            weights_mb=89.7,
            actions_per_s=250.0,
            action_us=parts,
            prompts=prompts,
            texts=Texts(count=32, tokens_each=34, together_tokens_per_s=450.0, alone_tokens_per_s=430.0, gain=1.05),
        )
    )
    assert "default: neon, 2 threads, which can read 37.7 GB/s" in text
    assert "One action: 4000 µs (250.0 a second)" in text
    assert "  3000.0 µs   75.0%  products with weights" in text
    for length in CONTEXTS:
        assert f"A prompt of {length} tokens: 5 ms" in text
