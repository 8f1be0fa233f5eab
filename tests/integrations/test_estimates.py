"""What an estimate says is held against what explaining really takes, over all shapes of applications."""

from collections.abc import Iterator
from statistics import median
from typing import Any, NamedTuple

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer as ChainExplainer
from llama_index_rag_rule_explainer import RuleExplainer as EngineExplainer

from rag_rule_explainer import Assumptions, Estimate, Explanation
from tests.drawing import examples, few
from tests.integrations.known import BAD
from tests.integrations.langchain.chains import Counting, step
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo.table import SHAPES as CHAINS
from tests.integrations.llama_index.zoo.table import SHAPES as ENGINES

# Both frameworks warn of what they themselves do.
pytestmark = pytest.mark.filterwarnings("ignore")

NOT_FORESEEN = {"RouterQueryEngine, several chosen"}
"""Retrieve again after a model was shown what they found first, where an estimate has stopped."""
CHARACTERS = Assumptions(answer_tokens=len("good news"), count_tokens=len)


class Course(NamedTuple):
    name: str
    estimate: Estimate
    explanation: Explanation

    @property
    def replays(self) -> int:
        return self.explanation.counts.replays - self.explanation.counts.retries

    @property
    def is_bounded(self) -> bool:
        return self.estimate.best.replays <= self.replays <= self.estimate.worst.replays

    def __str__(self) -> str:
        estimate = self.estimate
        courses = f"{estimate.best.replays:>5}{self.replays:>7}{estimate.worst.replays:>6}"
        sources = f"{estimate.sources}/{len(self.explanation.sources)}"
        return f"{self.name[:60]:60}{sources:>6}{courses}{'' if self.is_bounded else '  out of bounds'}"


def courses(**settings: Any) -> Iterator[Course]:
    for chain in few(CHAINS):
        if chain.refusal is None:
            first, second = chain.build(), chain.build()
            given: Any = (first.given, first.config)
            estimate = ChainExplainer(
                first.application, predicate=BAD, **settings, **first.parameters
            ).estimate(*given)
            given = (second.given, second.config)
            explained = ChainExplainer(
                second.application, predicate=BAD, **settings, **second.parameters
            ).explain(*given)
            yield Course(chain.name, estimate, explained)
    for engine in few(ENGINES):
        if engine.refusal is None:
            one, two = engine.build(), engine.build()
            told: Any = {"predicate": engine.predicate, **settings}
            estimate = EngineExplainer(one.application, **told, **one.parameters).estimate(one.given)
            explained = EngineExplainer(two.application, **told, **two.parameters).explain(two.given)
            yield Course(engine.name, estimate, explained)


@pytest.mark.spread(slow=2)
@pytest.mark.slow
@pytest.mark.usefixtures("own_loop")
@pytest.mark.parametrize("settings", [{}, {"rules": "retention"}], ids=["defaults", "retention"])
def test_best_and_worst_are_bounds_over_both_zoos(settings: dict[str, Any]) -> None:
    found = list(courses(**settings))
    print(f"\n{'shape':60}{'found':>6}{'best':>5}{'actual':>7}{'worst':>6}", *found, sep="\n")
    known = [course for course in found if course.name not in NOT_FORESEEN]
    assert len(known) >= examples(80)
    assert [course.name for course in known if not course.is_bounded] == []
    above = [course.estimate.worst.replays / course.replays for course in known]
    below = [course.replays / course.estimate.best.replays for course in known]
    print(f"median worst/actual {median(above):.2f}, median actual/best {median(below):.2f}")
    assert median(above) <= 4
    assert median(below) <= 3


def test_requests_before_the_retrieval_are_part_of_every_replay() -> None:
    rewriting, model = Telling(says=lambda _: "why indeed?"), Telling()
    found = Counting(documents=facts("abd"))
    chain: Any = (
        rewriting
        | step(lambda said: said.text)
        | found
        | (lambda documents: "".join(each.page_content for each in documents))
        | model
    )
    explainer = ChainExplainer(chain, predicate=BAD, miner="exhaustive")
    estimate = explainer.estimate("how come?", assuming=CHARACTERS)
    assert estimate.requests == 2
    before = len(rewriting.asked)
    explanation = explainer.explain("how come?")
    assert explanation.counts.replays == len(rewriting.asked) - before
    # One was made again at the end. Where an application holds something else by then, up to eight are,
    # as many as there are subsets here, and seven with what it held before.
    assert estimate.worst.replays == explanation.counts.replays - 1 + 8 + 7
    sent = sum(
        len("Human: how come?") + sum(len(text.page_content) for text in facts(shown))
        for shown in [*model.asked, *["abd"] * 14]
    )
    assert abs(estimate.worst.input_tokens - sent) <= 0.2 * sent
    assert estimate.worst.output_tokens == estimate.worst.replays * len("why indeed?good news")
    assert "2 model requests a replay; an agent" in str(estimate)


def test_documents_shown_one_at_a_time_have_a_request_each() -> None:
    model = Telling()
    found = Counting(documents=facts("abcd"))

    def refined(question: str) -> str:
        answers = [
            model.invoke(f"{question} {each.page_content}").text for each in found.invoke(question)
        ]
        return "bad news" if len(answers) > 3 else "good news"

    explainer = ChainExplainer(RunnableLambda(refined), predicate=BAD, miner="exhaustive")
    estimate = explainer.estimate("why?")
    assert (estimate.requests, estimate.sources, model.asked) == (4, 4, [])
