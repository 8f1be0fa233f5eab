"""Agents of deepagents, asked in every way: the rules that trying everything finds."""

from typing import Any

import pytest
from langchain_rag_rule_explainer import RuleExplainer

# It brings clients of providers, so only the environment of ``make agents`` has it.
pytest.importorskip("deepagents")

from tests.agents.zoo.asking import cases, check
from tests.agents.zoo.of_deepagents import SHAPES
from tests.agents.zoo.scripts import Way
from tests.agents.zoo.shapes import Mode, Shape

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize(("shape", "mode", "way"), cases(SHAPES))
def test_the_rules_of_deep_agents(shape: Shape, mode: Mode, way: Way) -> None:
    nobody: Any = None
    without, probes = check(nobody, RuleExplainer, shape, mode, way)
    print(f"\n{without} of {probes} probes UNKNOWN")
    assert not without
