"""The bundled model proofreads real files: what it changes is prose, and the rest stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviser.prose import format_of, same_structure
from tests.commands import reviser
from tests.reviser.prose.judges import judged
from tests.reviser.prose.test_properties import DOCUMENTS

GUIDE = """\
---
title: "the the guide"
tags: [recieve, teh]
---

# Getting started

He recieved the the letter
yesterday from [the the shop](http://teh.example/the-the).

```sh
echo the the mistake
```

- the item
"""


def revise(*words: str | Path, stdin: str | None = None) -> str:
    done = reviser("revise", *words, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def _embedded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REVISER_MODEL", raising=False)


def test_a_document_with_structure(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text(GUIDE)
    recorded = tmp_path / "run.json"
    told = json.loads(revise(path, "--json", "--confidence", "0.1", "--trajectory", recorded))
    after = told["text"]
    assert "He received the letter\nyesterday" in after
    assert judged(after, format_of("guide.md")) == judged(GUIDE, format_of("guide.md"))
    assert after.count("\n") == GUIDE.count("\n")
    replayed = reviser("replay", recorded, "--format", "json")
    assert json.loads(replayed.stdout)[0]["final_text"] == after
    piped = revise("-", "--format", "markdown", "-o", "-", "--confidence", "0.1", stdin=GUIDE)
    assert piped == after


def test_documents_of_other_formats() -> None:
    suffixes = (".tex", ".rst", ".eml", ".py", ".yaml", ".c")
    files = [path for path in DOCUMENTS if path.suffix in suffixes]
    told = json.loads(revise(*files, "--json", "--confidence", "0.2"))
    assert any(one["changes"] for one in told)
    for path, one in zip(files, told, strict=True):
        text = path.read_bytes().decode()
        if one["changes"]:
            assert same_structure(text, one["text"], format_of(path.name, text))
            assert judged(one["text"], format_of(path.name, text)) == judged(text, format_of(path.name, text))


def test_badly_spelt_english_is_corrected_and_other_languages_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    german = "Der Server startet nicht mehr. Das Problem ist die volle Festplatte.\n"
    path.write_text(f"{german}\nUnfortunatly sombody forgott allmost evrything.\n")
    told = json.loads(revise(path, "--json"))
    assert told["text"].startswith(german)
    after = told["text"].removeprefix(german)
    assert after.replace(",", "") == "\nUnfortunately somebody forgot almost everything.\n"
    assert told["sentences"] == 1


WRONG = {
    "I have many informations for you.": "I have much information for you.",
    "Thank you for the many informations you sent.": "Thank you for the information you sent.",
    "If he have time, he have to come.": "If he has time, he has to come.",
    "It takes two seconds in start up.": "It takes two seconds in startup.",
    "The memory that is used in start up is freed.": "The memory that is used in startup is freed.",
    "We will answer with in 24 hours.": "We will answer within 24 hours.",
    "I have inclosed my address.": "I have enclosed my address.",
    "The inclosed letter explains it.": "The enclosed letter explains it.",
}
RIGHT = (
    "He lives with in the city.",
    '"He didnae come," she said.',
    "“We didnae ken what to dae,” said Jamie.",
    "Call healthz first.",
    "The check uses healthz and readyz.",
    "That that is, is.",
    "That that is is.",
    "Pass a tokenizer to count in tokens.",
    "To count in tokens, pass a tokenizer.",
)


def test_words_that_are_wrong_become_right_ones_and_words_that_are_meant_stay(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("\n\n".join((*WRONG, *RIGHT)) + "\n")
    assert revise(path, "-o", "-").strip().split("\n\n") == [*WRONG.values(), *RIGHT]
