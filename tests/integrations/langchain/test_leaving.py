"""What runs leave to others, outside of their objects or on them: true rules, or none proved."""

import os
from collections.abc import Generator
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from tests.integrations.known import BAD
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.leaving.parts import KEY, Leaving, said
from tests.integrations.leaving.shapes import SHAPES, Shape, check


@pytest.fixture(autouse=True)
def environment() -> Generator[None, None, None]:
    os.environ.pop(KEY, None)
    yield
    os.environ.pop(KEY, None)


def explainer_of(build: Leaving, **parameters: Any) -> Any:
    retriever = Counting(documents=facts("abd"))
    model = Telling(says=lambda messages: said(messages[0].text))
    answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    return RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact", **parameters)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_no_rule_that_rests_on_what_another_run_left_is_proved(shape: Shape) -> None:
    check(shape, explainer_of(shape.build).explain("why?"))
