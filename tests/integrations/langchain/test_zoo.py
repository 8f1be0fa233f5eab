"""Every shape of application, asked in every way: its known rules or its named refusal."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_classic.base_memory import BaseMemory
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from rag_rule_explainer import Explanation
from tests.integrations.langchain.chains import BAD, Counting, omission, retention
from tests.integrations.langchain.zoo.shapes import MODES, Built, Mode, Shape, Store
from tests.integrations.langchain.zoo.table import README, SHAPES, written

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
CLASSES = (
    BaseRetriever,
    Counting,
    VectorStore,
    InMemoryVectorStore,
    Store,
    BaseTool,
    RunnableWithMessageHistory,
    BaseMemory,
    BaseCheckpointSaver,
    InMemorySaver,
)
AT_FIRST = {owner: dict(vars(owner)) for owner in CLASSES}
INPUTS = 2


@pytest.fixture(autouse=True)
def _classes_are_as_before_afterwards() -> Iterator[None]:
    yield
    now = {owner: dict(vars(owner)) for owner in CLASSES}
    # Abstract base classes keep a registry of their own; functions are what we replace.
    for owner, names in AT_FIRST.items():
        assert {n: f for n, f in now[owner].items() if callable(f)} == {
            n: f for n, f in names.items() if callable(f)
        }, owner


def explanations(built: Built, mode: Mode) -> list[Explanation]:
    explainer: Any = RuleExplainer(built.application, predicate=BAD, miner="exact", **built.parameters)
    config: Any = built.config
    if mode == "sync":
        return [explainer.explain(built.given, config)]
    if mode == "async":
        return [asyncio.run(explainer.aexplain(built.given, config))]
    return [each.explanation for each in explainer.batch([built.given] * INPUTS, config)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_rules_of_every_shape_are_the_known_ones(shape: Shape, mode: Mode) -> None:
    built = shape.build()
    if shape.refusal is not None:
        with pytest.raises(shape.refusal):
            explanations(built, mode)
        return
    found = explanations(built, mode)
    assert len(found) == (INPUTS if mode == "batch" else 1)
    for explanation in found:
        assert retention(explanation) == shape.retention
        assert omission(explanation) == shape.omission
        assert explanation.complete == shape.complete
        assert explanation.scope == "seen"
        shape.more(explanation)
    if shape.live is not None:
        assert built.live() == shape.live * len(found)


def test_there_are_enough_shapes_and_each_has_its_own_name() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES) >= 28


def test_the_readme_has_the_table() -> None:
    readme = README.read_text(encoding="utf-8")
    assert written(readme) == readme
