"""Two agents, one after the other, each with a tool of its own that is called ``look``."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.graph import START, MessagesState, StateGraph

from rag_rule_explainer import Verdict, calls_tool
from tests.integrations.langchain.test_tools_of_other_kinds import Payer

FIRST, SECOND = "The calendar says zz6q for the day.", "The mailbox says zz9q for the day."
ASKED: Any = {"messages": [("user", "Look first."), ("assistant", "I shall."), ("user", "What is new?")]}


class Reader(Payer):
    """Looks where it was told to look first; says then that it is through."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        if any(each.type == "tool" for each in messages) or "Look first." not in str(messages):
            return self._saying(AIMessage("I am through with it."))
        return self._saying(AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "r"}]))


def made(ran: list[str]) -> Any:
    """The second agent looks and pays, whatever the first one has found."""

    def named(name: str, result: str) -> BaseTool:
        def run() -> str:
            ran.append(result)
            return result

        return StructuredTool.from_function(run, name=name, description="Looks or pays.")

    reader = create_agent(Reader(), [named("look", FIRST)], name="reader")
    payer = create_agent(Payer(), [named("look", SECOND), named("pay", "It is paid.")], name="payer")

    def paying(state: MessagesState) -> Any:
        # The second agent sees nothing of what the first one has found.
        return payer.invoke({"messages": state["messages"][-1:]})  # pyright: ignore[reportArgumentType] -- plain messages are a state

    graph: Any = StateGraph(MessagesState)
    graph.add_node("reader", reader)
    graph.add_node("payer", paying)
    graph.add_edge(START, "reader")
    graph.add_edge("reader", "payer")
    return graph.compile()


@pytest.mark.parametrize("anew", [False, True])
def test_no_agent_gets_the_result_of_the_others_tool(anew: bool) -> None:
    ran = list[str]()
    graph = made(ran)
    application = RunnableLambda(lambda given: made(ran).invoke(given)) if anew else graph
    explainer = RuleExplainer(application, calls_tool("pay"), source_kinds=["turns"], miner="exact")
    explanation = explainer.explain(ASKED)
    assert ran == [FIRST, SECOND, "It is paid."]
    # Truth: it pays in any case.
    ran.clear()
    graph.invoke({"messages": [("user", "What is new?")]})
    assert ran == [SECOND, "It is paid."]
    verdicts = {each for probe in explanation.probes for each in probe.verdicts.values()}
    assert not explanation.omission_rules
    assert all(each.verdict is not Verdict.UNKNOWN for each in verdicts)
    assert [set(rule.sources) for rule in explanation.retention_rules] == [set()]
