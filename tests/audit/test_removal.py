"""The smallest removal, held against all sets of documents, and its bound where the solver gives up."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Explainer, Noise, Source
from rag_rule_explainer.audit import Audit, LoggedQuestion, audit
from rag_rule_explainer.audit.covering import Choices, cover
from rag_rule_explainer.audit.documents import DocumentKey
from rag_rule_explainer.audit.removal import Removal
from tests.audit.brute import BAD, Kept, Log, logs


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


def test_the_exact_search_finds_less_than_taking_the_most_useful_document_first() -> None:
    """Two documents end all answers, half of them each. Others end more than a half of what is left, but
    three of them are needed."""
    halves = [["g1"] * 4 + ["g2"] * 2 + ["g3"] for _ in range(2)]
    names = [
        (half, greedy, f"own {half}{place}")
        for half, others in zip("ab", halves, strict=True)
        for place, greedy in enumerate(others)
    ]
    questions = [frozenset(frozenset({DocumentKey(name, "")}) for name in each) for each in names]
    exact, at_least = cover(questions)
    assert {each.name for each in exact} == {"a", "b"}
    assert at_least == 2
    greedy, at_least = cover(questions, 0)
    assert {each.name for each in greedy} == {"g1", "g2", "g3"}
    assert at_least <= 2


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


def parted(says: str, *names: str) -> list[Source]:
    return [Source(name, f"{says} {name}") for name in names]


LONG = " ".join(f"word{place}" for place in range(60))
TWINS = [Source("a", LONG), Source("b", f"{LONG} too")]
OTHERS = parted("an own text of", "c", "d", "e")


def audited(is_bad: Callable[[Kept], bool], shown: list[Source], **settings: Any) -> Audit:
    def says(_: str, sources: Sequence[Source]) -> str:
        return "bad" if is_bad(frozenset(each.id for each in sources)) else "fine"

    explainer = Explainer(says, check_repeatable=False, **settings)
    return audit(explainer, [LoggedQuestion("q", "why?", None, tuple(shown))], BAD)


def test_documents_that_were_only_removed_together_are_no_proof_of_each_alone() -> None:
    """The answer is bad with one of the twins alone, which was never asked."""

    def is_bad(kept: Kept) -> bool:
        return "c" in kept or len(kept & {"a", "b"}) == 1

    found = audited(is_bad, [*TWINS, *OTHERS[:1]], merge_duplicates=True).removal
    assert found.documents == ("c",)
    assert found.claim == "relative"
    assert str(found) == (
        "removing 1 document ends 1 bad answer [relative: near-duplicates were only retained or omitted "
        "together]; no smaller set does"
    )
    whole = audited(lambda kept: bool(kept & {"a", "b"}), [*TWINS, *OTHERS], merge_duplicates=True)
    both = whole.removal
    assert (both.documents, both.claim, both.limits) == (("a", "b"), "proved", ())


def test_an_answer_that_may_come_back_on_a_share_of_subsets_is_not_ended() -> None:
    shown = [*OTHERS, *parted("a text of", "f", "g")]

    def is_bad(kept: Kept) -> bool:
        return "c" in kept or kept == frozenset("df")

    whole = audited(is_bad, shown, noise=Noise(min_confidence=0.9))
    assert whole.document("c").decisive == []
    found = whole.removal
    assert (found.documents, found.ended, found.rare, found.claim) == (("c",), (), ("q",), None)
    subsets = [frozenset(each) for size in range(5) for each in combinations("defg", size)]
    assert found.confidence == sum(not is_bad(each) for each in subsets) / len(subsets)
    assert str(found) == (
        "removing 1 document keeps 1 bad answer away on 93.7 % of the subsets or more [confident]; "
        "no smaller set does"
    )
    whole = audited(lambda kept: "c" in kept, shown, noise=Noise(min_confidence=0.9))
    assert whole.document("c").decisive == ["q"]
    everywhere = whole.removal
    assert (everywhere.ended, everywhere.rare, everywhere.claim) == (("q",), (), "proved")


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
