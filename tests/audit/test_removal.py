"""The smallest removal, held against all sets of documents, and its bound where the solver gives up."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.audit.documents import DocumentKey
from rag_rule_explainer.audit.removal import Choices, Removal, cover
from tests.audit.brute import Kept, Log, logs


def smallest(log: Log, ended: list[str]) -> int:
    """The size of the smallest set without which no subset of these questions is bad."""
    questions = [each for each in log.questions if each.id in ended]
    names = sorted({name for each in questions for name in each.shown})
    sets = (frozenset(each) for size in range(len(names) + 1) for each in combinations(names, size))
    return next(len(each) for each in sets if all(one.is_ended_by(each) for one in questions))


@given(log=logs(most_questions=5))
def test_it_ends_the_bad_answers_and_no_smaller_set_does(log: Log) -> None:
    removal = log.audited().removal
    bad = [each for each in log.questions if each.is_so("bad", each.everything)]
    removed: Kept = frozenset(removal.documents)
    assert [*removal.ended] == [each.id for each in bad if each.is_ended_by(each.everything)]
    assert [name for name, _ in removal.not_ended] == [
        each.id for each in bad if each.id not in removal.ended
    ]
    for each in bad:
        if each.id in removal.ended:
            assert each.is_ended_by(removed)
    assert removal.is_smallest
    assert len(removed) == smallest(log, [*removal.ended])
    assert (removal.claim == "proved") is bool(removal.ended)


KEYS = [DocumentKey(name, name) for name in "abcdefgh"]
CHOICES: st.SearchStrategy[Choices] = st.frozensets(
    st.frozensets(st.sampled_from(KEYS), min_size=1, max_size=3), min_size=1, max_size=3
)


def brute(questions: list[Choices]) -> int:
    sets = (frozenset(each) for size in range(len(KEYS) + 1) for each in combinations(KEYS, size))
    return next(len(each) for each in sets if covers(each, questions))


def covers(taken: frozenset[DocumentKey], questions: list[Choices]) -> bool:
    return all(any(choice <= taken for choice in choices) for choices in questions)


@given(questions=st.lists(CHOICES, max_size=7), most_cores=st.sampled_from([0, 1, 2000]))
def test_a_search_that_gives_up_says_so_and_its_bound_holds(
    questions: list[Choices], most_cores: int
) -> None:
    found, at_least = cover(questions, most_cores)
    assert covers(found, questions)
    exact = brute(questions)
    assert at_least <= exact <= len(found)
    if most_cores > 1:
        assert at_least == exact == len(found)


def test_a_search_can_give_up() -> None:
    """The graph of Petersen: its pairs need six of ten documents, which no single core tells."""
    outer = [(place, (place + 1) % 5) for place in range(5)]
    inner = [(5 + place, 5 + (place + 2) % 5) for place in range(5)]
    pairs = [*outer, *inner, *((place, place + 5) for place in range(5))]
    keys = [DocumentKey(str(place), "") for place in range(10)]
    questions = [frozenset({frozenset({keys[one]}), frozenset({keys[other]})}) for one, other in pairs]
    assert cover(questions)[1] == len(cover(questions)[0]) == 6
    found, at_least = cover(questions, 0)
    assert covers(found, questions)
    assert at_least < 6 <= len(found)


ENDS = "removing 3 documents ends 2 bad answers"
AT_LEAST_TWO = "whether fewer do is not known, but at least 2 are needed"


@pytest.mark.parametrize(
    ("removal", "said"),
    [
        (Removal((), (), (), None, 0), "there is no bad answer to end"),
        (
            Removal((), (), (("q", "why"),), None, 0),
            "no bad answer is ended for certain by the removal of documents",
        ),
        (
            Removal(("a",), ("q",), (), "proved", 1),
            "removing 1 document ends 1 bad answer [proved]; no smaller set does",
        ),
        (
            Removal(("a", "b", "c"), ("q", "r"), (("s", "why"),), "tested", 2),
            f"{ENDS} [tested]; {AT_LEAST_TWO}; 1 bad answer is left",
        ),
    ],
)
def test_it_is_told_in_words(removal: Removal, said: str) -> None:
    assert str(removal) == said
