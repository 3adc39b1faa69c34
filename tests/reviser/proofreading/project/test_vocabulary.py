"""The words that a project uses: in its metadata, in its files' names, and in lists of other programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviser.proofreading.project import vocabulary
from reviser.proofreading.project.vocabulary import vocabulary_of
from reviser.proofreading.project.word_lists import LARGEST_FILE, listed_words
from reviser.proofreading.project.words import Words
from tests.commands import reviser


@pytest.fixture(autouse=True)
def _forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_gathered", {})


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_metadata_and_names_of_files_are_read(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    package = {"name": "blorp", "description": "recieve teh things", "dependencies": {"axios": "1", "@hapi/zod": "2"}}
    (tmp_path / "package.json").write_text(json.dumps(package, indent=1))
    (tmp_path / "requirements-dev.txt").write_text("# somehting\nknex==1\n")
    (tmp_path / "src" / "frobnakIndex").mkdir(parents=True)
    (tmp_path / "src" / "frobnakIndex" / "immer_core.py").write_text("")
    (tmp_path / "node_modules" / "zorble").mkdir(parents=True)
    (tmp_path / "node_modules" / "zorble" / "a.js").write_text("")
    (tmp_path / "docs").mkdir()
    found = vocabulary_of(tmp_path / "docs" / "guide.md")
    assert {"blorp", "axios", "hapi", "zod", "knex", "frobnak", "immer"} <= found
    assert found.isdisjoint(("recieve", "teh", "somehting", "zorble"))
    assert vocabulary_of(Path("-")) == frozenset()


LISTS = {
    "cspell.json": ('{"words": ["frobnak"], // ours\n "flagWords": ["zorble"],}', {"frobnak"}),
    ".vscode/settings.json": ('{"cSpell.words": ["frobnak"], "a": ["zorble"]}', {"frobnak"}),
    "cspell.config.yaml": ("version: '0.2'\nwords:\n  - frobnak # ours\n  - 'blorp'\nimport:\n  - zorble\n", None),
    ".cspell.yml": ("ignoreWords: [frobnak, blorp]\n", None),
    "styles/config/vocabularies/Ours/accept.txt": ("# ours\n[Ff]robnaks?\n(?i)blorp\nzor.*ble\n", None),
    "docs/en.dic": ("2\nfrobnak/SM\nblorp\n", None),
    ".codespellrc": ("[codespell]\nskip = *.po\nignore-words-list = frobnak,blorp\n", None),
    "setup.cfg": ("[metadata]\nname = zorble\n[codespell]\nignore-words-list = frobnak, blorp\n", None),
    "pyproject.toml": ('[tool.codespell]\nignore-words-list = "frobnak,blorp"\n', None),
    ".harper-dictionary.txt": ("frobnak\nblorp\n", None),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_other_programs_are_read(tmp_path: Path, name: str) -> None:
    text, only = LISTS[name]
    write(tmp_path, **{name: text})
    reports: list[str] = []
    found = {*listed_words(tmp_path, [name], reports.append)}
    assert not reports
    wanted = only or {"frobnak", "blorp"}
    assert wanted <= found
    assert "zorble" not in found


def test_files_that_a_list_names_are_read(tmp_path: Path) -> None:
    definitions = [{"name": "ours", "path": "./words.txt"}, {"name": "far", "path": "../far.txt"}]
    write(
        tmp_path,
        **{
            "p/cspell.json": json.dumps({"dictionaryDefinitions": definitions}),
            "p/words.txt": "frobnak\n",
            "p/.codespellrc": "[codespell]\nignore-words = known.txt\n",
            "p/known.txt": "blorp\n",
            "far.txt": "zorble\n",
        },
    )
    found = {*listed_words(tmp_path / "p", ["cspell.json", ".codespellrc"])}
    assert found == {"frobnak", "blorp"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cspell.json", "{"),
        ("cspell.json", "[1]"),
        ("pyproject.toml", "[tool"),
        (".codespellrc", "no section"),
        (".harper-dictionary.txt", "a" * (LARGEST_FILE + 1)),
    ],
)
def test_a_bad_list_gives_one_sentence(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    reports: list[str] = []
    assert [*listed_words(tmp_path, [name], reports.append)] == []
    (said,) = reports
    assert name in said
    assert "\n" not in said


def test_accepted_words_are_restricted_to_a_text() -> None:
    words = Words(["House"], ["frobnak", "blorps", "zorble"])
    assert words.within("The Frobnaks, and a blorp.").accepted == {"frobnak", "blorps"}
    assert words.within("").terms == {"House"}
    assert (words | Words((), ["other"])).accepted == {"frobnak", "blorps", "zorble", "other"}


def test_check_leaves_the_words_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REVISER_MODEL", raising=False)
    text = "They speak of the reciever all day, and of othres too.\n"
    alone, project = tmp_path / "alone", tmp_path / "project"
    write(alone, **{"notes.txt": text})
    write(project, **{"notes.txt": text, "package.json": '{"name": "reciever"}', "cspell.json": "{"})
    assert "reciever" in reviser("check", alone, "--no-cache").stdout
    done = reviser("check", project, "--no-cache")
    assert "reciever" not in done.stdout
    assert "othres → others" in done.stdout
    assert done.stderr.count("cspell.json are not read") == 1
