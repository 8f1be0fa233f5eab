"""Every application that remembers, derives or loops: its known rules, or its refusal and the way out."""

import asyncio
from functools import partial
from typing import Any, Literal

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from tests.integrations.known import BAD
from tests.integrations.langchain.zoo.stateful import ROOMS, SHAPES
from tests.integrations.stateful import Made, Outcome, Stateful, check_enough, check_explained
from tests.representing import some, some_of_each

# LangChain silences warnings of its own in a way that is not thread-safe: now and then one gets through,
# and would fail a replay.
pytestmark = pytest.mark.filterwarnings("ignore")
Mode = Literal["sync", "async"]
MODES = ["sync", pytest.param("async", marks=pytest.mark.slow)]
WAYS_OUT = [shape for shape in SHAPES if shape.way_out]


def outcome(made: Made, mode: Mode) -> Outcome:
    try:
        explainer: Any = RuleExplainer(made.application, predicate=BAD, miner="exact", **made.parameters)
        if mode == "sync":
            return explainer.explain(made.given, made.config)
        return asyncio.run(explainer.aexplain(made.given, made.config))
    except Exception as error:
        return error


@pytest.mark.spread(slow=3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shape", some_of_each((room.SHAPES for room in ROOMS), every=9), ids=lambda shape: shape.name
)
def test_every_shape_has_its_rules_or_is_refused(shape: Stateful, mode: Mode) -> None:
    check_explained(shape.build, partial(outcome, mode=mode), shape)


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", some(WAYS_OUT, every=4), ids=lambda shape: shape.name)
def test_every_refusal_has_a_way_out(shape: Stateful, mode: Mode) -> None:
    assert shape.way_out is not None
    check_explained(shape.way_out, partial(outcome, mode=mode), shape, way_out=True)


def test_there_are_enough_shapes_and_most_are_explained_as_they_are() -> None:
    check_enough(SHAPES)
