"""Cases to judge, and what comes of it."""

from collections.abc import Sequence
from typing import Any

from rag_rule_explainer import Answer, Case, Judgement, Source, Verdict
from rag_rule_explainer.predicates import Predicate


def case(
    answer: str | Answer,
    *,
    kept: Sequence[str] = ("D1", "D2"),
    of: Sequence[str] = ("D1", "D2", "D3"),
    baseline: str | Answer = "baseline",
    titles: dict[str, Any] | None = None,
) -> Case:
    named = {each: Source(each, "text", {"title": (titles or {}).get(each)}) for each in (*of, *kept)}
    return Case(
        "question?",
        Answer.of(baseline),
        Answer.of(answer),
        tuple(named[each] for each in kept),
        tuple(named[each] for each in of),
    )


def judged(predicate: Predicate, given: Case) -> Judgement:
    judgement = predicate(given)
    assert isinstance(judgement, Judgement)
    return judgement


def holds(predicate: Predicate, given: Case) -> bool:
    judgement = judged(predicate, given)
    assert judgement.verdict is not Verdict.UNKNOWN
    return judgement.verdict is Verdict.HOLDS
