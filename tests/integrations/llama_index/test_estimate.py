"""Estimates retrieve once, and show no model what was retrieved."""

import sys
from contextlib import suppress
from typing import Any

import pytest
from llama_index.core.query_engine import CustomQueryEngine
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import NoSourcesCaptured
from tests.integrations.llama_index.engines import Counting, engine_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.shapes import Shape
from tests.integrations.llama_index.zoo.table import SHAPES

# LlamaIndex leaves connections of its in-memory databases to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore")


EXPLAINED = [shape for shape in SHAPES if shape.refusal is None]


@pytest.mark.spread(fast=2, slow=3)
@pytest.mark.parametrize(
    "shape",
    [
        # An estimate makes the one run that every explanation of the shape in ``test_zoo`` begins with.
        pytest.param(shape, id=shape.name, marks=() if place % 4 == 0 else pytest.mark.slow)
        for place, shape in enumerate(EXPLAINED)
    ],
)
def test_every_shape_can_be_estimated(shape: Shape) -> None:
    built = shape.build()
    remembered = built.memory()
    estimate = RuleExplainer(built.application, **built.parameters).estimate(built.given)
    assert 2 <= estimate.sources <= 4
    assert built.live() <= (shape.live or sys.maxsize)
    assert built.memory() == remembered


def test_no_model_is_shown_what_was_retrieved() -> None:
    shown: list[str] = []

    def says(prompt: str) -> str:
        shown.append(prompt)
        return "never"

    retriever = Counting(nodes("abcd"))
    estimate = RuleExplainer(engine_of(retriever, Telling(says=says))).estimate("why?")
    assert estimate.sources == 4
    assert estimate.prompt_tokens > 40
    assert (len(retriever.live), shown) == (1, [])


def test_what_retrieves_nothing_is_refused() -> None:
    with pytest.raises(NoSourcesCaptured):
        RuleExplainer(engine_of(Counting([]), Telling())).estimate("why?")


def test_an_application_that_survives_its_model_can_be_estimated() -> None:
    class Forgiving(CustomQueryEngine):
        engine: Any

        def custom_query(self, query_str: str) -> str:
            for _ in range(3):
                with suppress(Exception):
                    return str(self.engine.query(query_str))
            return "sorry"

    asked: list[str] = []

    def says(prompt: str) -> str:
        asked.append(prompt)
        return "never"

    retriever = Counting(nodes("abc"))
    engine = Forgiving(engine=engine_of(retriever, Telling(says=says)))
    estimate = RuleExplainer(engine).estimate("why?")
    assert (estimate.sources, asked) == (3, [])
    assert estimate.prompt_tokens > 30
