"""transformers as a contestant: `generate` on the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from benchmarks.speed.contestants.contest import timed
from reviser.model import Reviser

NAME = "transformers fp32"


class Transformers:
    """`generate` with its cache, greedy, in the precision and on the device of the given model."""

    def __init__(self, model: Reviser, name: str = NAME) -> None:
        self.name = name
        self._model = transformers_model(model)
        self._ids: list[int] = []
        self._device = model.cos.device
        on_gpu = self._device.type == "cuda"
        capability = str(torch.backends.cpu.get_cpu_capability())
        self.instructions = "CUDA" if on_gpu else f"torch {capability}"
        # A table that is input and output is read once: as the output.
        weights = {weight.data_ptr(): weight.nbytes for weight in self._model.parameters()}
        self.step_bytes = sum(weights.values())

    def prefill(self, ids: Sequence[int]) -> None:
        self._ids = list(ids)
        self._generate(1)

    def steps(self, count: int) -> float:
        # The prompt is read again, and counted out again.
        return timed(lambda: self._generate(count + 1)) - timed(lambda: self._generate(1))

    def _generate(self, count: int) -> None:
        ids = torch.tensor([self._ids], device=self._device)
        self._model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            min_new_tokens=count,
            max_new_tokens=count,
            pad_token_id=0,
        ).cpu()  # a GPU is waited for


def transformers_model(model: Reviser) -> Any:
    """The same weights in transformers' own Llama."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = model.config
    # Some releases of transformers have types here, and others none.
    build: Any = LlamaForCausalLM
    with torch.device("meta"):
        llama = build(
            LlamaConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.width,
                intermediate_size=config.ff,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.kv_heads,
                max_position_embeddings=config.context,
                rms_norm_eps=config.norm_eps,
                rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
                tie_word_embeddings=config.tied,
                bos_token_id=None,
                eos_token_id=None,
            )
        )
    ours = model.state_dict()
    renamed = {
        "model.embed_tokens.weight": ours["embedding.weight"],
        "model.norm.weight": ours["final_norm.weight"],
        "lm_head.weight": ours["embedding.weight" if config.tied else "head.weight"],
    }
    for layer in range(config.layers):
        block, theirs = f"blocks.{layer}.", f"model.layers.{layer}."
        renamed[f"{theirs}input_layernorm.weight"] = ours[f"{block}attention_norm.weight"]
        renamed[f"{theirs}post_attention_layernorm.weight"] = ours[f"{block}mlp_norm.weight"]
        for part in ("q", "k", "v", "o"):
            renamed[f"{theirs}self_attn.{part}_proj.weight"] = ours[f"{block}attention.{part}.weight"]
        for part in ("gate", "up", "down"):
            renamed[f"{theirs}mlp.{part}_proj.weight"] = ours[f"{block}mlp.{part}.weight"]
    llama.load_state_dict(renamed, assign=True)
    # Tables that are no weights were not loaded and must leave the meta device, too.
    rotary = type(llama.model.rotary_emb)(llama.config)
    llama.model.rotary_emb = rotary.to(model.cos.device)
    return llama.eval()
