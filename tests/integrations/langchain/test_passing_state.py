"""What runs count and may forget again: rules that rest on it are never proved."""

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.leaving.parts import Leaving, said
from tests.integrations.passing_state import GOOD, REMEMBERING, a_breaker_that_only_counts, check


def explainer_of(build: Leaving) -> Any:
    retriever = Counting(documents=facts("abcd"))
    model = Telling(says=lambda messages: said(messages[0].text))
    answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    return RuleExplainer(RunnableLambda(answer), predicate=GOOD, miner="exact")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("build", [*REMEMBERING, a_breaker_that_only_counts])
def test_no_rule_that_rests_on_what_was_counted_is_proved(build: Leaving) -> None:
    check(build, lambda: explainer_of(build).explain("why?"))


@pytest.mark.slow
@pytest.mark.parametrize("build", [*REMEMBERING, a_breaker_that_only_counts])
def test_nor_is_it_in_an_event_loop(build: Leaving) -> None:
    check(build, lambda: asyncio.run(explainer_of(build).aexplain("why?")))
