"""Cases of next edits: what is to come after the first edits, and which changes are right."""

from benchmarks.next_edits.cases import case_of, right_edits
from benchmarks.next_edits.command import score
from benchmarks.next_edits.reading import Proposal
from reviser.core.edits import Edit
from training.edits.sessions.session import EditSession

TEXT = "An e-mail here, an e-mail there, a third e-mail."
PLACES = [at for at in range(len(TEXT)) if TEXT.startswith("e-mail", at)]
SESSION = EditSession(TEXT, tuple(Edit(at, "e-mail", "email") for at in PLACES))


def test_a_case_has_the_first_edits_made() -> None:
    case = case_of(SESSION, 1)
    assert case.text == "An email here, an e-mail there, a third e-mail."
    assert case.taken == ((3, 8),)
    assert case.repeated == len(case.to_come) == 2


def test_a_change_is_right_if_it_gives_the_authors_text() -> None:
    case = case_of(SESSION, 1)
    second, third = (at for at in range(len(case.text)) if case.text.startswith("e-mail", at))
    assert right_edits(case, Edit(second, "e-mail", "email")) == 1
    assert right_edits(case, Edit(second + 1, "-", "")) == 1
    assert right_edits(case, Edit(second, "e-mail", "post")) == 0
    assert right_edits(case, Edit(0, "An", "The")) == 0
    assert right_edits(case, Edit(third, "e-mail.", "email.")) == 1
    both = case.text[second : third + 6]
    assert right_edits(case, Edit(second, both, both.replace("e-mail", "email"))) == 2


def test_a_score_counts_the_proposals_of_enough_confidence() -> None:
    case = case_of(SESSION, 2)
    place = case.text.index("e-mail")
    proposals = [
        Proposal(Edit(place, "e-mail", "email"), 0.8),
        Proposal(Edit(0, "An", "The"), 0.6),
        Proposal(Edit(0, "An", "One"), 0.1),
    ]
    found = score([case], [proposals], 0.5)
    assert (found.shown, found.right, found.found) == (2, 1, 1)
