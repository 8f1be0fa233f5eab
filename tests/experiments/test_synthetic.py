"""Mock sources, and a model and a judge that never err."""

import asyncio
from itertools import combinations
from typing import cast

import pytest

from rag_rule_explainer import Answer, InvalidInput, consistent_with
from rag_rule_explainer.experiments.models import NO_ANSWER
from rag_rule_explainer.experiments.synthetic import PerfectJudge, examples, perfect_model
from rag_rule_explainer.predicates import Candidate, JudgeRequest, Matter, near_exact
from rag_rule_explainer.sources import Source


def said(question: str, sources: tuple[Source, ...]) -> str:
    replay = perfect_model().replay

    async def asked() -> str:
        answer = replay(question, sources)
        assert not isinstance(answer, (str, Answer))
        return cast("str", await answer)

    return asyncio.run(asked())


@pytest.mark.parametrize("necessary", [1, 2, 4])
def test_the_model_knows_the_code_iff_it_is_shown_all_parts(necessary: int) -> None:
    (example,) = examples(1, 3, necessary, 6)
    assert len(example.necessary) == example.hops == necessary
    told = f"The code is {example.answer}."
    for size in range(1, 7):
        for shown in combinations(example.sources, size):
            ids = {source.id for source in shown}
            expected = told if ids.issuperset(example.necessary) else NO_ANSWER
            assert said(example.question, shown) == expected


def test_examples_are_drawn_from_the_seed() -> None:
    many = list(examples(50, 1))
    assert many == list(examples(50, 1))
    assert many[:10] == list(examples(10, 1))
    assert many != list(examples(50, 2))
    assert len({example.necessary for example in many}) > 10
    assert len({example.answer for example in many}) > 40
    assert all(len(example.sources) == 10 for example in many)
    with pytest.raises(InvalidInput, match="3 of 2 sources cannot be necessary"):
        list(examples(1, 0, 3, 2))


def test_the_judge_agrees_with_the_truth_alone() -> None:
    matter = Matter("says so", "?", truth="amber1 birch2")
    answers = ("The code is amber1 birch2.", "The code is amber1.", NO_ANSWER, "amber1 birch2 or jade3")
    candidates = tuple(Candidate(str(place), answer) for place, answer in enumerate(answers))
    opinions = PerfectJudge()(JudgeRequest("", "", matter, candidates))
    assert opinions == {"0": True, "1": False, "2": False, "3": False}
    # Otherwise nobody would need the judge.
    assert near_exact(answers[0]) != near_exact("amber1 birch2")
    assert consistent_with("amber1 birch2", judge=PerfectJudge()).jury is not None
