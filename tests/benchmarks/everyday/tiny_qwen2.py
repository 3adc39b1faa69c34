"""A tiny random Qwen2 model as a GGUF file, in single letters, with the marks of turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from reviser.core.encoding.pieces import byte_of_character

MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_PARTS = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def tokens() -> list[str]:
    return [*byte_of_character(), "Ye", "Yes", "No", *MARKS]


def tiny_model(seed: int = 0, *, tied: bool = False) -> Any:
    # It takes seconds, and not every process of the suite needs it.
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokens()),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=4096,
        rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        tie_word_embeddings=tied,
    )
    model: Any = Qwen2ForCausalLM(config).eval()
    with torch.no_grad():  # larger than at the start of training, biases too, so that all of it matters
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_()
            elif parameter.ndim > 1:
                parameter.mul_(8)
    return model


def write_gguf(path: Path, model: Any, architecture: str = "qwen2") -> Path:
    from gguf import GGUFWriter, TokenType

    config = model.config
    writer = GGUFWriter(path, architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(1e6)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens())
    writer.add_token_types([TokenType.CONTROL if token in MARKS else TokenType.NORMAL for token in tokens()])
    writer.add_token_merges(["Y e", "Ye s", "N o"])
    for name, value in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        writer.add_tensor(_gguf_name(name), value.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _gguf_name(name: str) -> str:
    outside = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    if name in outside:
        return outside[name]
    _, _, number, rest = name.split(".", 3)
    part, _, kind = rest.rpartition(".")
    return f"blk.{number}.{_PARTS[part]}.{kind}"
