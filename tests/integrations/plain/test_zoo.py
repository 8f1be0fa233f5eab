"""Every shape of application, asked in every way: its known rules."""

import asyncio
from typing import Any, Literal

import httpx
import openai
import pytest
import requests
from plain_rag_rule_explainer import RuleExplainer
from plain_rag_rule_explainer.interception import interception

from rag_rule_explainer import Explanation
from tests.integrations.classes import changed, entries
from tests.integrations.known import BAD, kept_delivered_and_seen, omission, retention, sets, shown_in
from tests.integrations.plain.models import Models
from tests.integrations.plain.zoo.shapes import QUESTION, Built, Shape
from tests.integrations.plain.zoo.table import SHAPES
from tests.integrations.stateful import renamed

ROOTS: tuple[type, ...] = (
    openai.OpenAI,
    openai.AsyncOpenAI,
    requests.Session,
    httpx.Client,
    httpx.AsyncClient,
)
Mode = Literal["sync", "async"]


def explained(built: Built, mode: Mode) -> Explanation:
    explainer: Any = RuleExplainer(built.application, predicate=BAD, miner="exact", **built.parameters)
    if mode == "sync":
        return explainer.explain(built.given)
    return asyncio.run(explainer.aexplain(built.given))


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_rules_of_every_shape_are_the_known_ones(shape: Shape, mode: Mode, models: Models) -> None:
    built = shape.build(models)
    before = entries(ROOTS)
    explanation = explained(built, mode)
    assert changed(before, ROOTS) == []
    names = {source.id: shown_in(source.text) for source in explanation.sources}
    assert renamed(retention(explanation), names) == shape.retention
    assert renamed(omission(explanation), names) == shape.omission
    assert (explanation.question, explanation.scope, explanation.ended) == (QUESTION, "seen", True)
    assert all(rule.proved for rule in explanation.rules), explanation.warnings[0]
    kept_delivered_and_seen(explanation)
    assert explanation.warnings == ()
    shape.more(explanation)
    assert built.live() == shape.live


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.__name__)
def test_what_is_intercepted_is_what_is_compared(root: type) -> None:
    before = entries(ROOTS)
    with interception.intercepting():
        assert root in {owner for owner, _ in changed(before, ROOTS)}
    assert changed(before, ROOTS) == []


def test_there_are_enough_shapes_and_each_has_its_own_name() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES) >= 12
    assert all(shape.retention == sets("bd") for shape in SHAPES)
