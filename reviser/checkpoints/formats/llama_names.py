"""Tensor names of Llama models: ours, Hugging Face's and GGUF's."""

from __future__ import annotations

from reviser.core.errors import ReviserError
from reviser.model import ModelConfig

_LAYER = (
    ("attention_norm", "input_layernorm", "attn_norm"),
    ("attention.q", "self_attn.q_proj", "attn_q"),
    ("attention.k", "self_attn.k_proj", "attn_k"),
    ("attention.v", "self_attn.v_proj", "attn_v"),
    ("attention.o", "self_attn.o_proj", "attn_output"),
    ("mlp_norm", "post_attention_layernorm", "ffn_norm"),
    ("mlp.gate", "mlp.gate_proj", "ffn_gate"),
    ("mlp.up", "mlp.up_proj", "ffn_up"),
    ("mlp.down", "mlp.down_proj", "ffn_down"),
)


def hugging_face_names(layers: int, tied: bool) -> dict[str, str]:
    """The Hugging Face name of each of our tensors."""
    names = {"embedding.weight": "model.embed_tokens.weight"}
    for layer in range(layers):
        for ours, theirs, _ in _LAYER:
            names[f"blocks.{layer}.{ours}.weight"] = f"model.layers.{layer}.{theirs}.weight"
    names["final_norm.weight"] = "model.norm.weight"
    return names if tied else names | {"head.weight": "lm_head.weight"}


def gguf_names(layers: int, tied: bool) -> dict[str, str]:
    """The GGUF name of each of our tensors."""
    names = {"embedding.weight": "token_embd.weight"}
    for layer in range(layers):
        for ours, _, theirs in _LAYER:
            names[f"blocks.{layer}.{ours}.weight"] = f"blk.{layer}.{theirs}.weight"
    names["final_norm.weight"] = "output_norm.weight"
    return names if tied else names | {"head.weight": "output.weight"}


def check_exportable(config: ModelConfig) -> None:
    """Raise an error for the paper's architecture and for canvas conditioning, which other engines do not know."""
    if config.kind != "llama":
        raise ReviserError(
            "this model has the paper's architecture, which other engines do not know; "
            "only models of the llama kind can be exported"
        )
    if config.uses_canvas:
        raise ReviserError(
            "this model looks at the canvas, which other engines cannot show it; "
            "only models that read the history alone can be exported"
        )
