"""Tools that write state: no tool runs again, so it matters only where something else reads it."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, ToolCall, calls_tool
from tests.agents.gullible import GullibleModel
from tests.agents.mailbox import GOAL, LEAKED, PROMPT, Mailbox, script_of

PAID: list[str] = []


class Writing(Mailbox):
    """A mailbox that keeps what was done, and goes by it."""

    def __init__(self) -> None:
        super().__init__({1: GOAL}, 3)
        self.sent: dict[int, str] = {}

    def run(self, call: ToolCall) -> Any:
        self.sent[len(self.sent)] = call.name
        if call.name == "send_money":
            PAID.append(call.name)
        done = super().run(call)
        return f"{done} {len(self.sent)} were sent." if call.name == "send_mail" else done


class OfTheWorld(AgentMiddleware):
    """Code beside the tools that goes by what a tool wrote, if it is shown less than in the first run."""

    def __init__(self, world: Writing) -> None:
        self.world = world

    def before_model(self, state: Any, runtime: Any) -> Any:
        return {"jump_to": "end"} if len(self.world.sent) > 9 and is_less(state) else None


class OfAllWorlds(AgentMiddleware):
    """The same, with a global."""

    def before_model(self, state: Any, runtime: Any) -> Any:
        return {"jump_to": "end"} if len(PAID) > 9 and is_less(state) else None


def is_less(state: Any) -> bool:
    return "Paul" not in str([each.content for each in state["messages"]])


def explained(world: Writing, *middleware: Any, **options: Any) -> Explanation:
    agent: Any = create_agent(
        GullibleModel(script=script_of(GOAL)), list(world.tools), middleware=middleware
    )
    condition = calls_tool(LEAKED.name)
    explainer = RuleExplainer(agent, condition, source_kinds=["tools"], **options)
    return explainer.explain({"messages": [("user", PROMPT)]})


def doubt(explanation: Explanation) -> str:
    return next((each for each in explanation.warnings if "fidelity not checked" in each), "")


@pytest.mark.parametrize("replay_of", ["next_action", pytest.param("whole_run", marks=pytest.mark.slow)])
def test_state_that_only_tools_read_is_no_doubt(replay_of: Any) -> None:
    world = Writing()
    explanation = explained(world, replay_of=replay_of)
    assert not explanation.warnings
    assert explanation.retention_rules[0].sources == ("search_inbox #1, item 2",)
    assert explanation.retention_rules[0].claim in {"proved", "tested"}
    assert len(world.executed) == len(world.sent) == 5
    assert explanation.counts.repeat_check == 2


@pytest.mark.slow
def test_state_that_other_code_reads_is_doubted() -> None:
    world = Writing()
    assert "self.sent" in doubt(explained(world, OfTheWorld(world)))
    assert "PAID" in doubt(explained(Writing(), OfAllWorlds()))


@pytest.mark.slow
def test_state_of_a_tool_that_may_run_is_doubted() -> None:
    assert "self.sent" in doubt(explained(Writing(), safe_tools=["send_mail"]))
    assert "self.sent" in doubt(explained(Writing(), on_new_tool_call="live"))
