"""The report: self-contained, safe for any text, with the paper's figures beside the measured ones."""

from __future__ import annotations

import json
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measures import flops
from benchmarks.measures.arena import score
from benchmarks.measures.statistics import summary, walks
from benchmarks.measures.variety import variety
from benchmarks.protocol.records import Continuation, Judgement, Prompt, Verdict, write_records
from benchmarks.protocol.runs import RunFolder
from benchmarks.protocol.setup import Setup
from benchmarks.report import paper_tables
from benchmarks.sections.page import sections_of, summary_text, write_report
from benchmarks.sections.parts import summary_table
from benchmarks.suite import SuitePlan
from reviser.core.trajectory import Trajectory

AWKWARD = "</script><b>bold</b> & | *stars* `code` [link](x) é 😀\n\nnew paragraph"
NAMES = ("real text", "ours <1>", "base|line")


def contestant(name: str, runs: list[Trajectory]) -> dict[str, Any]:
    followed = walks(runs)
    return {
        "name": name,
        "source": name,
        "file": f"file{NAMES.index(name)}",
        "viewer": "trajectories/ours.html" if runs else None,
        "texts": 4,
        "tokens": 130.5,
        "endings": {"stop": 3, "limit": 1},
        "seconds": 1.25,
        "variety": asdict(variety(["one two three", "four five"])),
        "statistics": summary(followed).to_dict() if runs else None,
        "flops": asdict(flops.measure(flops.REFERENCE, followed)) if runs else None,
    }


def perplexity(name: str, mean: float) -> dict[str, Any]:
    return {
        "contestant": name,
        "evaluator": "smollm2",
        "kind": "autoregressive",
        "examples": 4,
        "empty": 0,
        "tokens": 500,
        "mean": mean,
        "median": mean,
        "over_tokens": mean,
        "median_token": 3.0,
        "bits_per_byte": 1.0,
        "interval": [mean * 0.9, mean * 1.1],
        "by_seed": {"1": mean, "2": mean + 1},
        "seed_spread": 0.5,
    }


@pytest.fixture
def results(published: list[Trajectory]) -> dict[str, Any]:
    verdicts: list[Verdict] = ["first", "first", "second", "invalid"]
    judged = [
        Judgement(str(number), 1, NAMES[1], NAMES[2], "kept", verdict, "a judge")
        for number, verdict in enumerate(verdicts)
    ]
    plan = SuitePlan(Setup(data="test", seeds=(1, 2)), ("ours <1>=x", "base|line=y"))
    made = {
        "settings": plan.to_dict(),
        "provenance": {"Date": "2026-01-01", "Commit": "abc", "Hardware": "a <machine>"},
        "prompts": {"1": 2, "2": 2},
        "contestants": [contestant(NAMES[0], []), contestant(NAMES[1], published), contestant(NAMES[2], [])],
        "perplexity": [perplexity(name, mean) for name, mean in zip(NAMES, (20, 30, 40), strict=True)],
        "arena": [asdict(score(judged))],
        "mauve": [
            {
                "contestant": NAMES[1],
                "features": "minilm",
                "references": 4,
                "texts": 4,
                "clusters": 2,
                "score": 0.875,
                "spread": 0.01,
                "smoothed": 0.9,
            }
        ],
        "missing": [{"what": "evalPPL under gpt2-large", "why": "there is no <network>"}],
    }
    loaded: dict[str, Any] = json.loads(json.dumps(made))
    return loaded


@pytest.fixture
def folder(results: dict[str, Any], tmp_path: Path) -> RunFolder:
    made = RunFolder(tmp_path)
    prompts = [Prompt(str(number), AWKWARD, (1, 2), " real", "test") for number in range(2)]
    write_records(made.file("prompts", "1.jsonl"), prompts)
    for number, name in enumerate(NAMES):
        texts = [
            Continuation(prompt.id, name, 1, f" {name} wrote {AWKWARD}", (1,), "stop", None, 1.0) for prompt in prompts
        ]
        write_records(made.file("generations", f"file{number}.jsonl"), texts)
    made.write_json("results.json", results)
    write_report(made)
    return made


class Page(HTMLParser):
    """The text, tags and addresses of a page; complains about tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.addresses: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_nothing_else_and_no_text_breaks_it(folder: RunFolder) -> None:
    source = (folder.path / "report.html").read_text("utf-8")
    page = Page(source)
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert "b" not in page.tags
    assert "url(" not in source
    anchors = [address for address in page.addresses if not address.startswith("#")]
    assert anchors == ["trajectories/ours.html#0", "trajectories/ours.html#1"]
    assert AWKWARD in page.text
    assert "there is no <network>" in page.text
    for name in ("Summary", "Arena", "Perplexity", "MAUVE", "How they write", "Cost", "Samples"):
        assert name in page.text


def test_the_papers_figures_stand_beside_as_the_papers(folder: RunFolder) -> None:
    text = (folder.path / "report.md").read_text("utf-8")
    for name, (gpt2, dream) in paper_tables.EVAL_PPL.items():
        rows = [line for line in text.splitlines() if line.startswith(f"| {name} (paper)")]
        found = "\n".join(rows)
        assert f"{gpt2:.4f}" in found
        assert f"{dream:.4f}" in found
    for name, value in paper_tables.MAUVE.items():
        assert any(f"{value:.4f}" in line for line in text.splitlines() if f"{name} (paper)" in line)
    assert sum("Skywork-Critic-8B" in line for line in text.splitlines()) == 13
    assert "paper 100M" in text
    # A measured row says nothing of the paper, and a bar in a name breaks no table.
    measured = [line for line in text.splitlines() if line.startswith("| base\\|line")]
    assert measured
    assert not any("paper" in line for line in measured)


def test_intervals_and_shares(results: dict[str, Any]) -> None:
    rows = {row[0]: row for row in summary_table(results).rows}
    assert rows["ours <1>"][1] == "30.0 (27.0 to 33.0)"
    assert rows["base|line"][4].startswith("66.7% (")
    assert rows["real text"][4] == "–"
    text = summary_text(results)
    assert "4 prompts (2 seeds)" in text
    assert "Not measured: evalPPL under gpt2-large: there is no <network>" in text


def test_a_run_that_measured_little_still_has_a_report(results: dict[str, Any]) -> None:
    poor = results | {"perplexity": [], "arena": [], "mauve": [], "missing": []}
    poor["contestants"] = poor["contestants"][:1]
    titles = [section.title for section in sections_of(poor)]
    assert titles == ["Summary", "Length and variety", "Cost", "Settings and hardware"]
    assert summary_table(poor).columns[0] == "contestant"
