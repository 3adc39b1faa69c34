"""`reviser check`, run as a user runs it, on a tiny model that was taught what is wrong in these documents."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reviser.core.vocabulary import PAPER_KINDS
from reviser.proofreading.project.ignoring import IgnoredPlace, ignore
from tests.commands import reviser
from tests.reviser.checking.test_changed import git
from tests.reviser.cli.test_replay import complains
from tests.reviser.cli.test_revise import GUIDE, RIGHT, RIGHT_GUIDE, TEXT, in_terminal, model_of_these, tiny_model

LINES = [
    "guide.md:7:3: spelling: recieve → receive",
    "guide.md:10:7: article: a → an",
    "guide.md:13:3: spelling: teh → the",
    "note.txt:1:16: spelling: teh → the",
    "note.txt:3:4: agreement: were → was",
]
# Notes each time that weights are opened, in any process.
NOTING = """
import os, sys
def note(event, values):
    if event == "open" and str(values[0]).endswith(".safetensors"):
        with os.fdopen(os.open(os.environ["READS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT), "w") as log:
            log.write(f"{os.getpid()}\\n")
sys.addaudithook(note)
"""


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_of_these(tmp_path_factory)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REVISER_MODEL", str(model))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "guide.md").write_text(GUIDE)
    (folder / "note.txt").write_text(TEXT)
    (folder / "clean.md").write_text("The end.\n")
    return folder


def check(folder: Path, *words: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return reviser("check", *words, stdin=stdin, cwd=folder)


def lines(result: subprocess.CompletedProcess[str]) -> list[str]:
    """What was found, without the confidence; the status has to say so too."""
    assert result.returncode == bool(result.stdout), result.stderr
    found = [re.fullmatch(r"(.*) \((\d\.\d\d)\)", line) for line in result.stdout.splitlines()]
    assert all(one and 0.5 <= float(one[2]) <= 1 for one in found), result.stdout
    return [one[1] for one in found if one]


def test_findings_and_their_places(site: Path) -> None:
    result = check(site)
    assert lines(result) == LINES
    assert result.stderr == "5 mistakes in 2 of 3 files\n"
    assert lines(check(site, "--only", "article", "note.txt", "guide.md")) == [LINES[1]]
    clean = check(site, "clean.md")
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "", "1 file: nothing to change\n")
    lost = check(site, "clean.md", "lost.md")
    assert (lost.returncode, lost.stdout) == (2, "")
    assert lost.stderr.endswith("1 file: nothing to change; 1 file not checked\n")
    (site / "own.txt").write_text("teh\n")
    assert lines(check(site, "--ignore", "own.txt", "note.txt")) == [LINES[4]]
    assert lines(check(site, "--confidence", "1")) == []


def test_what_is_skipped_in_a_folder_is_told(site: Path, tmp_path: Path) -> None:
    left = {
        "a/picture.txt": (b"\0\1", "no text"),
        "a/russian.md": ("Добрый день".encode("cp1251"), "unknown encoding"),
        "photo.jpg": (b"\xff\xd8", "no known format"),
        "LICENSE": (b"It were happy.", "no prose"),
        "code.py": (b"# It were happy.\n", "source code"),
        "old/note.txt": (b"It were happy.\n", "excluded"),
    }
    for name, (content, _) in left.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_bytes(content)
    (site / "again.md").symlink_to("guide.md")
    (site / ".reviser").mkdir()
    (site / ".reviser" / "config.toml").write_text('exclude = ["old/"]\n')
    found = check(site)
    assert lines(found) == LINES
    reasons = "source code 1, no prose 1, no known format 1, link 1, excluded 1, no text 1, unknown encoding 1"
    assert found.stderr == f"5 mistakes in 2 of 3 files; 7 files skipped: {reasons}\n"
    told = json.loads(check(site, "--output-format", "json").stdout)
    assert (told["checked"], told["errors"]) == (3, [])
    skipped = {one["file"]: one["reason"] for one in told["skipped"]}
    assert skipped == {"again.md": "link"} | {name: reason for name, (_, reason) in left.items()}
    # What is named is an error.
    named = check(site, "a/picture.txt", "clean.md")
    assert named.returncode == 2
    assert named.stderr.startswith("reviser: a/picture.txt is a binary file, not text\n")
    complains(check(site, "a/picture.txt"), "a/picture.txt is a binary file")
    complains(check(site, "lost.md"), "there is no file lost.md")


def test_files_keep_their_encoding(site: Path) -> None:
    note = site / "note.txt"
    note.write_bytes(("“Zoë”\n\n" + TEXT).encode("cp1252"))
    assert lines(check(site, "note.txt")) == [line.replace(":3:", ":5:").replace(":1:", ":3:") for line in LINES[3:]]
    assert check(site, "note.txt", "--fix").returncode == 0
    assert note.read_bytes() == ("“Zoë”\n\n" + RIGHT).encode("cp1252")
    note.write_bytes(("Привет\n\n" + TEXT).encode("cp1251"))
    assert check(site, "note.txt", "--fix", "--encoding", "cp1251").returncode == 0
    assert note.read_bytes() == ("Привет\n\n" + RIGHT).encode("cp1251")
    complains(check(site, "note.txt", "--encoding", "klingon"), "there is no encoding klingon")


def test_other_formats(site: Path, tmp_path: Path) -> None:
    told = json.loads(check(site, "--output-format", "json").stdout)
    places = [f"{one['file']}:{one['line']}:{one['column']}" for one in told["findings"]]
    assert places == [line.rsplit(": ", 2)[0] for line in LINES]
    assert (told["checked"], told["errors"]) == (3, [])
    log = json.loads(check(site, "--output-format", "sarif").stdout)
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == [line.split(": ")[1] for line in LINES]
    notes = check(site, "--output-format", "github")
    assert notes.returncode == 1
    assert notes.stdout.splitlines()[0].startswith("::warning file=guide.md,line=7,col=3,")
    diff = check(site, "--output-format", "diff")
    assert diff.returncode == 1
    if patch := shutil.which("patch"):
        subprocess.run([patch, "-sp1"], input=diff.stdout, text=True, cwd=site, check=True)
        assert (site / "guide.md").read_text() == RIGHT_GUIDE
        assert (site / "note.txt").read_text() == RIGHT


def test_pages_in_html(site: Path) -> None:
    page = (
        '<html lang="en"><body class="teh">\n<p title="teh">The cat sat on <b>teh</b> mat.</p>\n<script>"teh"</script>'
        "<p>It <a href='were.html?a=1&b'>were</a> happy.<p lang=de>It were happy.</p>&copy; Teh&nbsp;Cat</html>\n"
    )
    for name in ("a.html", "b.htm", "c.xhtml"):
        (site / "pages").mkdir(exist_ok=True)
        (site / "pages" / name).write_text(page, newline="")
    found = lines(check(site, "pages/"))
    _, second, third, *_ = page.splitlines()
    columns = second.index(">teh<") + 2, third.index(">were<") + 2
    assert found[0] == f"pages/a.html:2:{columns[0]}: spelling: teh → the"
    assert found[1] == f"pages/a.html:3:{columns[1]}: agreement: were → was"
    assert found[2].endswith("spelling: Teh → The")
    assert len(found) == 9
    assert check(site, "--fix", "pages").returncode == 0
    right = page.replace("<b>teh", "<b>the").replace("'>were", "'>was").replace("Teh", "The")
    assert {path.read_text() for path in (site / "pages").iterdir()} == {right}


def test_words_that_are_too_long_are_told(site: Path) -> None:
    (site / "long.txt").write_text(f"It were happy.\n\nIt {'x' * 80_000} were happy.\n")
    told = "long.txt: line 3 has a word of 80,000 characters, which is not read\n"
    result = check(site, "long.txt")
    assert lines(result)[0] == "long.txt:1:4: agreement: were → was"
    assert result.stderr.startswith(told)
    report = json.loads(check(site, "long.txt", "--output-format", "json").stdout)
    assert report["unread"] == [{"file": "long.txt", "line": 3, "characters": 80_000}]
    log = json.loads(check(site, "long.txt", "--output-format", "sarif").stdout)
    (note,) = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert (note["level"], note["message"]["text"]) == ("note", told.strip().partition(": ")[2])
    revised = reviser("revise", "long.txt", cwd=site)
    assert revised.stderr.startswith(told)
    summary = json.loads(reviser("revise", "--json", "long.txt", cwd=site).stdout)
    assert summary["unread"] == [{"line": 3, "characters": 80_000}]


def test_fixing(site: Path) -> None:
    (site / "note.txt").write_bytes(TEXT.replace("\n", "\r\n").encode("utf-16"))
    result = check(site, "--fix")
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 5
    assert result.stderr == "5 mistakes in 2 of 3 files, fixed\n"
    assert (site / "guide.md").read_text() == RIGHT_GUIDE
    assert (site / "note.txt").read_bytes() == RIGHT.replace("\n", "\r\n").encode("utf-16")
    assert (site / "clean.md").read_text() == "The end.\n"
    (site / "note.txt").write_text(TEXT)
    (site / "note.txt").chmod(0o444)
    complains(check(site, "--fix"), "note.txt is read-only")
    complains(check(site, "--fix", "-", stdin=TEXT), "standard input cannot be changed in place")


def test_standard_input(site: Path) -> None:
    assert lines(check(site, "-", stdin=TEXT)) == [line.replace("note.txt", "-") for line in LINES[3:]]
    named = check(site, "-", "--stdin-filename", "docs/guide.md", stdin=GUIDE)
    assert lines(named) == [f"docs/{line}" for line in LINES[:3]]
    assert lines(check(site, "-", "--format", "md", stdin=GUIDE)) == [
        line.replace("guide.md", "-") for line in LINES[:3]
    ]
    diff = check(site, "-", "--stdin-filename", "a.md", "--output-format", "diff", stdin=GUIDE)
    assert diff.stdout.startswith("--- a/a.md\n+++ b/a.md\n")


def test_settings_of_a_project(site: Path) -> None:
    settings = site / "pyproject.toml"
    settings.write_text('[tool.reviser]\nexcept = ["article"]\nwords = ["recieve"]\n')
    (site / "old").mkdir()
    (site / "old" / "note.txt").write_text(TEXT)
    with settings.open("a") as file:
        file.write('exclude = ["old/"]\n')
    assert lines(check(site)) == LINES[2:]
    assert lines(check(site.parent, site / "guide.md")) == [f"{site}/{LINES[2]}"]
    # What is excluded is not read when it is named, either: others name all files that they know.
    assert lines(check(site, "old/note.txt", "note.txt")) == LINES[3:]
    assert lines(check(site, "-", "--stdin-filename", "old/a.txt", stdin=TEXT)) == []
    assert lines(check(site, "--only", "article")) == [LINES[1]]
    # `revise` follows them too.
    assert reviser("revise", ".", "--in-place", cwd=site).returncode == 0
    assert (site / "guide.md").read_text() == GUIDE.replace("- teh cat", "- the cat")
    assert (site / "old" / "note.txt").read_text() == TEXT
    settings.write_text("[tool.reviser]\nwrods = []\n")
    complains(check(site), "there is no setting wrods in [tool.reviser]")
    assert (site / "note.txt").read_text() == RIGHT


def test_what_git_says_has_changed(site: Path) -> None:
    complains(check(site, "--changed"), "in no git repository")
    (site / ".gitignore").write_text("built/\n")
    git(site, "init", "-q", "-b", "main")
    git(site, "add", ".")
    git(site, "commit", "-qm", "one")
    unchanged = check(site, "--changed")
    assert (unchanged.returncode, unchanged.stderr) == (0, "0 files: nothing to change\n")
    for name in ("built", "new"):
        (site / name).mkdir()
        (site / name / "note.txt").write_text(TEXT)
    assert lines(check(site, "--changed")) == [f"new/{line}" for line in LINES[3:]]
    assert lines(check(site, "--changed-since", "HEAD", "new")) == [f"new/{line}" for line in LINES[3:]]
    # A folder is read without what git ignores.
    assert lines(check(site, ".")) == [*LINES[:3], *(f"new/{line}" for line in LINES[3:]), *LINES[3:]]
    complains(check(site, "--changed-since", "nowhere"), "there is no revision nowhere")
    complains(check(site, "--changed", "-", stdin=TEXT), "standard input has changed")


# The cache ----------------------------------------------------------------------------------------


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a line for each time that weights were opened; a test empties it."""
    (tmp_path / "noting").mkdir()
    (tmp_path / "noting" / "sitecustomize.py").write_text(NOTING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "noting"), prepend=os.pathsep)
    log = tmp_path / "reads"
    monkeypatch.setenv("READS", str(log))
    return log


def taken(reads: Path) -> int:
    """How often weights were opened since this was asked last."""
    count = len(reads.read_text().splitlines()) if reads.exists() else 0
    reads.unlink(missing_ok=True)
    return count


def test_what_has_not_changed_is_not_read_again(site: Path, reads: Path, tmp_path: Path) -> None:
    assert lines(check(site)) == LINES
    assert taken(reads)
    again = check(site)
    assert lines(again) == LINES
    assert taken(reads) == 0
    # Elsewhere, the same text is the same text; with another format it is not.
    (site / "more.txt").write_text(TEXT)
    assert len(lines(check(site))) == 7
    assert taken(reads) == 0
    assert check(site, "more.txt", "--format", "md").returncode == 1
    assert taken(reads)
    (site / "note.txt").write_text(TEXT.replace("happy", "happy "))
    check(site)
    assert taken(reads)
    (site / "note.txt").write_text(TEXT)
    check(site, "--no-cache")
    assert taken(reads)
    assert check(site, "--fix").returncode == 0
    assert (site / "note.txt").read_text() == RIGHT
    assert taken(reads) == 0


def test_words_the_dial_and_the_model_count(site: Path, model: Path, reads: Path) -> None:
    check(site, "--cache-dir", ".reviser/cache")
    assert taken(reads)
    # Git leaves it alone.
    assert (site / ".reviser" / "cache" / ".gitignore").read_text() == "*\n"
    (site / ".reviser" / "words.txt").write_text("teh\n")
    for words in (["--confidence", "0.6"], ["--only", "case"], []):
        check(site, "--cache-dir", ".reviser/cache", *words)
        assert taken(reads), words
        check(site, "--cache-dir", ".reviser/cache", *words)
        assert not taken(reads), words
    other = site.parent / "other"
    shutil.copytree(model, other)
    config = json.loads((other / "config.json").read_text())
    config["metadata"]["note"] = "another model"
    (other / "config.json").write_text(json.dumps(config))
    check(site, "--cache-dir", ".reviser/cache", "--model", other)
    assert taken(reads) > len(list(other.glob("*.safetensors")))


def test_a_cache_for_several_commands_at_once(site: Path, reads: Path) -> None:
    command = [sys.executable, "-m", "reviser", "check"]
    running = [
        subprocess.Popen(command, cwd=site, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [1, 1, 1], said
    assert len({out for out, _ in said}) == 1
    taken(reads)
    assert check(site).stdout == said[0][0]
    assert not taken(reads)


# Several processes --------------------------------------------------------------------------------


def test_several_processes_say_the_same_in_the_same_order(site: Path, reads: Path) -> None:
    for number in range(4):
        # Large enough for each to be a batch of its own.
        text = "The end.\n\n" * 100 * number + TEXT + "The end.\n\n" * 900
        (site / f"long{number}.md").write_text(text)
    (site / "picture.txt").write_bytes(b"\0\1")
    one = check(site, "picture.txt", ".", "--no-cache", "--jobs", "1")
    opened = set(reads.read_text().split())
    taken(reads)
    several = check(site, "picture.txt", ".", "--no-cache", "--jobs", "3")
    assert len(opened) == 1
    assert len(set(reads.read_text().split())) == 3
    assert one.returncode == several.returncode == 2
    assert one.stdout == several.stdout
    one_said, several_said = (
        [line for line in done.stderr.splitlines() if not line.startswith("reviser: checking")]
        for done in (one, several)
    )
    assert one_said == several_said
    assert one_said[0] == "reviser: picture.txt is a binary file, not text"
    found = len(one.stdout.splitlines())
    assert one.stderr.endswith(f"\n{found} mistakes in 6 of 7 files; 1 file not checked\n")


def test_a_model_that_cannot_is_told_once(site: Path, tmp_path: Path) -> None:
    for number in range(2):
        # More than a pipe holds: a worker that has ended must not leave the command waiting for it.
        (site / f"long{number}.txt").write_text("The end.\n\n" * 60_000)
    plain = tiny_model(tmp_path / "plain", PAPER_KINDS)
    for jobs in ("1", "2"):
        complains(check(site, "--model", plain, "--jobs", jobs), "was not trained to revise")
    complains(check(site, "--model", "nowhere"), "there is no model nowhere")


def test_ctrl_c_ends_all_processes_and_what_is_done_is_kept(site: Path, reads: Path) -> None:
    (site / "clean.md").write_text(GUIDE)
    (site / "guide.md").write_text("The cat sat on a mat, and it was happy there.\n\n" * 40_000)
    command = [sys.executable, "-m", "reviser", "check", "clean.md", "guide.md", "--jobs", "2"]
    process = subprocess.Popen(command, cwd=site, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    shown = b""
    while shown.count(b"\n") < 3:
        shown += process.stdout.read(1)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(workers) == 2
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode in (130, -signal.SIGINT)
    assert said == b""
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]
    taken(reads)
    assert lines(check(site, "clean.md")) == [line.replace("guide", "clean") for line in LINES[:3]]
    assert not taken(reads)


def test_a_reader_that_has_left_is_left_in_peace(site: Path) -> None:
    for words in ([], ["--output-format", "sarif"]):
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "reviser", "check", *words]
        with os.fdopen(writing) as pipe:
            result = subprocess.run(command, cwd=site, stdout=pipe, stderr=subprocess.PIPE, check=False)
        assert (result.returncode, result.stderr) == (141, b"")


def test_progress_in_a_terminal(site: Path) -> None:
    command = [sys.executable, "-m", "reviser", "check", str(site), "--no-cache"]
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", in_terminal(command, status=1))
    assert "checking" in shown
    assert "100%" in shown or "67%" in shown
    for line in LINES:
        assert f"{site}/{line} (" in shown.replace("\r", "")
    # Where standard output is a file, the bar does not go there, nor what is found to the terminal.
    out = site.parent / "out.txt"
    shell = ["sh", "-c", f"exec {' '.join(command)} > {out}"]
    shown = in_terminal([shutil.which("sh") or "/bin/sh", *shell[1:]], status=1)
    assert "recieve" not in shown
    assert [line.rsplit(" (")[0] for line in out.read_text().splitlines()] == [f"{site}/{line}" for line in LINES]


def test_mistakes_give_one_sentence(site: Path) -> None:
    complains(check(site, "--only", "grammar"), "no kind of change grammar")
    complains(check(site, "--output-format", "xml"), "xml")
    complains(check(site, "--stdin-filename", "a.md"), "--stdin-filename is for standard input")
    complains(check(site, "--no-cache", "--cache-dir", "x"), "choose one")
    complains(check(site, "--changed", "--changed-since", "HEAD"), "choose one")
    missing = check(site, "none.md", "note.txt")
    assert missing.returncode == 2
    assert missing.stderr.startswith("reviser: there is no file none.md\n2 mistakes in 1 of 1 file; 1")
    assert len(missing.stdout.splitlines()) == 2


def test_names_that_are_no_utf8(site: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (site / name).write_text(TEXT)
    command = [sys.executable, "-m", "reviser", "check", name]
    text = subprocess.run(command, cwd=site, capture_output=True, check=False)
    assert text.stdout.startswith(b"caf\xe9.txt:1:16: spelling: teh ")
    for form in ("json", "sarif"):
        done = subprocess.run([*command, "--output-format", form], cwd=site, capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
        assert "caf" in str(json.loads(done.stdout.decode("utf-8")))


def test_what_an_editor_ignores_is_not_found(site: Path) -> None:
    assert lines(check(site)) == LINES  # and kept in the cache
    (site / ".reviser").mkdir()
    text = (site / "note.txt").read_text()
    place = IgnoredPlace.of("note.txt", text, text.index("teh"), "teh", "the")
    ignore(site / ".reviser" / "ignore.txt", place)
    assert lines(check(site)) == [*LINES[:3], LINES[4]]
    assert lines(check(site, "-", "--stdin-filename", "note.txt", stdin=TEXT)) == [LINES[4]]
    fixed = check(site, "--fix", "note.txt")
    assert fixed.returncode == 0, fixed.stderr
    assert (site / "note.txt").read_text() == RIGHT.replace("the mat", "teh mat")
    # Among other words it is found again.
    (site / "note.txt").write_text(TEXT)
    (site / ".reviser" / "ignore.txt").write_text("note.txt\tteh\tthe\tother words\taround it\n")
    assert lines(check(site, "note.txt")) == LINES[3:]
    (site / ".reviser" / "ignore.txt").write_bytes(b"\xff\xfe\xff")
    damaged = check(site, "note.txt")
    assert damaged.returncode == 2
    assert "ignore.txt is not a UTF-8 text file" in damaged.stderr.splitlines()[0]
