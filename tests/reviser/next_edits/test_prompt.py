"""The prompt of a next edit, and the places that it is asked about."""

from hypothesis import given
from hypothesis import strategies as st

from reviser.core.edits import Edit
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.next_edits.prompt import overtyped, prompt_ids, recent_edit, shown_ids
from reviser.next_edits.windows import windows

VOCABULARY = Vocabulary.gpt2()
TOKENIZER = Gpt2Tokenizer()


def carried_out(draft: list[int], ids: list[int]) -> list[int]:
    """What overtyping a draft with ids gives."""
    written: list[int] = []
    place = 0
    for id in ids:
        if id == VOCABULARY.delete_id:
            place += 1
        else:
            written.append(id)
            if place < len(draft) and draft[place] == id:
                place += 1
    return written


def test_an_excerpt_shows_whole_words_beside_an_edit() -> None:
    text = "The quick brown fox jumps over the lazy dog near the bank of the wide river"
    edit = recent_edit(text.replace("lazy", "sleepy"), Edit(text.index("lazy"), "lazy", "sleepy"))
    assert edit.before == " brown fox jumps over the "
    assert edit.after == " dog near the bank of "
    assert edit.revised == " brown fox jumps over the sleepy dog near the bank of "


def test_a_prompt_shows_edits_in_the_language_of_overtyping() -> None:
    edit = recent_edit("Send an email now", Edit(8, "e-mail", "email"))
    ids = prompt_ids(VOCABULARY, shown_ids(VOCABULARY, TOKENIZER, [edit]), TOKENIZER.encode("x y"))
    assert ids[0] == VOCABULARY.start_id
    assert ids.count(VOCABULARY.draft_id) == ids.count(VOCABULARY.overtype_id) == 2
    assert ids[-1] == VOCABULARY.overtype_id
    marker = ids.index(VOCABULARY.overtype_id)
    draft, rest = ids[2:marker], ids[marker + 1 : ids.index(VOCABULARY.stop_id)]
    assert carried_out(draft, rest) == TOKENIZER.encode("Send an email now")


@given(st.text("ab c-", max_size=12), st.text("ab c-", max_size=12))
def test_a_change_between_two_texts_gives_the_second(one: str, other: str) -> None:
    draft, revised = TOKENIZER.encode(one), TOKENIZER.encode(other)
    start, removed, ids = overtyped(VOCABULARY, draft, revised)
    new = [id for id in ids if id != VOCABULARY.delete_id]
    assert ids.count(VOCABULARY.delete_id) == removed
    assert draft[:start] + new + draft[start + removed :] == revised


def test_only_the_last_edits_are_shown() -> None:
    edits = [recent_edit(f"term{number}", Edit(0, "word", "term")) for number in range(6)]
    ids = shown_ids(VOCABULARY, TOKENIZER, edits)
    assert ids == shown_ids(VOCABULARY, TOKENIZER, edits[-4:])


@given(st.text("ab. \n", max_size=300), st.integers(1, 40))
def test_windows_cover_a_text_in_order(text: str, longest: int) -> None:
    found = windows(text, longest)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(end - start <= longest or " " not in text[start:end].strip() for start, end in found)
