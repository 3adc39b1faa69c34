"""Speech is what stands between quotation marks of any kind; apostrophes are none."""

from __future__ import annotations

import pytest

from reviser.proofreading.language.speech import speech_in


@pytest.mark.parametrize(
    ("text", "speech"),
    [
        ("He said “no” and went.", ["“no”"]),
        ('"We was there," he said, "and they was too."', ['"We was there,"', '"and they was too."']),
        ("'It's the dog's bed,' she said.", ["'It's the dog's bed,'"]),
        ("He said: “It goes on", ["“It goes on"]),
        ("The dog's bed isn't Tom's.", []),
    ],
)
def test_speech(text: str, speech: list[str]) -> None:
    assert [text[start:end] for start, end in speech_in(text)] == speech
