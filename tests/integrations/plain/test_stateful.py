"""Applications that keep something from run to run are refused by name, and the refusal has a way out."""

import asyncio
from typing import Any, Literal

import pytest
from plain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, retention, shown_in
from tests.integrations.plain.models import Models
from tests.integrations.plain.zoo.shapes import Built
from tests.integrations.plain.zoo.stateful import SHAPES, Stateful
from tests.integrations.stateful import renamed

Mode = Literal["sync", "async"]
MODES = ["sync", pytest.param("async", marks=pytest.mark.slow)]


def explained(built: Built, mode: Mode) -> Explanation:
    explainer: Any = RuleExplainer(built.application, predicate=BAD, miner="exact", **built.parameters)
    if mode == "sync":
        return explainer.explain(built.given)
    return asyncio.run(explainer.aexplain(built.given))


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_what_remembers_is_refused_and_has_a_way_out(shape: Stateful, mode: Mode, models: Models) -> None:
    with pytest.raises(shape.refusal, match=f"(?s){shape.says}"):
        explained(shape.build(models), mode)
    explanation = explained(shape.way_out(models), mode)
    names = {source.id: shown_in(source.text) for source in explanation.sources}
    assert renamed(retention(explanation), names) == shape.retention
    assert all(rule.proved for rule in explanation.rules), explanation.warnings[0]
