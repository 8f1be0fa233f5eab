"""Every shape of application, asked in every way: its known rules or its named refusal."""

import asyncio
import sys
from typing import Any

import pytest
from langchain_classic.base_memory import BaseMemory
from langchain_core.caches import BaseCache
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.stores import BaseStore
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore
from langchain_rag_rule_explainer import Explained, RuleExplainer
from langchain_rag_rule_explainer.interception import interception
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel._loop import PregelLoop
from langgraph.store.base import BaseStore as LongTermStore

from rag_rule_explainer import Explanation
from tests.documentation.making import tables
from tests.integrations.classes import changed, entries
from tests.integrations.known import BAD, kept_delivered_and_seen, omission, retention
from tests.integrations.langchain.zoo.shapes import MODES, OTHER_WORDS, QUESTION, Built, Mode, Shape
from tests.integrations.langchain.zoo.table import ROOMS, SHAPES, outcome_table
from tests.representing import some_of_each

# LangChain silences warnings of its own in a way that is not thread-safe: now and then one gets through,
# and would fail a replay.
pytestmark = pytest.mark.filterwarnings("ignore")
ROOTS: tuple[type, ...] = (
    BaseRetriever,
    VectorStore,
    BaseTool,
    RunnableWithMessageHistory,
    BaseMemory,
    BaseCheckpointSaver,
    BaseChatMessageHistory,
    BaseStore,
    LongTermStore,
    BaseCache,
    PregelLoop,
)
Outcome = Explanation | Exception


def outcomes(built: Built, mode: Mode) -> list[Outcome]:
    explainer: Any = RuleExplainer(built.application, predicate=BAD, miner="exact", **built.parameters)
    if mode == "batch":
        found = explainer.batch(*built.several(), return_exceptions=True)
        return [each.explanation if isinstance(each, Explained) else each for each in found]
    try:
        if mode == "sync":
            return [explainer.explain(built.given, built.config)]
        return [asyncio.run(explainer.aexplain(built.given, built.config))]
    except Exception as error:
        return [error]


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize(
    "mode", [MODES[0], *(pytest.param(mode, marks=pytest.mark.slow) for mode in MODES[1:])]
)
@pytest.mark.parametrize(
    "shape", some_of_each((room.SHAPES for room in ROOMS), every=3), ids=lambda shape: shape.name
)
def test_the_rules_of_every_shape_are_the_known_ones(shape: Shape, mode: Mode) -> None:
    if mode == "async" and sys.version_info < shape.async_since:
        pytest.skip("LangGraph itself cannot run this asynchronously on this Python")
    built = shape.build()
    before = entries(ROOTS)
    found = outcomes(built, mode)
    assert changed(before, ROOTS) == []
    words = OTHER_WORDS if mode == "batch" else [QUESTION]
    for outcome, question in zip(found, words, strict=True):
        if shape.refusal is not None:
            with pytest.raises(shape.refusal, match=f"(?s){shape.says}"):
                is_as_known(outcome, shape, question)
        else:
            is_as_known(outcome, shape, question)
    assert built.live() == sum(retrievals(shape, outcome) for outcome in found)


def is_as_known(outcome: Outcome, shape: Shape, question: str) -> None:
    if isinstance(outcome, Exception):
        raise outcome
    assert outcome.question == question
    assert retention(outcome) == shape.retention
    assert omission(outcome) == shape.omission
    assert outcome.ended == shape.complete
    assert outcome.scope == "seen"
    kept_delivered_and_seen(outcome)
    shape.more(outcome)


def retrievals(shape: Shape, outcome: Outcome) -> int:
    """How often a shape really retrieves: in its baseline, or whenever it is run."""
    if shape.live is not None:
        return shape.live
    assert isinstance(outcome, Explanation)
    return outcome.counts.replays


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.__name__)
def test_what_is_intercepted_is_what_is_compared(root: type) -> None:
    before = entries(ROOTS)
    with interception.intercepting():
        assert root in {owner for owner, _ in changed(before, ROOTS)}
    assert changed(before, ROOTS) == []


def test_there_are_enough_shapes_and_each_has_its_own_name() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES) >= 28


def test_the_documentation_has_the_table() -> None:
    assert outcome_table() in tables.PAGE.read_text(encoding="utf-8"), "write it: see tables"
