"""How predicates on the wording do on real answer pairs. The figures are measured, not wished for.

``make bench`` prints the whole table.
"""

from pathlib import Path

import pytest

from rag_rule_explainer import JudgeCheck, check_judge
from tests.checking.pairs import Kind, Pair, labelled, pairs_in
from tests.checking.ways import WAYS

pytestmark = pytest.mark.slow

NEAR_EXACT = "consistent_with (near-exact)"


@pytest.fixture
def pairs(real_data: Path) -> list[Pair]:
    return [pair for some in pairs_in(real_data).values() for pair in some]


def judged(pairs: list[Pair], way: str, *kinds: Kind) -> JudgeCheck:
    chosen = [pair for pair in pairs if pair.kind in kinds]
    return check_judge(labelled(chosen), predicate_of=WAYS[way])


def test_what_the_pairs_are(real_data: Path) -> None:
    counted = {
        name: tuple(sum(pair.kind == kind for pair in pairs) for kind in ("truth", "alias", "other"))
        for name, pairs in pairs_in(real_data).items()
    }
    assert counted == {
        "HotpotQA": (299, 0, 299),
        "2WikiMultiHopQA": (150, 0, 150),
        "MuSiQue": (100, 53, 100),
        "PoisonedRAG": (300, 15, 300),
        "RAMDocs": (400, 0, 575),
    }


@pytest.mark.parametrize("way", WAYS)
def test_every_truth_is_itself(pairs: list[Pair], way: str) -> None:
    check = judged(pairs, way, "truth")
    assert (check.tp, check.fn, check.unknown) == (1249, 0, 0)
    assert check.false_positive_rate.value is None


@pytest.mark.parametrize(
    ("way", "taken"),
    [
        (NEAR_EXACT, 0),
        ("equals", 0),
        ("same_answer", 0),
        ("same_answer(overlap=0.8)", 1),
        ("same_answer(overlap=0.5)", 62),
        ("contains", 1),
    ],
)
def test_other_answers_that_are_taken_for_the_truth(pairs: list[Pair], way: str, taken: int) -> None:
    check = judged(pairs, way, "other")
    assert (check.fp, check.tn) == (taken, 1424 - taken)


@pytest.mark.parametrize(
    ("way", "seen"),
    [
        (NEAR_EXACT, 5),
        ("equals", 0),
        ("same_answer", 4),
        ("same_answer(overlap=0.8)", 19),
        ("same_answer(overlap=0.5)", 33),
        ("contains", 7),
    ],
)
def test_aliases_that_are_seen_to_be_the_truth(pairs: list[Pair], way: str, seen: int) -> None:
    check = judged(pairs, way, "alias")
    assert (check.tp, check.fn) == (seen, 68 - seen)


def test_near_exact_match_never_takes_another_answer_and_misses_most_aliases(pairs: list[Pair]) -> None:
    check = judged(pairs, NEAR_EXACT, "truth", "alias", "other")
    assert check.precision.low is not None
    assert check.precision.low > 0.996
    assert check.false_positive_rate.high is not None
    assert check.false_positive_rate.high < 0.003
    assert check.recall.value == pytest.approx(1254 / 1317)
    assert {each.verdict.value for each in check.disagreements} == {"breaks"}
    assert check.warnings == ()
