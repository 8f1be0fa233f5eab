"""Estimates bound what explanations of agents cost: the least and the most, against what they took."""

from itertools import product
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import ToolCall, calls_tool
from tests.agents.gullible import GullibleModel
from tests.agents.mailbox import PROMPT, Mailbox, script_of
from tests.agents.test_mailbox import CASES

SHAPES = [*product(CASES, ["next_action", "whole_run"], [3, 8])]


def check(case: str, replay_of: Any, mails: int, **options: Any) -> None:
    planted, parts, wanted = CASES[case]
    world = Mailbox(planted, mails)
    agent: Any = create_agent(GullibleModel(script=script_of(*parts)), list(world.tools))
    explainer = RuleExplainer(
        agent, _calling(wanted), source_kinds=["tools"], replay_of=replay_of, **options
    )
    asked = {"messages": [("user", PROMPT)]}
    estimate = explainer.estimate(asked)
    made = len(world.executed)
    explanation = explainer.explain(asked)
    assert estimate.sources == len(explanation.sources)
    assert estimate.best.replays <= explanation.counts.replays <= estimate.worst.replays
    assert estimate.best.replays <= estimate.typical.replays <= estimate.worst.replays <= 120
    assert len(world.executed) <= 2 * made


def _calling(wanted: ToolCall) -> Any:
    # Any names of arguments.
    return calls_tool(wanted.name, **dict(wanted.arguments))  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(("replay_of", "mails"), [("next_action", 3), ("whole_run", 3)])
def test_bounds_of_an_explanation(replay_of: Any, mails: int) -> None:
    check("injected once", replay_of, mails)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("replay_of", ["next_action", "whole_run"])
def test_a_condition_that_is_not_met_ends_the_search_for_retention_rules(replay_of: Any) -> None:
    planted, parts, _ = CASES["injected once"]
    world = Mailbox(planted, 3)
    agent: Any = create_agent(GullibleModel(script=script_of(*parts)), list(world.tools))
    options: Any = {"source_kinds": ["tools"], "replay_of": replay_of, "rules": "retention"}
    explainer = RuleExplainer(agent, calls_tool("never_called"), **options)
    asked = {"messages": [("user", PROMPT)]}
    estimate = explainer.estimate(asked)
    explanation = explainer.explain(asked)
    assert explanation.counts.replays <= 2 < estimate.best.replays
    assert "if the condition is met with all sources; if not" in str(estimate)
    assert "after at most 2 replays" in str(estimate)
    assert not explanation.rules


@pytest.mark.slow
@pytest.mark.parametrize(("case", "replay_of", "mails"), SHAPES, ids=map(str, SHAPES))
def test_bounds_of_twenty_explanations(case: str, replay_of: Any, mails: int) -> None:
    check(case, replay_of, mails)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["retention", "omission"])
@pytest.mark.parametrize("limits", [None, 25])
def test_bounds_of_one_kind_of_rule_and_of_a_limit(rules: Any, limits: int | None) -> None:
    options = {} if limits is None else {"limits": limits}
    check("injected thrice", "next_action", 8, rules=rules, **options)
