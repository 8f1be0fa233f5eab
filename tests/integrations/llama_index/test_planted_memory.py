"""A memory planted into every application of the zoo: kept apart, or refused, and never a false rule."""

from typing import Any

import pytest
from llama_index_rag_rule_explainer import RuleExplainer

from tests.integrations.known import BAD
from tests.integrations.llama_index.planting import (
    MEMORIES,
    around_the_application,
    around_the_models,
    heeding_what_is_told,
)
from tests.integrations.llama_index.zoo.shapes import Built, Shape
from tests.integrations.llama_index.zoo.table import SHAPES
from tests.integrations.planting import Planted, counted, listed, sampled
from tests.integrations.stateful import Outcome

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]
EXPLAINED = [shape for shape in SHAPES if shape.refusal is None and shape.predicate is BAD]


def outcome(built: Built) -> Outcome:
    try:
        explainer: Any = RuleExplainer(
            built.application, predicate=BAD, miner="exact", **built.parameters
        )
        return explainer.explain(built.given)
    except Exception as error:
        return error


def planted_into_models(shape: Shape, kind: str) -> Planted:
    memory = MEMORIES[kind]()
    try:
        with around_the_models(memory):
            found = outcome(shape.build())
    finally:
        memory.forget()
    return Planted.of(shape.name, found, shape.retention, shape.omission)


def planted_into_the_application(shape: Shape, kind: str) -> Planted | None:
    memory = MEMORIES[kind]()
    try:
        built = around_the_application(shape.build(), memory)
        if built is None:
            return None
        with heeding_what_is_told():
            found = outcome(built)
    finally:
        memory.forget()
    return Planted.of(shape.name, found, shape.retention, shape.omission)


PLANTS = {"models": planted_into_models, "application": planted_into_the_application}


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize("where", PLANTS)
@pytest.mark.parametrize("kind", MEMORIES)
def test_no_memory_makes_a_false_rule(kind: str, where: str) -> None:
    """Of every shape, with one of the kinds in one of the places."""
    few = sampled(EXPLAINED, kind, where, MEMORIES)
    planted = [made for shape in few if (made := PLANTS[where](shape, kind))]
    print(f"{kind}, around the {where}: {counted(planted)}")
    assert not listed(planted, "wrong", "error")


@pytest.mark.nightly
@pytest.mark.parametrize("where", PLANTS)
@pytest.mark.parametrize("kind", MEMORIES)
def test_no_memory_makes_a_false_rule_in_any_shape(kind: str, where: str) -> None:
    planted = [made for shape in EXPLAINED if (made := PLANTS[where](shape, kind))]
    print(f"{kind}, around the {where}: {counted(planted)}")
    assert not listed(planted, "wrong", "error")
