"""Reports: lines for people, JSON, annotations for GitHub, and SARIF that keeps to its schema."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reviser.checking.explanations import EXPLANATIONS
from reviser.checking.findings import Checked, Failed, Result, Source
from reviser.checking.reports import github_error, github_line, json_report, shown, text_line
from reviser.checking.sarif import sarif_report
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.proofreading.changes import changes
from reviser.proofreading.document import Draft
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.session.documents import DocumentFile

TEXT = "Ünï 🙂 teh end.\nIt is a\nold house of of mine.\n"


def checked(name: str, *changes: Suggestion, newline: str = "\n") -> Checked:
    document = DocumentFile(Path(name), TEXT, newline=newline)
    return Checked(Source(Path(name), document, Draft(TEXT)), Result(changes, 3))


def change(old: str, new: str, kind: Kind) -> Suggestion:
    return Suggestion(Edit(TEXT.index(old), old, new), kind, 0.934)


SPELLING = change("teh", "the", Kind.SPELLING)
ARTICLE = change("a\nold", "an\nold", Kind.ARTICLE)
EXTRA = change("of ", "", Kind.EXTRA_WORD)
MISSING = Suggestion(Edit(TEXT.index("mine"), "", "all "), Kind.MISSING_WORD, 0.6)
ALL = checked("docs/a b.md", SPELLING, ARTICLE, EXTRA, MISSING, newline="\r\n")
BAD = Failed(Path("x,y:z.md"), ReviserError("x,y:z.md is 100% binary"))


def test_lines_have_places_in_characters() -> None:
    assert [text_line(finding) for finding in ALL.findings] == [
        "docs/a b.md:1:7: spelling: teh → the (0.93)",
        "docs/a b.md:2:7: article: a old → an old (0.93)",
        'docs/a b.md:3:11: extra word: "of " → "" (0.93)',
        'docs/a b.md:3:17: missing word: "" → "all " (0.60)',
    ]
    assert shown("a\x1b[31m") == "a�[31m"


def test_json_has_all_of_it() -> None:
    report = json.loads(json_report([ALL, BAD, checked("clean.md")]))
    assert report["checked"] == 2
    assert report["errors"] == [{"file": "x,y:z.md", "message": "x,y:z.md is 100% binary"}]
    text = TEXT
    for one in reversed(report["findings"]):
        assert text[one["offset"] :].startswith(one["old"])
        text = text[: one["offset"]] + one["new"] + text[one["offset"] + len(one["old"]) :]
    assert text == "Ünï 🙂 the end.\nIt is an\nold house of all mine.\n"
    places = ("line", "column", "end_line", "end_column")
    assert [report["findings"][1][place] for place in places] == [2, 7, 3, 4]


def test_annotations_are_escaped() -> None:
    spelling, article = (github_line(finding) for finding in ALL.findings[:2])
    assert spelling == (
        "::warning file=docs/a b.md,line=1,col=7,endLine=1,endColumn=10,title=reviser%3A spelling"
        "::spelling: teh → the (0.93)"
    )
    # Columns of several lines make no sense to GitHub.
    assert article.startswith("::warning file=docs/a b.md,line=2,endLine=3,title=")
    assert github_error(BAD) == "::error file=x%2Cy%3Az.md::x,y:z.md is 100%25 binary"
    odd = checked("50%,\n:.md", SPELLING).findings[0]
    assert github_line(odd).startswith("::warning file=50%25%2C%0A%3A.md,line=1,")
    assert "\n" not in github_line(odd)


# SARIF --------------------------------------------------------------------------------------------

TEXT_OF = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}


def closed(required: str, **properties: Any) -> dict[str, Any]:
    """A schema of objects that have these properties and no others."""
    return {"type": "object", "required": required.split(), "properties": properties, "additionalProperties": False}


def items(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": schema, **more}


NUMBER = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
LOCATION = closed("uri", uri={"type": "string", "format": "uri-reference"})
REGION = closed(
    "startLine startColumn endLine endColumn", startLine=NUMBER, startColumn=NUMBER, endLine=NUMBER, endColumn=NUMBER
)
PLACE = closed(
    "physicalLocation", physicalLocation=closed("artifactLocation", artifactLocation=LOCATION, region=REGION)
)
FIX = closed(
    "artifactChanges",
    description=TEXT_OF,
    artifactChanges=items(
        closed(
            "artifactLocation replacements",
            artifactLocation=LOCATION,
            replacements=items(closed("deletedRegion", deletedRegion=REGION, insertedContent=TEXT_OF), minItems=1),
        ),
        minItems=1,
    ),
)
RULE = closed(
    "id",
    id={"type": "string"},
    name={"type": "string", "pattern": "^[A-Z][A-Za-z]*$"},
    shortDescription=TEXT_OF,
    fullDescription=TEXT_OF,
    helpUri={"type": "string", "format": "uri", "pattern": "^https://"},
    help=closed("text markdown", text={"type": "string"}, markdown={"type": "string"}),
    defaultConfiguration=closed("", level=LEVEL),
)
RESULT = closed(
    "message ruleId",
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=TEXT_OF,
    rank={"type": "number", "minimum": 0, "maximum": 100},
    locations=items(PLACE),
    fixes=items(FIX, uniqueItems=True),
)
NOTIFICATION = closed("message", level=LEVEL, message=TEXT_OF, locations=items(PLACE))
RUN = closed(
    "tool",
    tool=closed(
        "driver", driver=closed("name", name={"type": "string"}, version={"type": "string"}, rules=items(RULE))
    ),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    invocations=items(
        closed(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=items(NOTIFICATION),
        )
    ),
    artifacts=items(closed("", location=LOCATION), uniqueItems=True),
    results=items(RESULT),
)
# The parts of SARIF 2.1.0 that are written here, with what it says of them.
WRITTEN = closed(
    "version runs", **{"$schema": {"type": "string", "format": "uri"}}, version={"const": "2.1.0"}, runs=items(RUN)
)


def sarif(*outcomes: Checked | Failed) -> Any:
    log = json.loads(sarif_report(outcomes))
    jsonschema.Draft7Validator(WRITTEN).validate(log)
    return log["runs"][0]


def test_sarif_has_rules_regions_and_fixes() -> None:
    run = sarif(ALL, checked("clean.md"))
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) == len(Kind)
    for result, finding in zip(run["results"], ALL.findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "docs/a%20b.md"
        region = place["region"]
        assert (region["startLine"], region["startColumn"]) == finding.start
        assert (region["endLine"], region["endColumn"]) == finding.end
        replaced = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
        assert replaced["deletedRegion"] == region
    # What is put in has the line endings of the file.
    article = run["results"][1]["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert article["insertedContent"]["text"] == "an\r\nold"
    assert run["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_explained(kind: Kind) -> None:
    about = EXPLANATIONS[kind]
    (change,) = changes(about.wrong, about.right)
    assert change.kind is kind
    rule = next(rule for rule in sarif(ALL)["tool"]["driver"]["rules"] if rule["id"] == kind.value.replace(" ", "-"))
    assert rule["fullDescription"]["text"] == about.full != rule["shortDescription"]["text"]
    assert rule["helpUri"] == about.page
    for form in ("text", "markdown"):
        assert f"Wrong: {about.wrong}" in rule["help"][form]
        assert f"Right: {about.right}" in rule["help"][form]
    assert f"--except {rule['id']}" in rule["help"]["text"]


def test_sarif_tells_of_files_that_could_not_be_checked(tmp_path: Path) -> None:
    run = sarif(BAD, checked(str(tmp_path / "a#b.md"), SPELLING))
    said = run["invocations"][0]
    assert not said["executionSuccessful"]
    assert said["toolExecutionNotifications"][0]["message"]["text"] == "x,y:z.md is 100% binary"
    assert run["artifacts"][0]["location"]["uri"] == (tmp_path / "a#b.md").as_uri()


def test_sarif_keeps_to_its_whole_schema() -> None:
    schema = os.environ.get("REVISER_SARIF_SCHEMA")
    if not schema:
        pytest.skip("REVISER_SARIF_SCHEMA names no copy of OASIS's sarif-schema-2.1.0.json")
    whole = json.loads(Path(schema).read_text("utf-8"))
    validator = jsonschema.validators.validator_for(whole)(whole)
    for outcomes in ([], [ALL], [BAD], [ALL, BAD, checked("clean.md")]):
        validator.validate(json.loads(sarif_report(outcomes)))
