"""The settings of a project: where they are found, what they may say, and what they exclude."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviser.core.errors import ReviserError
from reviser.core.files import STREAM
from reviser.proofreading.project.settings import ProjectSettings, settings_for
from reviser.proofreading.request import Request
from reviser.proofreading.suggestion import Kind


def test_the_nearest_ones_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "docs" / "guide"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.reviser]\nconfidence = 0.8\n")
    (tmp_path / "docs" / "pyproject.toml").write_text("[tool.other]\nconfidence = 3\n")
    assert settings_for([inner / "a.md"]).confidence == 0.8
    (tmp_path / ".reviser").mkdir()
    (tmp_path / ".reviser" / "config.toml").write_text("confidence = 0.7\n")
    assert settings_for([inner]).confidence == 0.7
    (inner / "pyproject.toml").write_text("[tool.reviser]\n")
    assert settings_for([inner]) == ProjectSettings(folder=inner)
    # Of paths in several folders, the folder that they are all in.
    assert settings_for([inner, tmp_path / "docs" / "b.md"]).confidence == 0.7
    monkeypatch.chdir(tmp_path / "docs")
    assert settings_for([STREAM]).confidence == 0.7
    assert settings_for([Path("a.md")]).folder == tmp_path


def test_all_settings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.reviser]\nmodel = "small"\nconfidence = 1\nonly = ["spelling", "verb form"]\n'
        'except = ["verb-form"]\nwords = ["teh"]\nignore = ["terms.txt"]\nexclude = ["old/"]\n'
    )
    settings = settings_for([tmp_path])
    assert (settings.model, settings.confidence) == ("small", 1.0)
    assert settings.ignore == (tmp_path / "terms.txt",)
    assert Request.made(settings, confidence=0.5).kinds == {Kind.SPELLING}
    # The command's kinds take the place of the file's.
    assert Request.made(settings, confidence=0.5, only="case").kinds == {Kind.CASE}
    every = Request.made(settings, confidence=0.5, without="case").kinds
    assert every == frozenset(Kind) - {Kind.CASE}
    (tmp_path / "terms.txt").write_text("recieve\n")
    assert Request.made(settings, confidence=0.5).words(tmp_path / "a.md").terms >= {"teh", "recieve"}


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("confidnce = 1", "there is no setting confidnce; there are model, confidence, only"),
        ("confidence = 1.5", "confidence: 1.5 is not a number from 0 to 1"),
        ("confidence = true", "confidence: True is not a number from 0 to 1"),
        ('only = "spelling"', "only: 'spelling' is not a list of texts"),
        ('only = ["grammar"]', "only: there is no kind of change grammar; there are spelling"),
        ("words = [1]", "words: 1 is not a text"),
        ('model = ""', "model: '' is not a text"),
        ("words = [", "is not valid TOML"),
    ],
)
def test_mistakes_give_one_sentence(tmp_path: Path, said: str, about: str) -> None:
    (tmp_path / ".reviser").mkdir()
    file = tmp_path / ".reviser" / "config.toml"
    file.write_text(said)
    with pytest.raises(ReviserError) as caught:
        settings_for([tmp_path])
    assert str(caught.value).startswith(str(file))
    assert about in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_must_be_one(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nreviser = 1\n")
    with pytest.raises(ReviserError, match=r"tool\.reviser is not a table"):
        settings_for([tmp_path])
    (tmp_path / "pyproject.toml").write_text("tool = 1\n")
    assert settings_for([tmp_path]).confidence is None
    (tmp_path / "pyproject.toml").write_text("[tool.reviser]\nodd = 1\n")
    with pytest.raises(ReviserError, match=r"no setting odd in \[tool\.reviser\]"):
        settings_for([tmp_path])


@pytest.mark.parametrize(
    ("pattern", "excluded", "kept"),
    [
        ("old/", ["old/a.md", "docs/old/b.md"], ["old", "docs/old.md"]),
        ("old", ["old", "old/a.md", "docs/old/b.md"], ["older/a.md"]),
        ("*.txt", ["a.txt", "docs/b.txt"], ["a.md", "txt"]),
        ("/docs", ["docs/a.md"], ["more/docs/a.md"]),
        ("docs/old", ["docs/old/a.md"], ["more/docs/old/a.md", "docs/a.md"]),
        ("docs/*/a.md", ["docs/x/a.md"], ["docs/a.md", "docs/x/y/a.md"]),
        ("docs/**/a.md", ["docs/a.md", "docs/x/y/a.md"], ["a.md"]),
        ("**/x", ["x/a.md", "y/x"], ["xx"]),
        ("docs/**", ["docs/a.md"], ["a.md"]),
        ("[ab]?.md", ["a1.md", "b2.md"], ["c1.md", "a.md"]),
        ("[!a].md", ["b.md"], ["a.md"]),
        ("a+b.(md)", ["a+b.(md)"], ["aab.md"]),
        ("[a", ["[a"], ["a"]),
    ],
)
def test_patterns(pattern: str, excluded: list[str], kept: list[str]) -> None:
    folder = Path("/project")
    settings = ProjectSettings(folder=folder, exclude=(pattern,))
    assert all(settings.excludes(folder / name) for name in excluded)
    assert not any(settings.excludes(folder / name) for name in kept)
    assert not any(settings.excludes(Path("/elsewhere") / name) for name in excluded)
