"""Programs that correct, each through its own real process."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.proofreading.correctors import (
    Codespell,
    Corrector,
    FromFile,
    Harper,
    NotInstalled,
    ReviserCorrector,
    Typos,
    Unchanged,
    corrector,
    shown_name,
)
from reviser.core.errors import ReviserError

TEXTS = ["I recieve teh mail.", "All is well.", ""]


def installed(kind: type[Harper] | type[Typos] | type[Codespell]) -> Corrector:
    try:
        return kind()
    except NotInstalled as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("kind", [Codespell, Typos, Harper])
def test_spelling_is_corrected_and_the_rest_left(kind: type[Harper] | type[Typos] | type[Codespell]) -> None:
    made = installed(kind).correct(TEXTS)
    assert made == ["I receive the mail.", "All is well.", ""]


def test_unchanged_leaves_everything() -> None:
    assert Unchanged().correct(TEXTS) == TEXTS


def test_the_model_that_comes_along_gives_back_as_many_sentences() -> None:
    made = ReviserCorrector("reviser", None).correct(["The the cat sat on the mat.", "All is well."])
    assert len(made) == 2
    assert made[1] == "All is well."


def test_the_model_that_comes_along_takes_a_confidence() -> None:
    wrong = ["I has recieved you're letter yesterday."]
    assert corrector("reviser@1.0", "jfleg-dev").correct(wrong) == wrong
    assert corrector("reviser@0.3", "jfleg-dev").correct(wrong) != wrong


def test_lines_made_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "jfleg-dev.txt"
    file.write_text("One.\n\nThree. \n", "utf-8")
    assert FromFile("elsewhere", file).correct(["a", "b", "c"]) == ["One.", "", "Three."]
    with pytest.raises(ReviserError, match="has 3 lines where the set has 2 sentences"):
        FromFile("elsewhere", file).correct(["a", "b"])


def test_names_of_correctors(tmp_path: Path) -> None:
    (tmp_path / "jfleg-dev.txt").write_text("One.\n", "utf-8")
    assert corrector(f"file:mine={tmp_path}", "jfleg-dev").correct(["a"]) == ["One."]
    with pytest.raises(NotInstalled, match=r"has no bea-dev\.txt"):
        corrector(f"file:mine={tmp_path}", "bea-dev")
    for name in ("nobody", "reviser@2", "reviser@sure"):
        with pytest.raises(ReviserError, match=f"there is no corrector {name}"):
            corrector(name, "jfleg-dev")
    named = ["harper", "file:mine=x.txt", "file:out/x.txt", "model:small=models/a"]
    assert [shown_name(name) for name in named] == ["harper", "mine", "x", "small"]


def test_harper_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match="Node, which is not installed"):
        Harper()
