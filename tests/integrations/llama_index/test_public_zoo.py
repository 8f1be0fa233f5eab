"""Applications in the style of public ones, asked in every way: their known rules, or the way out."""

import asyncio
from typing import Any

import pytest
from llama_index_rag_rule_explainer import RuleExplainer, explained

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD
from tests.integrations.llama_index.zoo import humans, research, workflows
from tests.integrations.public import FEW, Public, in_every_way
from tests.integrations.stateful import Made

# LlamaIndex leaves connections of its in-memory databases to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore")
ROOMS = (humans, workflows, research)
SHAPES: tuple[Public, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
RUN = [each for each in SHAPES if each.refusal is None and not each.is_function]


def asked(made: Made, awaiting: bool) -> Explanation:
    explainer = RuleExplainer(made.application, predicate=BAD, miner="exact", **made.parameters)
    return asyncio.run(explainer.aexplain(made.given)) if awaiting else explainer.explain(made.given)


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize(("each", "found", "awaiting"), in_every_way(SHAPES))
def test_every_shape_has_its_rules_or_its_way_out(each: Public, found: str, awaiting: bool) -> None:
    build = each.build
    if each.refusal is not None:
        made = build(found)
        with pytest.raises(each.refusal, match=f"(?s){each.says}"):
            asked(made, awaiting)
        assert each.way_out is not None
        build = each.way_out
    made = build(found)
    before = made.memory()
    each.check(asked(made, awaiting))
    assert made.memory() == before


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize("each", RUN, ids=lambda each: each.name)
def test_every_workflow_is_run_as_it_is_and_ends_with_its_rules(each: Public) -> None:
    made, other = each.build(FEW), each.build(FEW)
    plain, _ = asyncio.run(run(other.application, other.given))
    told, done = asyncio.run(run(explained(made.application, predicate=BAD), made.given))
    assert told == plain
    each.check(done.explanation)


async def run(workflow: Any, given: Any) -> tuple[list[str], Any]:
    if isinstance(given, str):
        given = {"user_msg": given, "query": given}
    handler = workflow.run(**given) if isinstance(given, dict) else workflow.run(start_event=given)
    return sorted([type(event).__name__ async for event in handler.stream_events()]), await handler


def test_there_are_enough_shapes_and_each_refusal_has_a_way_out() -> None:
    assert len({each.name for each in SHAPES}) == len(SHAPES) >= 15
    assert all((each.refusal is None) == (each.way_out is None) for each in SHAPES)
