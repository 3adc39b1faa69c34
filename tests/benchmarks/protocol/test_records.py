"""Records survive their files, and a file that holds something else is refused in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.protocol.records import Continuation, Judgement, Prompt, Record, read_records, write_records
from reviser.core.errors import ReviserError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
IDS = st.lists(st.integers(0, 60_000)).map(tuple)
RECORDS = {
    Prompt: st.builds(Prompt, TEXT, TEXT, IDS, TEXT, TEXT),
    Continuation: st.builds(
        Continuation, TEXT, TEXT, st.integers(), TEXT, IDS, TEXT, st.none() | IDS, st.floats(0, 1e6)
    ),
    Judgement: st.builds(
        Judgement,
        TEXT,
        st.integers(),
        TEXT,
        TEXT,
        st.sampled_from(["kept", "swapped"]),
        st.sampled_from(["first", "second", "tie", "invalid"]),
        TEXT,
    ),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_records_come_back_as_they_were(kind: type[Record], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("records")

    @given(st.lists(RECORDS[kind]))
    def check(records: list[Record]) -> None:
        write_records(folder / "some.jsonl", records)
        assert read_records(folder / "some.jsonl", kind) == records  # type: ignore[type-var]

    check()


@pytest.mark.parametrize("line", ["{", "[]", '{"id": "a"}', '{"extra": 1}'])
def test_other_lines_are_refused(line: str, tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    write_records(path, [Prompt("a", "b", (1,), "c", "d")])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ReviserError, match="line 2: not a prompt"):
        read_records(path, Prompt)
