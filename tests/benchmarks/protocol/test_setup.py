"""The protocol's prompts: their lengths, their draws and their sources."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import os
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.builtin import builtin_texts
from benchmarks.builtin.passages import passages
from benchmarks.protocol.setup import Setup, eligible, prompt_of, prompts_by_seed, texts_of, whole_prompt
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer

SMALL = Setup(shortest=8, longest=20, prompt_tokens=3, total_tokens=12, prompts=4, seeds=(1, 2))
GPT2 = Gpt2Tokenizer()


def test_the_papers_protocol_is_the_default() -> None:
    setup = Setup()
    assert setup.seeds == (123, 124, 125)
    assert (setup.shortest, setup.longest, setup.prompt_tokens) == (144, 216, 35)
    assert (setup.total_tokens, setup.max_actions, setup.prompts) == (180, 256, 1000)
    assert setup.new_tokens == 145
    assert Setup.from_dict(json.loads(json.dumps(setup.to_dict()))) == setup


@pytest.mark.parametrize(
    "wrong",
    [
        {"prompt_tokens": 144},
        {"shortest": 300},
        {"total_tokens": 35},
        {"prompts": 0},
        {"seeds": ()},
        {"seeds": (1, 1)},
        {"temperature": -1.0},
        {"max_actions": 0},
    ],
)
def test_a_setup_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ReviserError):
        Setup(**wrong)  # type: ignore[arg-type]


def test_the_builtin_texts_fit_the_protocol() -> None:
    texts = list(builtin_texts())
    assert len(texts) == len(set(texts)) > 1000
    drawn = prompts_by_seed(replace(Setup(), prompts=20))
    for prompts in drawn.values():
        assert len({prompt.id for prompt in prompts}) == 20
        for prompt in prompts:
            assert prompt.tokens == tuple(GPT2.encode(prompt.text + prompt.reference)[:35])
            assert 144 <= len(GPT2.encode(prompt.text + prompt.reference)) <= 180


def test_seeds_draw_their_own_prompts_and_fewer_are_the_first_of_more() -> None:
    many, few = (prompts_by_seed(replace(Setup(), prompts=count)) for count in (60, 10))
    assert many[123] != many[124]
    assert {seed: prompts[:10] for seed, prompts in many.items()} == few
    assert prompts_by_seed(replace(Setup(), prompts=10, seeds=(124,)))[124] == few[124]


@given(st.text(max_size=120))
def test_a_prompt_is_the_beginning_of_its_text(text: str) -> None:
    prompt = prompt_of(text, SMALL, "test")
    length = len(GPT2.encode(text))
    if not 8 <= length <= 20:
        assert prompt is None
    elif prompt is not None:
        assert text.startswith(prompt.text + prompt.reference)
        assert len(prompt.tokens) == 3
        assert prompt.reference or not text


def test_a_cut_inside_a_character_is_no_prompt() -> None:
    text = "one two three four five six seven eight nine 漢字 and so on to the end"
    cut = len(GPT2.encode(text[: text.index("漢")].rstrip())) + 1
    assert GPT2.token_bytes(GPT2.encode(text)[cut - 1]) == " 漢".encode()[:2]
    setup = replace(SMALL, shortest=cut + 1, longest=40, prompt_tokens=cut, total_tokens=cut + 5)
    assert prompt_of(text, setup, "test") is None
    assert prompt_of(text, replace(setup, prompt_tokens=cut - 1), "test") is not None


SENTENCES = st.lists(
    st.lists(st.sampled_from(["A", "word", "more", "of", "it"]), min_size=1, max_size=30).map(
        lambda words: "The " + " ".join(words) + "."
    ),
    max_size=30,
)


@given(SENTENCES)
def test_passages_are_whole_sentences_of_the_wanted_length(sentences: list[str]) -> None:
    text = " ".join(sentences)
    found = list(passages(text, 12, 40))
    place = 0
    for passage in found:
        assert 12 <= len(GPT2.encode(passage)) <= 40
        assert passage.startswith("The ")
        assert passage.endswith(".")
        place = text.index(passage, place) + len(passage)


def test_sources_of_the_users_own(tmp_path: Path) -> None:
    texts = [f"This is number {n} of several short texts in a file." for n in range(6)]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in [*texts, texts[0], "short"])
    (tmp_path / "one.jsonl").write_text(lines)
    (tmp_path / "two.jsonl.xz").write_bytes(lzma.compress(lines.encode()))
    (tmp_path / "three.txt").write_text("\n\n".join(texts))
    for name in ("one.jsonl", "two.jsonl.xz"):
        setup = replace(SMALL, data=str(tmp_path / name))
        prompts = eligible(texts_of(setup.data, setup), setup)
        whole = [prompt.text + prompt.reference for prompt in prompts]
        assert [text.startswith(part) for text, part in zip(texts, whole, strict=True)] == [True] * 6
        assert all(prompt.source == setup.data for prompt in prompts)
    text_setup = replace(SMALL, data=str(tmp_path / "three.txt"))
    assert list(texts_of(text_setup.data, text_setup)) == texts
    everything = replace(SMALL, data=str(tmp_path), prompts=100)
    assert len(prompts_by_seed(everything)[1]) == 6
    with pytest.raises(ReviserError, match="holds no text of 144 to 216"):
        prompts_by_seed(replace(Setup(), data=str(tmp_path / "three.txt")))
    with pytest.raises(ReviserError, match="there is no file"):
        prompts_by_seed(replace(Setup(), data=str(tmp_path / "missing.jsonl")))


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as a download of one file asks for."""

    content = b""

    def do_HEAD(self) -> None:
        wanted = "/datasets/allenai/c4/resolve/main/en/c4-validation.00000-of-00008.json.gz"
        self.send_response(200 if self.path == wanted else 404)
        self.send_header("ETag", f'"{hashlib.sha256(self.content).hexdigest()}"')
        self.send_header("X-Repo-Commit", "1" * 40)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(self.content)

    def log_message(self, format: str, *values: object) -> None:
        pass


def test_c4_comes_from_the_hub_where_that_can_be_reached(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    lines = [json.dumps({"text": f"Some text of the web, number {n}, to go on."}) for n in range(9)]
    Hub.content = gzip.compress("\n".join(lines).encode())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code = """
from itertools import islice
from benchmarks.protocol.setup import Setup, best_source, texts_of
source = best_source(print)
print(source)
for text in islice(texts_of(source, Setup()), 9):
    print(text)
"""

    def ask(port: int) -> list[str]:
        environment = os.environ | {
            "HF_ENDPOINT": f"http://127.0.0.1:{port}",
            "HF_HOME": str(tmp_path),
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_XET": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    try:
        found = ask(server.server_port)
    finally:
        server.shutdown()
    assert found[0] == "c4"
    assert found[9] == "Some text of the web, number 8, to go on."
    with socket.socket() as nobody:  # bound, but not listening
        nobody.bind(("127.0.0.1", 0))
        found = ask(nobody.getsockname()[1])
    assert "the built-in texts are used" in found[0]
    assert found[1] == "builtin"


def test_an_opening_is_a_prompt_as_it_stands() -> None:
    prompt = whole_prompt("m1", "Dear Dana, thank", "mail")
    assert (prompt.text, prompt.reference, prompt.source) == ("Dear Dana, thank", "", "mail")
    assert prompt.tokens == tuple(GPT2.encode("Dear Dana, thank"))
