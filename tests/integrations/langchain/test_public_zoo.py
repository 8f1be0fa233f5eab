"""Applications in the style of public ones, asked in every way: their known rules, or the way out."""

import asyncio
import sys
from typing import Any

import pytest
from langchain_rag_rule_explainer import RuleExplainer, explained

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD
from tests.integrations.langchain.streams import rules_in, shape
from tests.integrations.langchain.zoo import artifacts, contexts, humans, research
from tests.integrations.public import FEW, Public, in_every_way
from tests.integrations.stateful import Made

# LangChain silences warnings of its own in a way that is not thread-safe: now and then one gets through,
# and would fail a replay.
pytestmark = pytest.mark.filterwarnings("ignore")
ROOMS = (humans, contexts, artifacts, research)
SHAPES: tuple[Public, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
GRAPHS = [each for each in SHAPES if each.refusal is None and not each.is_function]


def asked(made: Made, awaiting: bool) -> Explanation:
    explainer: Any = RuleExplainer(made.application, predicate=BAD, miner="exact", **made.parameters)
    if awaiting:
        return asyncio.run(explainer.aexplain(made.given, made.config, **made.keywords))
    return explainer.explain(made.given, made.config, **made.keywords)


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize(("each", "found", "awaiting"), in_every_way(SHAPES))
def test_every_shape_has_its_rules_or_its_way_out(each: Public, found: str, awaiting: bool) -> None:
    if awaiting and sys.version_info < each.async_since:
        pytest.skip("LangGraph itself cannot run this asynchronously on this Python")
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
@pytest.mark.parametrize("mode", ["values", "updates", "messages", ["updates", "messages", "custom"]])
@pytest.mark.parametrize("each", GRAPHS, ids=lambda each: each.name)
def test_every_graph_is_streamed_as_it_is_and_ends_with_its_rules(each: Public, mode: Any) -> None:
    made, other = each.build(FEW), each.build(FEW)
    asked = {"stream_mode": mode}
    plain = asyncio.run(streamed(other.application, other, asked))
    *chunks, last = asyncio.run(
        streamed(explained(made.application, predicate=BAD, **made.parameters), made, asked)
    )
    assert sorted(map(repr, map(shape, chunks))) == sorted(map(repr, map(shape, plain)))
    assert rules_in(last) == [["b", "d"]]


async def streamed(application: Any, made: Made, asked: dict[str, Any]) -> list[Any]:
    chunks = application.astream(made.given, made.config, **made.keywords, **asked)
    return [chunk async for chunk in chunks]


def test_there_are_enough_shapes_and_each_refusal_has_a_way_out() -> None:
    assert len({each.name for each in SHAPES}) == len(SHAPES) >= 27
    assert all((each.refusal is None) == (each.way_out is None) for each in SHAPES)
