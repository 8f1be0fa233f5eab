"""What runs count and may forget again: rules that rest on it are never proved."""

import asyncio
from typing import Any

import pytest
from llama_index_rag_rule_explainer import RuleExplainer

from tests.integrations.leaving.parts import Leaving, said
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.passing_state import GOOD, REMEMBERING, a_breaker_that_only_counts, check


def explainer_of(build: Leaving) -> Any:
    retriever, model = retriever_of("abcd"), Telling(says=said)
    answer = build(
        lambda question: [found.text for found in retriever.retrieve(question)],
        lambda prompt: model.complete(prompt).text,
    )
    return RuleExplainer(answer, predicate=GOOD, miner="exact")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("build", [*REMEMBERING, a_breaker_that_only_counts])
def test_no_rule_that_rests_on_what_was_counted_is_proved(build: Leaving) -> None:
    check(build, lambda: explainer_of(build).explain("why?"))


@pytest.mark.slow
@pytest.mark.parametrize("build", [*REMEMBERING, a_breaker_that_only_counts])
def test_nor_is_it_in_an_event_loop(build: Leaving) -> None:
    check(build, lambda: asyncio.run(explainer_of(build).aexplain("why?")))
