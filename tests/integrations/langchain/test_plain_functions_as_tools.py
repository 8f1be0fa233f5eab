"""An application that runs its tools itself, as plain functions: no replay runs them unasked."""

from collections import Counter
from functools import partial
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.graph import END, START, MessagesState, StateGraph
from typing_extensions import override

from rag_rule_explainer import InvalidInput, calls_tool, contains
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import facts

GIVEN: Any = {"messages": [("user", "go")]}
PAYS = calls_tool("pay")
BY_FUNCTION = {"pay": "function", "warn": "function"}
WAYS: dict[str, dict[str, str]] = {
    "function": dict.fromkeys(("read", "pay", "warn"), "function"),
    "pay alone": BY_FUNCTION,
}


def next_calls(messages: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Reads; pays where b and c are there, and warns where d is not."""
    results = {each.name: str(each.text) for each in messages if isinstance(each, ToolMessage)}
    if "read" not in results:
        return [("read", {})]
    if {"mail b", "mail c"} <= set(results["read"].split('"')) and "pay" not in results:
        return [("pay", {"to": "evil"})]
    return [("warn", {})] if "mail d" not in results["read"] and "warn" not in results else []


class Calling(BaseChatModel):
    """Makes the calls of ``next_calls``."""

    @property
    @override
    def _llm_type(self) -> str:
        return "calling"

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        made: Any = [
            {"name": name, "args": given, "id": f"{len(messages)} {place}"}
            for place, (name, given) in enumerate(next_calls(messages))
        ]
        message = AIMessage("" if made else "All is done.", tool_calls=made)
        return ChatResult(generations=[ChatGeneration(message=message)])


def answer(call: Any, how: str, of: BaseTool) -> Any:
    """The message with which the application answers a call."""
    told: Any = of
    # As one that the application keeps beside the tool: that of the attribute ``func`` is recorded.
    function: Any = object.__getattribute__(told, "func")
    if how == "refused":
        return ToolMessage("No.", tool_call_id=call["id"], name=call["name"], status="error")
    if how == "invoke":
        return told.invoke(call)
    given = call["args"]
    if how == "failed":
        function(**given)
        return ToolMessage("It broke.", tool_call_id=call["id"], name=call["name"], status="error")
    ways = {"function": function, "func": told.func, "_run": partial(told._run, config={})}
    result = ways[how](**given)
    return ToolMessage(str(result), tool_call_id=call["id"], name=call["name"])


def agent(ran: Counter[str], ways: dict[str, str], paid: str = "done") -> Any:
    """A graph by hand. ``ways``: how it runs a tool; by ``invoke`` if that is not said. ``paid``: what
    paying returns."""

    def read() -> str:
        ran["read"] += 1
        return '["mail a", "mail b", "mail c", "mail d"]'

    def pay(to: str) -> str:
        ran["pay"] += 1
        return paid

    def warn() -> str:
        ran["warn"] += 1
        return "warned"

    tools = {
        each.__name__: StructuredTool.from_function(each, description="x") for each in (read, pay, warn)
    }
    model = Calling()

    def think(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def act(state: MessagesState) -> Any:
        last: Any = state["messages"][-1]
        made = [
            answer(each, ways.get(each["name"], "invoke"), tools[each["name"]])
            for each in last.tool_calls
        ]
        return {"messages": made}

    def goes_on(state: MessagesState) -> str:
        last = state["messages"][-1]
        return "act" if isinstance(last, AIMessage) and last.tool_calls else END

    graph: Any = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("act", act)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", goes_on, ["act", END])
    graph.add_edge("act", "think")
    return graph.compile()


def explained(ran: Counter[str], ways: dict[str, str], **options: Any) -> Any:
    return RuleExplainer(agent(ran, ways), PAYS, source_kinds=["tools"], **options).explain(GIVEN)


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_no_record_knows_is_refused_by_name(way: str) -> None:
    ran = Counter[str]()
    names = "'pay'" if way == "pay alone" else "'pay', 'read'"
    with pytest.raises(InvalidInput, match=rf"run {names} again.* safe_tools=\[{names}\]"):
        explained(ran, WAYS[way])
    assert ran == {"read": 1, "pay": 1}


def test_a_result_that_quotes_langchain_hides_no_tool() -> None:
    ran = Counter[str]()
    paid = "Paid. Returning structured response: none. Please fix your mistakes."
    application = agent(ran, BY_FUNCTION, paid)
    with pytest.raises(InvalidInput, match="run 'pay' again"):
        RuleExplainer(application, PAYS, source_kinds=["tools"]).explain(GIVEN)
    assert ran == {"read": 1, "pay": 1}


def test_a_stub_that_cannot_stand_in_is_told() -> None:
    with pytest.raises(InvalidInput, match="stub_tools names 'pay', whose stub was not used"):
        explained(Counter(), BY_FUNCTION, stub_tools={"pay": "ok"})


def test_the_next_action_ends_before_anything_runs() -> None:
    ran = Counter[str]()
    explanation = explained(ran, BY_FUNCTION, replay_of="next_action")
    items = {each.sources for each in explanation.rules}
    assert items == {("read #1, item 2", "read #1, item 3"), ("read #1, item 2",), ("read #1, item 3",)}
    assert ran == {"read": 1, "pay": 1}


def test_a_function_that_only_a_replay_calls_does_not_run() -> None:
    ran = Counter[str]()
    assert explained(ran, {"warn": "function"}).rules
    assert ran == {"read": 1, "pay": 1}


def test_a_tool_that_is_named_safe_runs() -> None:
    ran = Counter[str]()
    assert explained(ran, {"pay": "function"}, safe_tools=["pay"]).rules
    assert ran["pay"] > 1
    assert ran["read"] == 1


def test_a_call_that_is_only_refused_is_no_tool_that_ran() -> None:
    ran = Counter[str]()
    with pytest.raises(InvalidInput, match=r"denies it.*unexecuted_tools=\['pay'\]"):
        explained(ran, {"pay": "refused"})
    explanation = explained(ran, {"pay": "refused"}, unexecuted_tools=["pay"])
    assert {each.sources for each in explanation.rules} >= {("read #1, item 2", "read #1, item 3")}
    assert ran == {"read": 2}


def test_a_function_that_failed_ran() -> None:
    ran = Counter[str]()
    with pytest.raises(InvalidInput, match="run 'pay' again"):
        explained(ran, {"pay": "failed"})
    assert ran == {"read": 1, "pay": 1}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("how", ["func", "_run"])
def test_the_functions_of_a_tool_are_the_tool(how: str) -> None:
    for named in (("read", "pay", "warn"), ("pay",)):
        ran = Counter[str]()
        explanation = explained(ran, dict.fromkeys(named, how), safe_tools=["warn"])
        both = ("read #1, item 2", "read #1, item 3")
        assert {each.sources for each in explanation.rules} == {both, both[:1], both[1:]}
        assert ran["read"] == ran["pay"] == 1


@pytest.mark.parametrize("ways", [("function", "invoke"), ("invoke", "function")])
@pytest.mark.parametrize("second", ["evil", "others"])
def test_each_call_counts_for_itself(ways: tuple[str, str], second: str) -> None:
    """A tool that is called as one, and also as a plain function."""
    ran = Counter[str]()

    @tool
    def pay(to: str) -> str:
        """Pays."""
        ran[to] += 1
        return "done"

    def run(_: Any) -> str:
        messages: list[Any] = [("user", "go")]
        for to, way in zip(("evil", second), ways, strict=True):
            calls: Any = [{"name": "pay", "args": {"to": to}, "id": to}]
            reply: Any = GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=calls)])).invoke(
                messages
            )
            messages += [reply, answer(reply.tool_calls[0], way, pay)]
        return GenericFakeChatModel(messages=iter([AIMessage("All is done.")])).invoke(messages).text

    explainer = RuleExplainer(RunnableLambda(run), PAYS, source_kinds=["tools"])
    with pytest.raises(InvalidInput, match="run 'pay' again"):
        explainer.explain(GIVEN)
    assert sum(ran.values()) == 2


def test_a_condition_about_text_warns_where_documents_are_the_sources() -> None:
    ran = Counter[str]()
    retriever, inner = Counting(documents=facts("ab")), agent(ran, BY_FUNCTION)

    def run(given: Any) -> Any:
        return inner.invoke({"messages": [*given["messages"], ("system", str(retriever.invoke("go")))]})

    warnings = RuleExplainer(RunnableLambda(run), contains("done")).explain(GIVEN).warnings
    assert any("calls 'pay' as a plain function" in each for each in warnings)
    assert ran["pay"] > 1
    ran.clear()
    given: Any = {"messages": [("user", "hi"), ("assistant", "good day to you"), ("user", "go")]}
    with pytest.raises(InvalidInput, match="every replay would run 'pay' again"):
        RuleExplainer(inner, contains("done"), source_kinds=["turns"]).explain(given)
    assert ran["pay"] == 1


def test_a_safe_tool_that_was_not_called_is_told() -> None:
    ran = Counter[str]()
    with pytest.raises(InvalidInput, match=r"safe_tools names 'payy'.*did you mean 'pay'\?"):
        explained(ran, {}, safe_tools=["payy"])
    assert max(ran.values()) == 1
    explanation = explained(Counter(), {}, safe_tools=["refund"])
    assert any("safe_tools names 'refund'" in each for each in explanation.notes)
