"""What runs leave to others, outside of their objects or on them: true rules, or none proved."""

import os
from collections.abc import Generator
from typing import Any

import pytest
from llama_index_rag_rule_explainer import RuleExplainer

from tests.integrations.known import BAD
from tests.integrations.leaving.parts import KEY, Leaving, said
from tests.integrations.leaving.shapes import SHAPES, Shape, check
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling


@pytest.fixture(autouse=True)
def environment() -> Generator[None, None, None]:
    os.environ.pop(KEY, None)
    yield
    os.environ.pop(KEY, None)


def explainer_of(build: Leaving, **parameters: Any) -> Any:
    retriever, model = retriever_of(), Telling(says=said)
    answer = build(
        lambda question: [found.text for found in retriever.retrieve(question)],
        lambda prompt: model.complete(prompt).text,
    )
    return RuleExplainer(answer, predicate=BAD, miner="exact", **parameters)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_no_rule_that_rests_on_what_another_run_left_is_proved(shape: Shape) -> None:
    check(shape, explainer_of(shape.build).explain("why?"))
