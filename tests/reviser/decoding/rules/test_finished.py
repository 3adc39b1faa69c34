"""Texts that are finished get nothing more, and those that are not do."""

from __future__ import annotations

import pytest

from reviser.decoding.rules.finished import is_finished, runs_on

LETTER = "Dear Mrs. Miller,\n\nThank you for your letter. We are glad that you liked it.\n\n"


@pytest.mark.parametrize(
    "text",
    [
        LETTER + "Yours sincerely,\n\nPeter Brown\nCustomer Service\n",
        LETTER + "Kind regards,\nThe house committee",
        LETTER + "Best,\nTom",
        LETTER + "Best regards,\nAlex Smith, Sales Manager\nCarter & Sons Ltd.\n",
        "The server is down tonight.\n\nThanks,\nJo\n",
        "Liebe Frau Schmidt,\n\nvielen Dank. Wir melden uns.\n\nMit freundlichen Grüßen\nPeter Braun\n",
        "Chère Anne,\n\nMerci pour tout.\n\nBien à toi,\nPaul\n",
        "\\begin{document}\nHello.\n\\end{document}\n",
        "<!DOCTYPE html>\n<html>\n<p>Hello</p>\n</html>\n",
        "Buy milk. Buy milk. Buy milk.",
        "Buy milk.\nBuy milk.\nBuy milk.\n",
        "ha ha ha ha ha ha",
    ],
)
def test_a_finished_text(text: str) -> None:
    assert is_finished(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Dear Mr. Thompson,\n\n",
        "Dear Mr. Thompson,\n\nI",
        LETTER,
        LETTER + "Yours sincerely,\n",
        LETTER + "Best,\nTom\n\nP.S. I have",
        LETTER + "The weather\nin Spain",
        "A poem\n\nRoses are red,\nviolets blue",
        "I like it.\n\nFirst,\nwe go",
        "- milk\n- bread\n- eggs\n",
        "Buy milk. Buy milk. Buy",
        "I walked and walked and walked and walked",
        "<p>One</p>\n<p>Two</p>\n<ul>\n",
        "# Notes\n\nThe first chapter describes the town. It has four gates.\n",
    ],
)
def test_a_text_that_goes_on(text: str) -> None:
    assert not is_finished(text)


def test_lines_that_differ_in_numbers_alone_run_on() -> None:
    assert runs_on("Dates\n\n## 2020-01-26\n\n## 2021-01-29\n\n## 2022-02-16\n\n## 2019-12-26")
    assert not runs_on("1. Boil\n2. Pour\n3. Wait\n4. Drink")
