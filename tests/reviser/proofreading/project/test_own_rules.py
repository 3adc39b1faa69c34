"""A project's own rules and presets: read, tested on their examples, and applied by every stage that asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviser.core.errors import ReviserError
from reviser.editor.incremental import IncrementalChecker
from reviser.proofreading.document import Draft
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.project.rules import FOLDER, rules_for
from reviser.proofreading.rules.english import own_rules, preset, presets
from reviser.proofreading.rules.examples import check_examples
from reviser.proofreading.rules.own import RuleText
from reviser.proofreading.suggestion import Level, Suggestion
from reviser.prose import Format
from tests.commands import reviser
from tests.reviser.proofreading.scripted import GPT2, Scripted

OWN = """\
# Ours.
term GitHub: git hub
term frobnak:

rule leverage
  why: We say “use”.
  level: error
  [leverage] -> use
  mends: They {leverage|use} it.
  leaves: Its leverages are many.
"""


def found(text: str, rules: str = OWN, **chosen: object) -> list[Suggestion]:
    draft = Draft(text, Format.MARKDOWN, rules=(RuleText("own.rules", rules),))
    return list(Proofreader(Scripted({}), GPT2, **chosen).proofread(draft).changes)  # type: ignore[arg-type]


def test_own_rules_make_findings_with_reason_and_level() -> None:
    (one,) = found("They leverage the code.\n")
    assert (one.old, one.new, one.rule, one.reason) == ("leverage", "use", "leverage", "We say “use”.")
    assert one.level is Level.ERROR
    assert not found("They `leverage` it.\n")
    assert not found("They leverage the code.\n", confidence=0.99)


def test_terms_get_their_spelling() -> None:
    text = "Github and git hub, `github`, github.com and GitHub have Frobnak’s code.\n"
    assert [(one.old, one.new) for one in found(text)] == [
        ("Github", "GitHub"),
        ("git hub", "GitHub"),
        ("Frobnak’s", "frobnak’s"),
    ]
    assert "This project writes “GitHub”." in {one.reason for one in found(text)}


def test_own_rules_come_before_others_and_comments_switch_them_off() -> None:
    text = "He have it, and they leverage it.\n"
    rules = "rule he have\n  he [have] -> owns\n"
    assert [one.new for one in found(text, rules)] == ["owns"]
    assert not found(f"<!-- reviser: off leverage, he-have -->\n\n{text}")


def test_a_document_that_is_written_follows_them() -> None:
    checker = IncrementalChecker(Proofreader(Scripted({}), GPT2).proofread)
    text = "They leverage it.\n"

    def news(rules: str) -> list[str]:
        draft = Draft(text, Format.MARKDOWN, rules=(RuleText("own.rules", rules),))
        return [one.new for part in checker.check(draft) for one in part.changes]

    assert news(OWN) == ["use"]
    # Another rule is read again.
    assert news(OWN.replace("-> use", "-> take").replace("|use}", "|take}")) == ["take"]


def test_files_of_rules_are_found_and_refused(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    (folder / "b.rules").write_text("rule b\n  [b] -> c\n")
    (folder / "a.rules").write_text("class x: one two\n")
    (tmp_path / "docs").mkdir()
    texts = rules_for(tmp_path / "docs" / "a.md", ["technical"])
    assert [Path(one.source).name for one in texts] == ["technical.rules", "a.rules", "b.rules"]
    (folder / "b.rules").write_text("rule b\n  level: severe\n  [b] -> c\n")
    with pytest.raises(ReviserError, match=r"b\.rules, line 2: “severe” is no level"):
        rules_for(tmp_path / "docs" / "a.md")
    with pytest.raises(ReviserError, match="there is no preset baroque; there are inclusive"):
        rules_for(tmp_path / "docs" / "a.md", ["baroque"])


@pytest.mark.parametrize("name", presets())
def test_presets_hold_their_examples(name: str) -> None:
    book = own_rules((preset(name),))
    assert book.rules
    check_examples(book)
    assert all(rule.why for rule in book.rules)


def test_commands_use_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REVISER_MODEL", raising=False)
    (tmp_path / FOLDER).mkdir(parents=True)
    own = tmp_path / FOLDER / "own.rules"
    own.write_text(OWN)
    (tmp_path / ".reviser" / "config.toml").write_text('presets = ["plain-language"]\n')
    path = tmp_path / "a.md"
    path.write_text("They leverage the code in order to go home.\n")
    (one, other) = json.loads(reviser("check", path, "--output-format", "json").stdout)["findings"]
    assert (one["new"], one["level"], one["why"]) == ("use", "error", "We say “use”.")
    assert (other["old"], other["new"], other["level"], other["rule"]) == ("in order ", "", "info", "in order to")
    assert "They use the code to go home." in reviser("revise", path, "--output", "-").stdout
    tested = reviser("check", path, "--test-rules")
    assert (tested.returncode, tested.stdout) == (0, "10 rules and 2 terms in 2 files: all examples hold\n")
    own.write_text(OWN.replace("{leverage|use}", "{leverage|have}"))
    failed = reviser("check", path, "--test-rules")
    assert failed.returncode == 2
    assert "the rule “leverage” makes “They use it.”" in failed.stderr
