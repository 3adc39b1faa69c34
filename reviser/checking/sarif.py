"""Findings in SARIF 2.1.0, the format in which programs exchange the results of static analysis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

import reviser
from reviser.checking.explanations import EXPLANATIONS
from reviser.checking.findings import Checked, Failed, Finding
from reviser.checking.reports import message, shown
from reviser.proofreading.suggestion import Kind

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_KINDS: Final = list(Kind)


def sarif_report(outcomes: Sequence[Checked | Failed]) -> str:
    """A log of one run: a rule for each kind, a result with its fix for each finding."""
    checked = [one for one in outcomes if isinstance(one, Checked)]
    failed = [one for one in outcomes if isinstance(one, Failed)]
    driver = {"name": "Reviser", "version": reviser.__version__, "rules": list(map(_rule, Kind))}
    notes = [_notification(one.source.name, "note", word.told) for one in checked for word in one.unread]
    notes += [_notification(one.name, "error", str(one.error)) for one in failed]
    run: dict[str, object] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not failed, "toolExecutionNotifications": notes}],
        "artifacts": [{"location": _location(one.source.name)} for one in checked],
        "results": [_result(finding) for one in checked for finding in one.findings],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=2)


def _rule(kind: Kind) -> dict[str, object]:
    about = EXPLANATIONS[kind]
    leaving = (
        "To leave a passage as it is: add a word to .reviser/words.txt, ignore the place in an editor, "
        f"or leave out the kind with --except {_rule_id(kind)}."
    )
    return {
        "id": _rule_id(kind),
        "name": "".join(word.capitalize() for word in kind.value.split()),
        "shortDescription": {"text": about.short},
        "fullDescription": {"text": about.full},
        "helpUri": about.page,
        "help": {
            "text": f"{about.full} Wrong: {about.wrong} Right: {about.right} {leaving}",
            "markdown": f"{about.full}\n\n- Wrong: {about.wrong}\n- Right: {about.right}\n\n{leaving}",
        },
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


def _notification(path: Path, level: str, text: str) -> dict[str, object]:
    locations = [{"physicalLocation": {"artifactLocation": _location(path)}}]
    return {"level": level, "message": {"text": text}, "locations": locations}


def _location(path: Path) -> dict[str, str]:
    """The location of a file: relative to the current folder if it is inside of it, as other programs expect."""
    if path.is_absolute():
        here = Path.cwd()
        if not path.is_relative_to(here):
            return {"uri": path.as_uri()}
        path = path.relative_to(here)
    return {"uri": quote(path.as_posix().encode("utf-8", "surrogateescape"))}
