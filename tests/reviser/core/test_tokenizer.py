"""Tokenizers give the bytes of each token, and GPT-2's ids are those of the `tokenizers` package."""

from __future__ import annotations

import gzip
import itertools
import json
from copy import copy
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import reviser
from reviser.core.encoding.merging import Merging, first_merged
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import (
    Gpt2Tokenizer,
    HuggingFaceTokenizer,
    _tiktoken_gpt2,
    decode,
    first_bytes,
    gpt2_ranks,
    load_tokenizer,
)

CORPUS = ["The cat sat on the mat.", "It's 7 o'clock:\n the quick, brown fox says 漢字 and 👩‍💻!"] * 4


def byte_characters() -> list[str]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printable else chr(next(shifted)) for byte in range(0x100)]


@pytest.fixture(scope="session")
def reference() -> Tokenizer:
    """GPT-2 built for `tokenizers` from the ranks: each token's merge is found by merging its bytes."""
    ranks = gpt2_ranks()
    characters = byte_characters()

    def written(data: bytes) -> str:
        return "".join(characters[byte] for byte in data)

    def parts(token: bytes, rank: int) -> list[bytes]:
        pieces = [bytes([byte]) for byte in token]
        while len(pieces) > 2:
            joined = [ranks.get(a + b, rank) for a, b in itertools.pairwise(pieces)]
            best = min(joined)
            at = joined.index(best)
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        return pieces

    vocabulary = {written(token): rank for token, rank in ranks.items()}
    merges = [
        (written(a), written(b)) for token, rank in ranks.items() if len(token) > 1 for a, b in [parts(token, rank)]
    ]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


texts = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            " ",
            "  ",
            "\n",
            "\t",
            "\xa0",
            "\u3000",
            "I'll",
            "we've",
            "'S",
            "don't",
            "x",
            "42",
            "½",
            "é",
            "漢字",
            "👩\u200d💻",
            "é",
            "!?",
            "…",
            "The",
            " the",
            "</s>",
            "<|endoftext|>",
            "\r\n",
            "ſ",
            "\u200b",
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=500)
@given(texts)
@example("  leading and trailing  ")
@example("<|endoftext|> is only text")
def test_gpt2_ids_equal_those_of_tokenizers(reference: Tokenizer, text: str) -> None:
    gpt2 = Gpt2Tokenizer()
    ids = gpt2.encode(text)
    assert ids == reference.encode(text).ids
    assert decode(gpt2, ids) == text


def test_published_prompts_are_encoded_as_published(gpt2: Gpt2Tokenizer, published: list) -> None:  # type: ignore[type-arg]
    for trajectory in published:
        prompt = list(trajectory.action_ids[: trajectory.prefix_tokens])
        assert gpt2.encode(trajectory.prompt) == prompt


def test_lone_surrogates_become_question_marks(gpt2: Gpt2Tokenizer) -> None:
    assert decode(gpt2, gpt2.encode("a\ud800b")) == "a?b"


def save(tokenizer: Tokenizer, folder: Path) -> Path:
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def byte_level(folder: Path) -> Path:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return save(tokenizer, folder)


def sentencepiece(folder: Path) -> Path:
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    words = ["▁", "▁the", "the", "The", "a", "t", "h", "e"]
    vocabulary = {token: id for id, token in enumerate(["<unk>", "<s>", *bytes_, *words])}
    merges = [("t", "h"), ("th", "e"), ("▁", "the")]
    vocabulary["th"] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<unk>", "<s>"])
    return save(tokenizer, folder)


@pytest.mark.parametrize("build", [byte_level, sentencepiece])
@pytest.mark.parametrize(
    "text", ["", "the cat", " the", "The  the\n\tthe", "漢字 👩‍💻 é", "<|endoftext|> <s> ▁x".replace("▁", "")]
)
def test_hugging_face_tokenizers_keep_text(build: object, text: str, tmp_path: Path) -> None:
    assert callable(build)
    tokenizer = HuggingFaceTokenizer(build(tmp_path))
    ids = tokenizer.encode(text)
    assert decode(tokenizer, ids) == text
    assert not tokenizer.markers & set(ids)
    assert all(0 <= id < tokenizer.size for id in ids)


@pytest.mark.parametrize("build", [byte_level, sentencepiece, None])
def test_first_bytes_are_those_of_the_tokens(build: object, tmp_path: Path) -> None:
    tokenizer = HuggingFaceTokenizer(build(tmp_path)) if callable(build) else Gpt2Tokenizer()
    # One token is known already.
    tokenizer.token_bytes(tokenizer.size // 2)
    found = first_bytes(tokenizer)
    assert len(found) == tokenizer.size
    for token, byte in enumerate(found):
        assert bytes([byte]) == (tokenizer.token_bytes(token)[:1] or b"\0")


@pytest.mark.parametrize("form", [list, " ".join], ids=["pairs", "strings"])
def test_hugging_face_ids_are_those_of_the_package(form: object, tmp_path: Path) -> None:
    assert callable(form)
    path = byte_level(tmp_path)
    reference = Tokenizer.from_file(str(path))
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    data = json.loads(path.read_text())
    data["model"]["merges"] = [form(merge) for merge in data["model"]["merges"]]
    tokenizer = HuggingFaceTokenizer(json.dumps(data).encode(), "it")
    for text in (*CORPUS[:2], "The fox sat, and that's that."):
        assert tokenizer.encode(text) == reference.encode(text).ids


def test_a_tokenizer_that_changes_text_is_refused(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"the": 0, "<unk>": 1}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(ReviserError, match="does not keep text"):
        HuggingFaceTokenizer(save(tokenizer, tmp_path))


def test_load_by_name_file_and_folder(tmp_path: Path) -> None:
    path = byte_level(tmp_path)
    assert load_tokenizer("gpt2").name == "gpt2"
    size = Tokenizer.from_file(str(path)).get_vocab_size()
    assert load_tokenizer(str(path)).size == load_tokenizer(str(tmp_path)).size == size


@pytest.mark.parametrize("content", [b"\xff\xfe", b"not json", json.dumps({"model": {}}).encode()])
def test_unusable_files_are_refused_in_a_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ReviserError, match=r"tokenizer\.json"):
        load_tokenizer(str(path))
    with pytest.raises(ReviserError, match="no tokenizer"):
        load_tokenizer(str(tmp_path / "missing"))


