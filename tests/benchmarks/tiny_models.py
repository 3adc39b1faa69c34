"""Tiny random models of transformers' families, in folders as the hub would give them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedTokenizerFast

from tests.reviser.checkpoints.parts import END, toy_tokenizer_json

SIZE = 263  # the toy tokenizer's ids
WIDTH = 16


def save_tokenizer(folder: Path, **special: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "made.json"
    path.write_bytes(toy_tokenizer_json())
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path), eos_token=END, **special)
    tokenizer.save_pretrained(folder)
    path.unlink()


def save_model(folder: Path, model: Any) -> Path:
    with torch.no_grad():  # larger than at the start of training, so that it has opinions
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(8)
    save_tokenizer(folder)
    model.save_pretrained(folder)
    return folder


def gpt2(folder: Path, seed: int = 0, **changes: Any) -> Path:
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=SIZE, n_embd=WIDTH, n_layer=2, n_head=2, n_positions=256, bos_token_id=0, eos_token_id=0, **changes
    )
    return save_model(folder, transformers.GPT2LMHeadModel(config))


def pythia(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    config = transformers.GPTNeoXConfig(
        vocab_size=SIZE,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=256,
        bos_token_id=0,
        eos_token_id=0,
    )
    return save_model(folder, transformers.GPTNeoXForCausalLM(config))


def opt(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    config = transformers.OPTConfig(
        vocab_size=SIZE,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        ffn_dim=32,
        word_embed_proj_dim=WIDTH,
        max_position_embeddings=256,
        pad_token_id=0,
        bos_token_id=0,
        eos_token_id=0,
    )
    return save_model(folder, transformers.OPTForCausalLM(config))


def dream(folder: Path, seed: int = 0) -> Path:
    """Dream as it is published: Qwen2's shapes under a model type of its own, with a mask token."""
    torch.manual_seed(seed)
    config = transformers.Qwen2Config(
        vocab_size=SIZE + 1,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=32,
        max_position_embeddings=256,
        tie_word_embeddings=False,
    )
    save_model(folder, transformers.Qwen2ForCausalLM(config))
    path = folder / "config.json"
    values = json.loads(path.read_text())
    values |= {
        "model_type": "Dream",
        "architectures": ["DreamModel"],
        "auto_map": {"AutoModel": "modeling_dream.DreamModel"},
        "mask_token_id": SIZE,
        "rope_theta": 10000.0,
    }
    path.write_text(json.dumps(values))
    return folder


def bert(folder: Path, seed: int = 0) -> Path:
    """A BERT over single letters, with its markers."""
    torch.manual_seed(seed)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz.,"]
    words += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words) + "\n")
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=512,
    )
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    transformers.BertTokenizerFast(vocab=str(vocabulary)).save_pretrained(folder)
    return folder


def llama(folder: Path, seed: int = 0) -> Path:
    """With a context long enough for a judge's question in single letters."""
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=SIZE,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=4096,
        bos_token_id=0,
        eos_token_id=0,
    )
    return save_model(folder, transformers.LlamaForCausalLM(config))
