"""A model behind a completions endpoint, over real HTTP: the same runs as here, and a sentence when it fails."""

from __future__ import annotations

import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reviser.checkpoints.home import save_checkpoint
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import SessionPolicy
from reviser.decoding.rollout import seed
from reviser.decoding.sampler import Sampler
from reviser.model.layout import Quantisation
from reviser.model.scoring import Scores
from reviser.remote.batching import Batcher, HistoryRows, ScoreRequest, SequentialScorer
from reviser.remote.client import Address, CompletionsClient
from reviser.remote.server import Server, Service
from reviser.session.engine import Engine, load_engine
from reviser.session.session import Session
from tests.conftest import ROOT
from tests.reviser.checkpoints.parts import toy_checkpoint
from tests.reviser.remote.servers import Wire, served

TEXT = "All the things in the hall were in a heap and"
ACTIONS = 30


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model that moves, deletes and stops often enough to make the mask matter."""
    import torch

    made = toy_checkpoint(seed=3, width=64, heads=4)
    vocabulary = made.vocabulary
    with torch.no_grad():
        made.model.embedding.weight[vocabulary.delete_id : vocabulary.first_reserved_id] *= 3
    folder = tmp_path_factory.mktemp("models") / "toy"
    return save_checkpoint(folder, made, quantisation=Quantisation(8))


@pytest.fixture(scope="module")
def alone(model: Path) -> Iterator[str]:
    """A server whose one row is the engine as it is."""
    with served(model, "--rows", "1") as url:
        yield url


@pytest.fixture(scope="module")
def shared(model: Path) -> Iterator[str]:
    with served(model, "--rows", "8") as url:
        yield url


def there(url: str, model: Path) -> str:
    return f"openai:{url}#toy={model}"


@dataclass(frozen=True)
class ScoresAlone:
    """A policy as a session takes it that gives scores and no more."""

    policy: SessionPolicy

    @property
    def vocabulary(self) -> Vocabulary:
        return self.policy.vocabulary

    @property
    def context(self) -> int:
        return self.policy.context

    @property
    def max_length(self) -> int | None:
        return self.policy.max_length

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        return self.policy.scores(history, canvas)


def written(engine: Engine, sampler: Sampler, text: str = TEXT, at: int | None = None) -> list[int]:
    # What needs more of a model than its choices is done for one that runs here alone.
    session = Session(ScoresAlone(engine.policy), engine.tokenizer, text)
    plain = {"max_actions": ACTIONS, "check_steps_back": False, "longest_repeat": 0}
    if at is None:
        return [frame.step.id for frame in session.continue_(sampler, **plain)]
    return [frame.step.id for frame in session.infill(at, at, sampler, tries=1, **plain)]


@pytest.mark.parametrize("at", [None, 8])
def test_greedy_runs_are_those_of_the_engine_here(model: Path, alone: str, at: int | None) -> None:
    here = written(load_engine(model), Sampler.greedy(), at=at)
    assert written(load_engine(there(alone, model)), Sampler.greedy(), at=at) == here
    assert len(set(here)) > 1


def test_sampled_runs_are_those_of_the_engine_here(model: Path, alone: str) -> None:
    local, remote = load_engine(model), load_engine(there(alone, model))
    runs = [written(local, Sampler(seed=number)) for number in range(3)]
    assert [written(remote, Sampler(seed=number)) for number in range(3)] == runs
    assert len({tuple(run) for run in runs}) == 3


def test_the_embedded_model_writes_the_same_there_and_here() -> None:
    with served(None, "--rows", "1") as url:
        remote = load_engine(f"openai:{url}")
        here = written(load_engine("default"), Sampler.greedy(), "The cat sat on the mat and")
        assert written(remote, Sampler.greedy(), "The cat sat on the mat and") == here


def test_documents_served_together_do_not_change_each_other(model: Path, shared: str) -> None:
    texts = [f"{TEXT} number {number} in a" for number in range(12)]

    def write(text: str) -> list[int]:
        return written(load_engine(there(shared, model)), Sampler.greedy(), text)

    one_by_one = [write(text) for text in texts]
    with ThreadPoolExecutor(len(texts)) as pool:
        assert list(pool.map(write, texts)) == one_by_one
    assert len({tuple(run) for run in one_by_one}) > 6


def test_rows_read_nothing_twice(model: Path) -> None:
    engine = load_engine(model)
    rows = HistoryRows(engine.policy.decoder, 4)  # type: ignore[attr-defined]
    vocabulary = engine.policy.vocabulary
    asked = []
    for number in range(3):
        canvas, history = seed(vocabulary, engine.tokenizer.encode(f"{number} {TEXT}"))
        asked.append(ScoreRequest(history, canvas))
    before = [scores.copy() for scores in rows.score(asked)]
    read = rows.read
    assert read == sum(len(each.history) for each in asked)
    # Asked again, in another order and one by one: the last id alone goes through the model.
    for each, scores in reversed(list(zip(asked, before, strict=True))):
        assert (rows.score([each])[0] == scores).all()
    assert rows.read == read + 3
    # One more id, and others that need the rows of those that were used the longest ago.
    asked[0].history.append(5)
    rows.score([asked[0]])
    assert rows.read == read + 4
    others = [ScoreRequest(history, canvas) for history in ([vocabulary.start_id, n] for n in (9, 8, 7))]
    rows.score(others)
    read = rows.read
    rows.score([asked[0]])
    assert rows.read == read + 1


def post(url: str, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    address = Address.parse(url)
    connection = http.client.HTTPConnection(address.host, address.port, timeout=60)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, data, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    if response.headers.get_content_type() == "text/event-stream":
        return response.status, content.decode()
    return response.status, json.loads(content)


def test_the_server_completes_by_itself(model: Path, alone: str) -> None:
    """For programs that know nothing of us: a text as prompt, whole or as a stream."""
    engine = load_engine(model)
    expected = written(load_engine(there(alone, model)), Sampler.greedy())
    prompt = TEXT
    body = {"model": "toy", "prompt": prompt, "max_tokens": ACTIONS, "temperature": 0}
    status, answer = post(alone, "/v1/completions", body)
    assert status == 200
    (choice,) = answer["choices"]
    assert choice["token_ids"] == expected
    assert choice["finish_reason"] == ("stop" if expected[-1] == engine.policy.vocabulary.stop_id else "length")
    assert answer["usage"]["completion_tokens"] == len(expected)
    assert choice["canvas"].startswith(TEXT)
    _, stream = post(alone, "/v1/completions", body | {"stream": True})
    events = [line.removeprefix("data: ") for line in stream.split("\n\n") if line]
    assert events.pop() == "[DONE]"
    parts = [json.loads(event)["choices"][0] for event in events]
    assert [part["token_ids"][0] for part in parts] == expected
    assert "".join(part["text"] for part in parts) == choice["text"]
    assert parts[-1]["finish_reason"] == choice["finish_reason"]


def test_what_the_server_samples_is_valid(model: Path, shared: str) -> None:
    engine = load_engine(model)
    vocabulary = engine.policy.vocabulary
    before, behind = engine.tokenizer.encode("All the"), engine.tokenizer.encode(" hall.")
    _, history = seed(vocabulary, before, behind)
    runs = set()
    for number in range(20):
        _, answer = post(
            shared,
            "/v1/completions",
            {
                "prompt": history,
                "max_tokens": 40,
                "temperature": 1.5,
                "seed": number,
                "vllm_xargs": {"prefix": len(before), "suffix": len(behind), "max_length": 40, "move_temperature": 0.5},
            },
        )
        ids = answer["choices"][0]["token_ids"]
        canvas, _ = seed(vocabulary, before, behind, max_length=40)
        for id in ids:
            canvas.apply(canvas.action(id))
        assert canvas.tokens[: len(before)] == before
        assert canvas.tokens[-len(behind) :] == behind
        runs.add(tuple(ids))
    assert len(runs) > 15


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"{", 400, "not JSON"),
        ([], 400, "a JSON object"),
        ({"prompt": []}, 400, "a text or a list"),
        ({"prompt": [1 << 40]}, 400, "numbers from 0"),
        ({"prompt": [True]}, 400, "numbers from 0"),
        ({"prompt": [1, 2]}, 400, "lacks the start marker"),
        ({"prompt": "a", "model": "another"}, 404, "there is no model another"),
        ({"prompt": "a", "temperature": -1}, 400, "temperature must be"),
        ({"prompt": "a", "max_tokens": 0}, 400, "max_tokens must be"),
        ({"prompt": "a", "logprobs": 10**6}, 400, "logprobs must be"),
        ({"prompt": "a", "vllm_xargs": {"suffix": "all"}}, 400, "suffix must be"),
        ({"prompt": "a", "vllm_xargs": {"suffix": 9}}, 400, "does not start with as many"),
        ({"prompt": "a", "n": 2}, 400, "one completion"),
        ({"prompt": "a", "logit_bias": {}}, 400, "unknown field: logit_bias"),
        ({"prompt": "a " * 4000}, 400, "ids at the most"),
    ],
)
def test_wrong_requests_get_a_sentence(alone: str, body: Any, status: int, sentence: str) -> None:
    got, answer = post(alone, "/v1/completions", body)
    assert got == status
    assert sentence in answer["error"]["message"]
    assert post(alone, "/v1/completions", {"prompt": "a", "max_tokens": 1})[0] == 200


def test_other_paths(alone: str) -> None:
    assert post(alone, "/v1/chat/completions", {})[0] == 404
    client = CompletionsClient(alone)
    assert client.get("/health") == {}
    with pytest.raises(ReviserError, match=r"refused \(404\): there is no /v2"):
        client.get("/v2")


def test_a_key_is_asked_for(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REVISER_API_KEY", raising=False)
    with served(model, REVISER_API_KEY="secret") as url:
        with pytest.raises(ReviserError, match="lacks the key"):
            load_engine(there(url, model))
        monkeypatch.setenv("REVISER_API_KEY", "secret")
        assert written(load_engine(there(url, model)), Sampler.greedy())


def test_nothing_is_written_for_a_client_that_has_gone(model: Path) -> None:
    engine = load_engine(model)
    stop = engine.policy.vocabulary.stop_id

    class Slow(SequentialScorer):
        """Takes its time, and never stops by itself."""

        asked = 0

        def score(self, wanted: Sequence[ScoreRequest]) -> list[Any]:
            Slow.asked += 1
            time.sleep(0.02)
            found = super().score(wanted)
            for scores in found:
                scores[stop] = -np.inf
            return found

    service = replace(Service.of(engine, 1), batcher=Batcher(Slow(engine.policy), 1))
    with Server(("127.0.0.1", 0), service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        body = json.dumps({"prompt": TEXT, "max_tokens": 300, "temperature": 1.0}).encode()
        client = socket.create_connection(server.server_address[:2])
        head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        while Slow.asked < 3:
            time.sleep(0.01)
        client.close()
        while (before := Slow.asked) < 300:
            time.sleep(1)
            if Slow.asked == before:
                break
        server.shutdown()
    assert Slow.asked < 300


# Failures -----------------------------------------------------------------------------------------


def run_command(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reviser", *words],
        cwd=ROOT,
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(("cut", "sentence"), [(True, "cannot be reached"), (False, "did not answer within 1 seconds")])
def test_a_server_that_is_gone_in_the_middle_of_a_run_leaves_the_file_alone(
    cut: bool, sentence: str, model: Path, alone: str, tmp_path: Path
) -> None:
    file = tmp_path / "draft.txt"
    file.write_text(TEXT)
    wire = Wire(alone, 1, cut=cut)
    words = ("continue", str(file), "--in-place", "--model", there(wire.url, model))
    done = run_command(*words, "--temperature", "0", REVISER_SERVER_TIMEOUT="1")
    wire.close()
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert file.read_text() == TEXT
    assert [path.name for path in tmp_path.iterdir()] == ["draft.txt"]


def test_the_command_line_writes_with_a_model_that_is_served(model: Path, alone: str, tmp_path: Path) -> None:
    file = tmp_path / "draft.txt"
    file.write_text(TEXT)
    same = ("--temperature", "0", "--max-actions", "20", "--longest-repeat", "0", "--json")
    here = run_command("continue", str(file), "--no-check-steps-back", "--model", str(model), *same)
    remote = run_command("continue", str(file), "--model", there(alone, model), *same)
    assert remote.returncode == 0, remote.stderr
    assert json.loads(remote.stdout)["text"] == json.loads(here.stdout)["text"]
    # By the environment, too.
    named = run_command("infill", str(file), "--at", "1:9", *same, REVISER_MODEL=there(alone, model))
    assert named.returncode == 0, named.stderr


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("openai:http://127.0.0.1:9", "cannot be reached"),
        ("openai:ftp://127.0.0.1", "is not the address of a server"),
        ("openai:", "is not the address of a server"),
        ("openai:{url}#nobody", "has no model nobody; it has toy"),
        ("openai:{url}", "has another vocabulary than default"),
        ("openai:{url}#toy=nowhere", "there is no model nowhere"),
    ],
)
def test_a_wrong_server_model_or_vocabulary_gets_a_sentence(
    named: str, sentence: str, alone: str, tmp_path: Path
) -> None:
    file = tmp_path / "draft.txt"
    file.write_text(TEXT)
    done = run_command("continue", str(file), "-i", "--model", named.format(url=alone))
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert file.read_text() == TEXT


class Other(http.server.BaseHTTPRequestHandler):
    """A server of another kind: its ids are others, or it has nothing to say of them."""

    said: Any = None

    def do_GET(self) -> None:
        self._send(200, {"data": [{"id": "toy"}]})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.rfile.read(length)
        if self.path == "/v1/completions":
            self._send(200, type(self).said)
        else:
            self._send(404, {"detail": "Not Found"})

    def _send(self, status: int, content: Any) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"choices": [{"text": " and"}]}, "answers without the probabilities of token ids"),
        ([1], "answers without the probabilities of token ids"),
        (
            {"choices": [{"logprobs": {"top_logprobs": [{" and": -1.0}]}}]},
            "answers without the probabilities of token ids",
        ),
        (
            {"choices": [{"logprobs": {"top_logprobs": [{"token_id:99999": -1.0}]}}]},
            "has another vocabulary: it names id 99999",
        ),
    ],
)
def test_a_server_of_another_kind_gets_a_sentence(said: Any, sentence: str, model: Path) -> None:
    Other.said = said
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        engine = load_engine(there(f"http://127.0.0.1:{server.server_port}", model))
        with pytest.raises(ReviserError, match=sentence):
            written(engine, Sampler.greedy())
        server.shutdown()


def test_what_needs_files_or_all_chances_says_so(model: Path, alone: str, tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("We was there.")
    done = run_command("revise", str(file), "--in-place", "--model", there(alone, model))
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert file.read_text() == "We was there."
    done = run_command("models", "info", there(alone, model))
    assert done.returncode == 2
    assert "is a server, and this needs the files of a model" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--backend", "cloud", "http://127.0.0.1:9"), "there is no backend cloud"),
        (("--backend", "vllm", "http://127.0.0.1:9"), "cannot be reached"),
        (("--http", "x"), "is not an address"),
        (("--http", "0", "--backend", "vllm", "http://127.0.0.1:9"), "choose one"),
        (("--http", "0", "--model", "openai:http://127.0.0.1:9"), "a model of this machine"),
        (("--model", "default"), "are for --http"),
    ],
)
def test_wrong_words_for_serve(words: tuple[str, ...], sentence: str) -> None:
    done = run_command("serve", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