def test_long_runs_of_white_space(gpt2: Gpt2Tokenizer) -> None:
    """Longer ones than tiktoken's regular expressions bear, and the same tokens as theirs where they do."""
    run = " " * 1_000_000
    assert gpt2.encode(f"a{run}b") == gpt2.encode("a") + gpt2.encode(run[1:]) + gpt2.encode(" b")
    theirs = _tiktoken_gpt2().encode_ordinary
    for space in (" ", "\n", " \n", "\u3000"):
        for text in (space * 5000, f"a{space * 5000}b", f"{space * 5000}'s{space * 4096}7 !"):
            assert gpt2.encode(text) == theirs(text)


@pytest.fixture(scope="module")
def embedded() -> tuple[HuggingFaceTokenizer, Merging]:
    """The tokenizer of the bundled model, as the package has it and in Python."""
    weights = Path(reviser.__file__).parent / "weights" / "tokenizer.json.gz"
    content = gzip.decompress(weights.read_bytes())
    late = HuggingFaceTokenizer(content, "other", late=True)
    assert late._merging is not None
    return HuggingFaceTokenizer(content, "one"), late._merging


@given(texts)
@example("  2 cats,\n\n\t 1234 x²")
@example("<|endoftext|> and <|im_start|>")
def test_words_merged_in_python_are_those_of_the_package(
    embedded: tuple[HuggingFaceTokenizer, Merging], text: str
) -> None:
    whole, merging = embedded
    try:
        ids = merging.encode(text.encode("utf-8", "replace").decode())
    except KeyError:
        # Bytes that no token stands for: the package knows what to do with them.
        assert any(ord(character) < 32 or ord(character) > 126 for character in text)
        return
    assert ids == whole.encode(text)


@given(texts)
def test_merges_are_numbered_only_where_the_vocabulary_does_not_say_their_order(
    embedded: tuple[HuggingFaceTokenizer, Merging], text: str
) -> None:
    _, merging = embedded
    assert merging._ranks is None
    numbered = copy(merging)
    numbered._known = {}
    numbered._ranks = dict(zip(merging._merges, range(len(merging._merges)), strict=True))
    for piece in text.split():
        assert numbered._merged(piece) == merging._merged(piece)


def test_a_vocabulary_in_another_order_merges_the_same() -> None:
    """Two pairs make "abc", and only one of them was learned."""
    tokens = ["a", "b", "c", "ab", "bc", "abc"]
    merges = ["a b", "b c", "ab c"]
    merged = []
    for vocabulary in (
        {token: id for id, token in enumerate(tokens)},
        {token: id for id, token in reversed([*enumerate(tokens)])},
        {token: 7 * id for id, token in enumerate(tokens)},
    ):
        first = first_merged(vocabulary, merges)
        merging = Merging(vocabulary, merges, lambda text: [text], first)
        names = {id: token for token, id in vocabulary.items()}
        found = [[names[id] for id in merging.encode(text)] for text in ("abc", "bca", "cab", "aabcb")]
        merged.append(found)
        assert (merging._ranks is None) == (
            vocabulary == dict(zip(tokens, range(6), strict=True)) and list(vocabulary) == tokens
        )
    assert merged[0] == [["abc"], ["bc", "a"], ["c", "ab"], ["a", "abc", "b"]]
    assert merged[1] == merged[2] == merged[0]


def test_an_encoder_is_made_when_there_is_much_to_encode() -> None:
    weights = Path(reviser.__file__).parent / "weights" / "tokenizer.json.gz"
    late = HuggingFaceTokenizer(gzip.decompress(weights.read_bytes()), "late", late=True)
    text = "The cat sat on the mat. " * 1000
    short = late.encode(text[:1199])
    assert late._merging is not None
    assert late.encode(text)[: len(short)] == short
    assert late._merging is None
    assert late.encode(text[:1199]) == short


def test_a_late_encoder_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path) -> None:
    """What no word needs is missed only when the encoder is made; what one needs makes it at once."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    data = json.loads(tokenizer.to_str())
    data["model"]["merges"].append(["Q", "Q"])
    late = HuggingFaceTokenizer(json.dumps(data).encode(), "late", late=True)
    assert decode(late, late.encode("The cat")) == "The cat"
    with pytest.raises(ReviserError, match="not a usable"):
        late.encode("QQ")
    with pytest.raises(ReviserError, match="not a usable"):
        HuggingFaceTokenizer(json.dumps(data).encode(), "at once")
