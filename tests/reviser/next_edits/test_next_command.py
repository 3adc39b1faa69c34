"""`reviser next`, run as a user runs it, in git repositories and beside old texts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.commands import reviser, reviser_bytes
from tests.reviser.cli.test_replay import complains

OLD = """# Mail

Send an e-mail to the team. The e-mail says who you are.

- Read each e-mail.
- Answer every e-mail, and keep `e-mail` as it is.
"""
ONCE = OLD.replace("an e-mail", "an email").replace("The e-mail", "The email")
ALL = ONCE.replace("each e-mail", "each email").replace("every e-mail", "every email")
OTHER = "# Other\n\nAn e-mail is short.\n"
LIKELY = ("--confidence", "0.1")


def git(folder: Path, *words: str) -> None:
    names = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *names, *words], check=True, capture_output=True)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page in a repository, edited twice since the last commit, beside another that was not."""
    git(tmp_path, "init", "-q")
    page = tmp_path / "page.md"
    page.write_text(OLD)
    (tmp_path / "other.md").write_text(OTHER)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    page.write_text(ONCE)
    return page


def test_edits_since_the_last_commit_are_followed(page: Path) -> None:
    done = reviser("next", page, *LIKELY)
    assert done.returncode == 0, done.stderr
    patched = subprocess.run(
        ["patch", "-s", "-o", "-", page], input=done.stdout, capture_output=True, text=True, check=True
    )
    assert patched.stdout == ALL
    assert page.read_text() == ONCE


def test_a_misspelling_that_was_corrected_once_is_likelier_than_not(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("We recieve a letter.\n\nYou recieve one. They recieve another.\n")
    new.write_text(old.read_text().replace("recieve", "receive", 1))
    assert (
        "+You receive one. They receive another." in reviser("next", new, "--since", old, "--confidence", "0.5").stdout
    )


def test_the_file_is_changed_in_place(page: Path) -> None:
    done = reviser("next", page, "--in-place", *LIKELY)
    assert (done.returncode, done.stdout) == (0, "")
    assert "page.md: 2 changes made" in done.stderr
    assert page.read_text() == ALL


def test_an_old_file_takes_the_place_of_git(tmp_path: Path) -> None:
    old, new = tmp_path / "old.md", tmp_path / "new.md"
    old.write_text(OLD)
    new.write_text(ONCE)
    done = reviser("next", new, "--since", old, "--json", *LIKELY, env={"PATH": ""})
    told = json.loads(done.stdout)
    assert told["text"] == ALL
    assert [(one["line"], one["old"], one["new"]) for one in told["changes"]] == [
        (5, "e-mail", "email"),
        (6, "e-mail", "email"),
    ]
    assert {one["reason"] for one in told["changes"]} == {"You changed 'e-mail' to 'email'"}
    assert {"file", "model", "format", "text", "sentences", "changes", "seconds"} <= set(told)
    streamed = reviser("next", "-", "--since", old, "--format", "markdown", "--json", *LIKELY, stdin=ONCE)
    assert json.loads(streamed.stdout)["text"] == ALL


def test_an_edit_in_one_file_is_followed_in_others(page: Path) -> None:
    done = reviser("next", page.parent, *LIKELY)
    assert "+An email is short." in done.stdout
    assert "+- Read each email." in done.stdout
    told = json.loads(reviser("next", page.parent, "--json", *LIKELY).stdout)
    assert [(Path(one["file"]).name, len(one["changes"])) for one in told] == [("other.md", 1), ("page.md", 2)]


def test_a_person_is_asked_about_each_change(page: Path) -> None:
    done = reviser("next", page, "--interactive", *LIKELY, stdin="n\ny\n")
    assert done.returncode == 0, done.stderr
    assert "You changed 'e-mail' to 'email'" in done.stdout
    assert page.read_text() == ONCE.replace("every e-mail", "every email")


def test_without_edits_nothing_is_suggested(page: Path) -> None:
    page.write_text(OLD)
    done = reviser("next", page)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no edits since the last commit" in done.stderr
    page.with_name("new.md").write_text(OLD)
    assert "no edits since the last commit" in reviser("next", page.with_name("new.md")).stderr


def test_line_endings_and_marks_stay(page: Path) -> None:
    git(page.parent, "config", "core.autocrlf", "false")
    page.write_bytes(b"\xef\xbb\xbf" + OLD.replace("\n", "\r\n").encode())
    git(page.parent, "commit", "-qam", "endings")
    page.write_bytes(b"\xef\xbb\xbf" + ONCE.replace("\n", "\r\n").encode())
    assert reviser_bytes("next", page, "--in-place", *LIKELY).returncode == 0
    assert page.read_bytes() == b"\xef\xbb\xbf" + ALL.replace("\n", "\r\n").encode()


def test_bad_input_is_refused_in_a_sentence(page: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    alone = tmp_path_factory.mktemp("alone") / "page.md"
    alone.write_text(OLD)
    complains(reviser("next", alone, env={"GIT_CEILING_DIRECTORIES": str(alone.parent.parent)}), "no git repository")
    complains(reviser("next", alone.parent / "missing.md"), "missing.md")
    complains(reviser("next", "-", stdin=OLD), "--since")
    complains(reviser("next", page.parent, "--since", page), "--since")
    complains(reviser("next", page, "--since", alone.parent / "missing.md"), "missing.md")
    complains(reviser("next", page, "--model", "default"), "has not learned next edits")
    complains(reviser("next", page, "--json", "--in-place"), "choose one")
    complains(reviser("next", page, "--confidence", "2"), "2")
    alone.write_bytes(b"\0\1\2\3" * 100)
    complains(reviser("next", page, "--since", alone), "binary")
    complains(reviser("next", alone, "--since", page), "binary")
    alone.write_text("A sentence of a text that is far too long.\n" * 500_000)
    complains(reviser("next", alone, "--since", page), "21,500,000 characters")
    assert page.read_text() == ONCE
