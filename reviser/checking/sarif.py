"""Findings in SARIF 2.1.0, the format in which programs exchange the results of static analysis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

import reviser
from reviser.checking.findings import Checked, Failed, Finding
from reviser.checking.reports import message, shown
from reviser.proofreading.changes import Kind

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_DESCRIPTIONS: Final = {
    Kind.SPELLING: "A word is misspelt.",
    Kind.AGREEMENT: "A verb does not agree with its subject.",
    Kind.VERB_FORM: "A verb has the wrong form.",
    Kind.NOUN_NUMBER: "A noun should be in the singular or the plural.",
    Kind.WORD_FORM: "A word has the wrong form.",
    Kind.ARTICLE: "An article is wrong, missing or not needed.",
    Kind.PREPOSITION: "A preposition is wrong, missing or not needed.",
    Kind.PUNCTUATION: "A punctuation mark is wrong, missing or not needed.",
    Kind.CASE: "A capital or a small letter is wrong.",
    Kind.JOINED_OR_SPLIT: "Words should be joined or split.",
    Kind.CONFUSED_WORD: "A word was confused with another.",
    Kind.WORD_ORDER: "Words are in the wrong order.",
    Kind.MISSING_WORD: "A word is missing.",
    Kind.EXTRA_WORD: "A word is not needed.",
    Kind.OTHER: "A passage should read differently.",
}
_KINDS: Final = list(Kind)


def sarif_report(outcomes: Sequence[Checked | Failed]) -> str:
    """A log of one run: a rule for each kind, a result with its fix for each finding."""
    checked = [one for one in outcomes if isinstance(one, Checked)]
    failed = [one for one in outcomes if isinstance(one, Failed)]
    driver = {"name": "Reviser", "version": reviser.__version__, "rules": list(map(_rule, Kind))}
    run: dict[str, object] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not failed,
                "toolExecutionNotifications": list(map(_notification, failed)),
            }
        ],
        "artifacts": [{"location": _location(one.source.name)} for one in checked],
        "results": [_result(finding) for one in checked for finding in one.findings],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=2)


def _rule(kind: Kind) -> dict[str, object]:
    return {
        "id": _rule_id(kind),
        "name": "".join(word.capitalize() for word in kind.value.split()),
        "shortDescription": {"text": _DESCRIPTIONS[kind]},
        "defaultConfiguration": {"level": "warning"},
    }


def _rule_id(kind: Kind) -> str:
    return kind.value.replace(" ", "-")


def _result(finding: Finding) -> dict[str, object]:
    change, location = finding.change, _location(finding.source.name)
    region = {
        "startLine": finding.start.line,
        "startColumn": finding.start.column,
        "endLine": finding.end.line,
        "endColumn": finding.end.column,
    }
    new = change.new.replace("\n", finding.source.document.newline)
    replacement = {"deletedRegion": region, "insertedContent": {"text": new}}
    return {
        "ruleId": _rule_id(change.kind),
        "ruleIndex": _KINDS.index(change.kind),
        "level": "warning",
        "message": {"text": message(finding)},
        "rank": round(100 * change.confidence, 2),
        "locations": [{"physicalLocation": {"artifactLocation": location, "region": region}}],
        "fixes": [
            {
                "description": {"text": f"{shown(change.old)} → {shown(change.new)}"},
                "artifactChanges": [{"artifactLocation": location, "replacements": [replacement]}],
            }
        ],
    }


def _notification(failed: Failed) -> dict[str, object]:
    return {
        "level": "error",
        "message": {"text": str(failed.error)},
        "locations": [{"physicalLocation": {"artifactLocation": _location(failed.name)}}],
    }


def _location(path: Path) -> dict[str, str]:
    """Where a file is: relative to the present folder if it is in that, as other programs expect."""
    if path.is_absolute():
        here = Path.cwd()
        if not path.is_relative_to(here):
            return {"uri": path.as_uri()}
        path = path.relative_to(here)
    return {"uri": quote(path.as_posix().encode("utf-8", "surrogateescape"))}
