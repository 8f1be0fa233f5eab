"""Agents with fixed prompts of their own, to which a conversation is handed over: nothing in the prompts
depends on an earlier turn."""

from typing import Any

import pytest

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain_core.messages import HumanMessage, RemoveMessage, SystemMessage
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from langgraph.graph import MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex

from rag_rule_explainer import Explanation, Verdict, calls_tool
from tests.agents.zoo import of_langchain, of_llama_index
from tests.agents.zoo.scripts import ONE_BY_ONE, Script, Step
from tests.agents.zoo.shapes import EARLIER, PAYS, QUESTION
from tests.integrations.known import omission, retention, sets
from tests.integrations.langchain.models import Telling

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
FIXED = "You pay bills where dunes wander, as somebody asked before."
NEEDS_A_TURN = Script((*ONE_BY_ONE.steps[:2], Step(ONE_BY_ONE.steps[2].calls, ("d",))))


def is_right(explanation: Explanation, ran: list[str]) -> None:
    """The second turn alone makes the agent pay."""
    assert [each.id for each in explanation.sources] == ["turn 1", "turn 2"]
    assert retention(explanation) == omission(explanation) == sets(["turn 2"])
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert not explanation.warnings
    for probe in explanation.probes:
        assert all(each.verdict is not Verdict.UNKNOWN for each in probe.verdicts.values())
    assert sorted(ran) == ["calendar", "pay", "search_inbox"]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("omit", ["remove", "blank"])
def test_an_agent_with_a_prompt_of_its_own(omit: Any) -> None:
    inbox, *others = of_llama_index.tools_of(ran := [], day="")
    llm = of_llama_index.Scripted(
        script_of=Script((*of_llama_index.HANDS_OVER.steps[:-1], NEEDS_A_TURN.steps[-1]))
    )
    parts: Any = {"llm": llm, "streaming": False}
    front = FunctionAgent(
        name="reader", description="Reads.", tools=[inbox], can_handoff_to=["payer"], **parts
    )
    back = FunctionAgent(name="payer", description="Pays.", tools=others, system_prompt=FIXED, **parts)
    workflow = AgentWorkflow(agents=[front, back], root_agent="reader")
    explainer = OfLlamaIndex(workflow, PAYS, source_kinds=["turns"], omit=omit, miner="exact")
    given = {"user_msg": QUESTION, "chat_history": of_llama_index.history()}
    is_right(explainer.explain(given), ran)


def supervised(tools: list[Any]) -> Any:
    """A supervisor sends the conversation to a reader, and then to one who pays."""
    model = of_langchain.Scripted(script=NEEDS_A_TURN)
    reading = of_langchain.Scripted(script=Script(NEEDS_A_TURN.steps[:2]))
    reader = create_agent(reading, tools[:2], system_prompt="You read mails and dates.")
    payer = create_agent(model, tools, system_prompt=FIXED)

    def supervise(_: MessagesState) -> Any:
        supervisor = Telling(says=lambda _: "The payer.")
        supervisor.invoke([SystemMessage("Who is next?"), HumanMessage("The reader or the payer?")])
        return {}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("payer", payer)
    graph.add_node("supervise", supervise)
    graph.add_node("reader", reader)
    graph.set_entry_point("reader")
    graph.add_edge("reader", "supervise")
    graph.add_edge("supervise", "payer")
    return graph.compile()


def trimmed(tools: list[Any]) -> Any:
    @before_model
    def trim(state: Any, _: Any) -> Any:
        last = max(n for n, each in enumerate(state["messages"]) if each.type == "human")
        kept = state["messages"][max(0, last - 4) :]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept]}

    model = of_langchain.Scripted(script=NEEDS_A_TURN)
    return create_agent(model, tools, middleware=[trim], system_prompt=FIXED)


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("make", [supervised, trimmed])
@pytest.mark.parametrize("omit", ["remove", "blank"])
def test_agents_that_share_a_conversation(make: Any, omit: Any) -> None:
    agent = make(of_langchain.tools_of(ran := [], day=""))
    explainer = OfLangChain(agent, calls_tool("pay"), source_kinds=["turns"], omit=omit, miner="exact")
    is_right(explainer.explain(of_langchain.asked(*EARLIER)), ran)


@pytest.mark.parametrize(
    ("build", "make"),
    [
        (of_llama_index.reacting, OfLlamaIndex),
        (of_llama_index.with_sections, OfLlamaIndex),
        (of_langchain.with_sections, OfLangChain),
        (of_langchain.with_examples, OfLangChain),
    ],
)
def test_an_agent_with_one_prompt_writes_nothing_else(build: Any, make: Any) -> None:
    """Its later requests have replies and results of tools, which each framework writes in its way."""
    built, kinds = build(None), ["instructions", "examples"]
    explanation = make(built.application, PAYS, source_kinds=kinds, miner="exact").explain(built.given)
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert not explanation.warnings
    for probe in explanation.probes:
        assert all(each.verdict is not Verdict.UNKNOWN for each in probe.verdicts.values())
    assert sorted(built.ran) == ["calendar", "pay", "search_inbox"]
