"""Whatever a model proposes, at every setting of the dial, only prose changes: generated documents of every format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviser.proofreading.document import Draft, safe_selection
from reviser.proofreading.pipeline import Proofreader
from reviser.proofreading.project.words import Words
from reviser.proofreading.suggestion import with_suggestions
from reviser.prose import Format, format_of, paragraphs, same_structure
from tests.reviser.proofreading.scripted import Hostile, HostileTokenizer
from tests.reviser.prose.judges import judged
from tests.reviser.prose.test_properties import DOCUMENTS, EXAMPLES, HOSTILE, PIECES, documents

TOKENIZER = HostileTokenizer([*HOSTILE, " the", " cat", "ing", "s", " and", ", "])
SEEDS = st.integers(0, 1 << 30)
DIAL = st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.9, 1.0])
WORDS = Words(["abc", "Ab", "letter", "value"])
_BREAKS = r"\r\n|\r|\n|\0|\u2028"


def check(text: str, format: Format, seed: int, dial: float, reader: Proofreader | None = None) -> int:
    """Proofread a text and hold the result against it; returns how much was changed."""
    policy = Hostile(TOKENIZER, seed)
    reader = reader or Proofreader(policy, TOKENIZER, confidence=dial)
    done = reader.proofread(Draft(text, format, WORDS))
    after = done.text
    assert with_suggestions(text, done.changes) == after
    # Everything outside prose is what it was, byte for byte.
    prose = [span for paragraph in paragraphs(text, format) for span in paragraph.segments]
    pieces = [text[start:end] for start, end in prose]
    place = 0
    for change in done.changes:
        assert place <= change.start
        place = change.end
        assert dial <= change.confidence <= 1
        assert text[change.start : change.end] == change.old != change.new
        inside = [span for span in prose if span.start <= change.end and change.start <= span.end]
        assert inside[0].start <= change.start
        assert change.end <= inside[-1].end
    assert re.findall(_BREAKS, after) == re.findall(_BREAKS, text)
    assert after.endswith("\n") == text.endswith("\n")
    assert same_structure(text, after, format)
    assert judged(after.removeprefix("\ufeff"), format) == judged(text.removeprefix("\ufeff"), format)
    # Numbers and listed words are all there.
    assert re.findall(r"\d+", after) == re.findall(r"\d+", text)
    for word in ("letter", "value"):
        pattern = rf"\b{word}\b"
        assert sum(len(re.findall(pattern, piece)) for piece in pieces) <= len(re.findall(pattern, after))
    # Whichever of the changes are taken, the structure stays.
    some = safe_selection(done.draft, done.changes[seed % 2 :: 2])
    assert same_structure(text, with_suggestions(text, some), format)
    return len(done.changes)


@pytest.mark.parametrize("format", PIECES, ids=str)
def test_only_prose_changes(format: Format) -> None:
    changed = 0

    @settings(max_examples=EXAMPLES // 4, suppress_health_check=list(HealthCheck))
    @given(text=documents(format), seed=SEEDS, dial=DIAL)
    def run(text: str, seed: int, dial: float) -> None:
        nonlocal changed
        changed += check(text, format, seed, dial)

    run()
    assert changed, "the policy was not hostile enough to test anything"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_realistic_documents_keep_their_structure(path: Path) -> None:
    text = path.read_bytes().decode()
    format = format_of(str(path), text)
    changed = 0

    @settings(max_examples=max(EXAMPLES // 25, 4), suppress_health_check=list(HealthCheck))
    @given(seed=SEEDS, dial=DIAL)
    def run(seed: int, dial: float) -> None:
        nonlocal changed
        changed += check(text, format, seed, dial)

    run()
    assert changed


@settings(max_examples=EXAMPLES)
@given(
    text=st.text(st.sampled_from("ab .*_`#>-|[]()<&\\$%{}~\"'/!=+:1\n\r\t\0\u2028\ufeffé漢👩\u0301")),
    format=st.sampled_from(list(Format)),
    seed=SEEDS,
)
def test_any_text_in_any_format_is_proofread(text: str, format: Format, seed: int) -> None:
    reader = Proofreader(Hostile(TOKENIZER, seed), TOKENIZER, confidence=0.0)
    after = reader.proofread(Draft(text, format)).text
    assert same_structure(text, after, format)
    assert re.findall(_BREAKS, after) == re.findall(_BREAKS, text)
