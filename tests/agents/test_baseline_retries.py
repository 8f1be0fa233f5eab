"""A first run that fails after a tool has run: it is not repeated, as the tool would run once more."""

from collections.abc import Callable
from typing import Any

import pytest

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from langchain_core.tools import tool as langchain_tool
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain
from plain_rag_rule_explainer import tool as plain_tool

from rag_rule_explainer import BaselineFailed, InvalidInput, NoSourcesCaptured, Retries, contains
from tests.agents.zoo.of_llama_index import Scripted, agent_of, tools_of
from tests.agents.zoo.shapes import PAYS, QUESTION
from tests.integrations.known import retention
from tests.integrations.llama_index.test_plain_functions_as_tools import Loop

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
SOON = Retries(3, first_wait=0, longest_wait=0)
TOOLS: Any = {"source_kinds": ["tools"], "retries": SOON}
NOT_REPEATED = r"the calls of .*'pay'.* may have been carried out.*safe_tools="


def paying(ran: list[str], mark: Callable[[Any], Any], how: str) -> Callable[[str], str]:
    """Pays, and fails in a way that may pass, for the first time."""

    def pay(to: str) -> str:
        """Pays."""
        ran.append("pay")
        return to

    marked = mark(pay)

    def ask(_: str) -> str:
        call: Any = getattr(marked, how)
        call({"to": "evil"}) if how == "invoke" else call(to="evil")
        if len(ran) < 2:
            raise TimeoutError("overloaded")
        return "done"

    return ask


@pytest.mark.parametrize(
    ("explainer", "mark", "how"),
    [
        (OfLangChain, langchain_tool, "invoke"),
        (OfLlamaIndex, FunctionTool.from_defaults, "call"),
        (OfPlain, plain_tool, "__call__"),
    ],
    ids=["LangChain", "LlamaIndex", "plain Python"],
)
def test_a_run_in_which_a_tool_ran_is_not_repeated(explainer: Any, mark: Any, how: str) -> None:
    application = paying(ran := [], mark, how)
    with pytest.raises(BaselineFailed, match=f"overloaded.*{NOT_REPEATED}") as failed:
        explainer(application, PAYS, **TOOLS).explain(QUESTION)
    assert isinstance(failed.value.__cause__, TimeoutError)
    assert ran == ["pay"]


class Failing(Scripted):
    """Its first answer after its tools ran does not come."""

    ran: list[str]
    failed: list[str]

    def _chat(self, messages: Any, tools: Any = ()) -> Any:
        if len(self.ran) == 3 and not self.failed:
            self.failed.append("once")
            raise TimeoutError("overloaded")
        return super()._chat(messages, tools)


@pytest.mark.parametrize("safe", [(), ("search_inbox", "calendar", "pay")], ids=["not safe", "safe"])
def test_a_model_that_fails_after_its_tools_ran(safe: tuple[str, ...]) -> None:
    tools = tools_of(ran := [])
    llm = Failing(ran=ran, failed=[])
    object.__setattr__(llm, "ran", ran)
    agent = FunctionAgent(tools=tools, llm=llm, streaming=False)
    explainer = OfLlamaIndex(agent, PAYS, safe_tools=list(safe), rules="retention", **TOOLS)
    if safe:
        assert retention(explainer.explain(QUESTION)) == {
            frozenset({"search_inbox #1, item 2", "calendar #1"})
        }
    else:
        with pytest.raises(BaselineFailed, match=NOT_REPEATED):
            explainer.explain(QUESTION)
        assert ran == ["search_inbox", "calendar", "pay"]


def test_a_plain_function_that_fails_may_have_paid() -> None:
    def fails(_: object) -> None:
        raise TimeoutError("no reply")

    loop = Loop(ran := [], ends_at="pay", says=fails)
    with pytest.raises(BaselineFailed, match=NOT_REPEATED):
        OfLlamaIndex(loop.ask, PAYS, **TOOLS).explain(QUESTION)
    assert ran == ["search_inbox", "calendar"]


async def test_a_function_that_turns_out_to_need_an_event_loop_is_not_called_again() -> None:
    agent, ran = agent_of([]), list[str]()
    application = paying(ran, FunctionTool.from_defaults, "call")

    def ask(question: str) -> Any:
        with pytest.raises(TimeoutError):
            application(question)
        return agent.run(user_msg=question)

    with pytest.raises(InvalidInput, match=r"called 'pay'.* make it an async function"):
        await OfLlamaIndex(ask, PAYS, **TOOLS).aexplain(QUESTION)
    assert ran == ["pay"]


def test_where_tools_run_in_replays_they_run_in_retries_too() -> None:
    application = paying(ran := [], FunctionTool.from_defaults, "call")
    with pytest.raises(NoSourcesCaptured):
        OfLlamaIndex(application, contains("done"), retries=SOON).explain(QUESTION)
    assert ran == ["pay", "pay"]
