"""Findings as lines for people, as JSON, and as annotations for GitHub."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from reviser.checking.explanations import EXPLANATIONS
from reviser.checking.findings import Checked, Failed, Finding, UnusedComment
from reviser.proofreading.project.folders import Skipped


def text_line(finding: Finding) -> str:
    """`path:line:col: kind: old → new (confidence)`."""
    line, column = finding.start
    return f"{finding.source.name}:{line}:{column}: {message(finding)}"


def message(finding: Finding) -> str:
    """One sentence on a finding: its kind, the old and the new text, and the confidence."""
    change = finding.change
    return f"{change.kind}: {shown(change.old)} → {shown(change.new)} ({change.confidence:.2f})"


def shown(text: str) -> str:
    """A text on one line; in quotes if its start or end would be invisible."""
    line = re.sub(r"\s*[\r\n]\s*", " ", text)
    line = "".join(character if character.isprintable() else "�" for character in line)
    return line if line and line == line.strip() else f'"{line}"'


def explained(finding: Finding) -> str:
    """The reason of a finding, in a sentence or a few: that of its rule, or that of its kind with an example."""
    change = finding.change
    if change.reason:
        return change.reason
    about = EXPLANATIONS[change.kind]
    return f"{about.full} Wrong: {about.wrong} Right: {about.right}"


def unused_line(checked: Checked, comment: UnusedComment) -> str:
    """`path:line:col: unused comment: …`."""
    line, column = comment.place
    return f"{checked.source.name}:{line}:{column}: unused comment: {shown(comment.text)}"


def github_line(finding: Finding) -> str:
    """A workflow command with which GitHub shows a finding next to its line."""
    start, end = finding.start, finding.end
    properties: dict[str, object] = {"file": finding.source.name, "line": start.line}
    if start.line == end.line:
        # Columns of several lines make no sense to GitHub.
        properties |= {"col": start.column, "endLine": end.line, "endColumn": end.column}
    else:
        properties |= {"endLine": end.line}
    properties["title"] = f"reviser: {finding.change.kind}"
    told = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::warning {told}::{_data(message(finding))}"


def github_error(failed: Failed) -> str:
    """A workflow command for a document that could not be checked."""
    return f"::error file={_property(str(failed.name))}::{_data(str(failed.error))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def json_report(outcomes: Sequence[Checked | Failed], skipped: Sequence[Skipped] = ()) -> str:
    """All findings, the failures, the number of documents, the unused comments, the words that were not read and the
    skipped files, as JSON."""
    checked = [one for one in outcomes if isinstance(one, Checked)]
    failed = [one for one in outcomes if isinstance(one, Failed)]
    report = {
        "findings": [_finding(finding) for one in checked for finding in one.findings],
        "errors": [{"file": str(one.name), "message": str(one.error)} for one in failed],
        "checked": len(checked),
        "unused_comments": [
            {"file": str(one.source.name), **comment.place._asdict(), "text": comment.text}
            for one in checked
            for comment in one.unused
        ],
        "unread": [{"file": str(one.source.name), **word._asdict()} for one in checked for word in one.unread],
        "skipped": [{"file": str(one.path), "reason": one.reason} for one in skipped],
    }
    return json.dumps(report, ensure_ascii=False, indent=2)


def _finding(finding: Finding) -> dict[str, object]:
    change = finding.change
    return {
        "file": str(finding.source.name),
        "line": finding.start.line,
        "column": finding.start.column,
        "end_line": finding.end.line,
        "end_column": finding.end.column,
        "offset": change.start,
        "kind": str(change.kind),
        "old": change.old,
        "new": change.new,
        "confidence": round(change.confidence, 4),
        "rule": change.rule,
        "level": change.level.value,
        "why": explained(finding),
    }
