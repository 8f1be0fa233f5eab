"""The predicates on wording that answer pairs are judged by, each with the truth of its pair."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from rag_rule_explainer import LabelledCase, consistent_with, contains, equals, same_answer
from rag_rule_explainer.predicates import Predicate

Way: TypeAlias = Callable[[LabelledCase], Predicate]


def near_exactly(case: LabelledCase) -> Predicate:
    return consistent_with(case.truth or "")


WAYS: Mapping[str, Way] = {
    "consistent_with (near-exact)": near_exactly,
    "equals": lambda case: equals(case.truth or ""),
    "same_answer": lambda _: same_answer(),
    "same_answer(overlap=0.8)": lambda _: same_answer(overlap=0.8),
    "same_answer(overlap=0.5)": lambda _: same_answer(overlap=0.5),
    "contains": lambda case: contains(case.truth or ""),
}
