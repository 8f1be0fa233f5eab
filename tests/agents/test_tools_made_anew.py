"""Tools of one name that the application makes, of which the first run called one, against the truth."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from rag_rule_explainer import Explanation, RuleKind, Verdict, calls_tool
from tests.agents.one_name import (
    AGENTS,
    COMPARABLE,
    FOUND,
    KNOWN,
    REGISTERED,
    SECOND_MAIL,
    WAYS,
    Making,
    When,
    pays,
)
from tests.integrations.known import omission, retention, sets
from tests.representing import some

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
RAN = ["search_inbox", "look", "pay"]


@pytest.fixture(autouse=True)
def _nothing_of_earlier_tests() -> None:
    KNOWN.clear()


def shapes() -> Iterator[Any]:
    """Each way to make a tool, for each agent. Each agent is asked with one way in the fast tests."""
    for place, way in enumerate(WAYS):
        for number, agent in enumerate(AGENTS):
            is_fast = number == place
            yield pytest.param(way, agent, marks=() if is_fast else pytest.mark.slow)


def explained(making: Making, agent: str) -> Explanation:
    make, application = AGENTS[agent](making)
    # On a busy machine, a replay may take many times as long as the first run.
    options: Any = {"source_kinds": ["tools"], "miner": "exact", "replay_bound": None}
    if making.when == "once":  # the tools note that they ran, where the next run finds it
        options["ignore"] = ["ran"]
    explainer = make(application, calls_tool("pay"), **options)
    if agent in ("FunctionAgent", "workflow"):
        explanation = asyncio.run(explainer.aexplain("What is new?"))
    else:
        explanation = explainer.explain("What is new?")
    assert making.ran == RAN
    return explanation


def wrong(explanation: Explanation) -> list[Any]:
    """The probes with a verdict that is not true."""
    found = [
        (probe.kept, (each.verdict is Verdict.HOLDS) is (kind is RuleKind.RETENTION))
        for probe in explanation.probes
        for kind, each in probe.verdicts.items()
        if each.verdict is not Verdict.UNKNOWN
    ]
    return [(kept, paid) for kept, paid in found if paid != pays(kept)]


@pytest.mark.parametrize(("way", "agent"), list(shapes()))
class TestToolsOfOneName:
    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize("when", ["early", "once"])
    def test_that_the_first_run_did_not_call_get_no_result(
        self, way: str, agent: str, when: When
    ) -> None:
        explanation = explained(Making(way, when, two=True), agent)
        assert not wrong(explanation)
        assert not explanation.omission_rules
        (reason,) = {
            each.reason
            for probe in explanation.probes
            for each in probe.verdicts.values()
            if each.verdict is Verdict.UNKNOWN
        }
        assert "The baseline called a tool 'look', but it is not known to be this one" in reason

    def test_that_are_made_late_leave_nothing_false_proved(self, way: str, agent: str) -> None:
        explanation = explained(Making(way, "late", two=True), agent)
        assert explanation.rules
        if wrong(explanation):
            assert not any(each.proved for each in explanation.rules)
            assert "runs make the tool 'look' themselves" in explanation.warnings[0]

    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize("when", ["early", "once", "late"])
    def test_are_recognised_where_there_is_one(self, way: str, agent: str, when: When) -> None:
        explanation = explained(Making(way, when, two=False), agent)
        assert not wrong(explanation)
        assert retention(explanation) == sets([SECOND_MAIL, FOUND])
        assert omission(explanation) == sets([SECOND_MAIL], [FOUND])
        is_sure = when != "late" or way in COMPARABLE
        assert all(each.proved is is_sure for each in explanation.rules)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("agent", some(AGENTS, len(AGENTS)))
def test_tools_that_read_a_register_which_each_run_adds_to_prove_nothing(agent: str, two: bool) -> None:
    explanation = explained(Making(REGISTERED, "early", two=two), agent)
    assert not wrong(explanation)
    assert not any(each.proved for each in explanation.rules)
    reasons = [each.reason for probe in explanation.probes for each in probe.verdicts.values()]
    assert any("look() reads 'KNOWN' of tests.agents.one_name" in each for each in reasons)
    assert "writes KNOWN[client], where the next run finds it" in explanation.warnings[0]
