"""What runs leave outside of their objects, in caches and to the background: true rules, or none proved."""

import os
from collections.abc import Generator
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from tests.integrations import leaving
from tests.integrations.known import BAD
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts


@pytest.fixture(autouse=True)
def environment() -> Generator[None, None, None]:
    os.environ.pop(leaving.KEY, None)
    yield
    os.environ.pop(leaving.KEY, None)


def explainer_of(build: leaving.Leaving, **parameters: Any) -> Any:
    retriever = Counting(documents=facts("abd"))
    model = Telling(says=lambda messages: leaving.said(messages[0].text))
    answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    return RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact", **parameters)


@pytest.mark.parametrize("shape", leaving.SHAPES, ids=lambda shape: shape.name)
def test_no_rule_that_rests_on_what_another_run_left_is_proved(shape: leaving.Shape) -> None:
    leaving.check(shape, explainer_of(shape.build).explain("why?"))
