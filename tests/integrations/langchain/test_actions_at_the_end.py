"""Actions that an application runs itself, as plain functions, at the end of a run, so that no request to
a model shows what became of them: no replay runs them."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer, gate
from langgraph.graph import END, START, MessagesState, StateGraph

from rag_rule_explainer import Explanation, InvalidInput, calls_tool, contains
from tests.agents.zoo.of_langchain import Scripted, asked
from tests.agents.zoo.scripts import LOOK, ONE_BY_ONE, PAY, Script, Step
from tests.agents.zoo.shapes import INBOX, QUESTION, functions
from tests.integrations.known import TEXTS, omission, retention
from tests.integrations.langchain.chains import Counting

PAYS = calls_tool("pay", to="evil")
ONCE = {"search_inbox": 1, "calendar": 1, "pay": 1}
MODEL = Scripted(script=ONE_BY_ONE)


def tools_of(ran: list[str]) -> dict[str, Any]:
    """Tools of LangChain, but for paying."""
    own = functions(ran)
    return own | {name: tool(own[name]) for name in ("search_inbox", "calendar")}


def loop(ran: list[str], last: Callable[[Any, str], Any] = lambda _, paid: paid) -> Any:
    """Reads by tools, and pays by a function of its own, after which it ends. ``last``: its answer."""
    own = tools_of(ran)

    def run(given: Any) -> Any:
        messages = list(given["messages"])
        while True:
            reply: Any = MODEL.invoke(messages)
            messages.append(reply)
            for each in reply.tool_calls:
                if each["name"] == "pay":
                    return last(reply, own["pay"](**each["args"]))
                messages.append(own[each["name"]].invoke(each))
            if not reply.tool_calls:
                return "Nothing was paid."

    return run


def sync(ran: list[str]) -> Any:
    return RunnableLambda(loop(ran))


def with_the_replys_text(ran: list[str]) -> Any:
    return RunnableLambda(loop(ran, lambda reply, _: reply.text))


def with_the_reply(ran: list[str]) -> Any:
    return RunnableLambda(loop(ran, lambda reply, _: reply))


def in_a_thread(ran: list[str]) -> Any:
    def run(given: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(copy_context().run, loop(ran), given).result()

    return RunnableLambda(run)


def within_another_agent(ran: list[str]) -> Any:
    """Its caller asks a model once more, which is not shown what was paid."""
    agent = loop(ran)

    def run(given: Any) -> Any:
        agent(given)
        return Scripted(script=Script(())).invoke("Say goodbye.").text

    return RunnableLambda(run)


def awaited(ran: list[str]) -> Any:
    own = tools_of(ran)

    async def result(call: Any) -> Any:
        if call["name"] == "pay":
            return own["pay"](**call["args"])
        return await own[call["name"]].ainvoke(call)

    async def run(given: Any) -> Any:
        messages = list(given["messages"])
        while True:
            chunks = [each async for each in MODEL.astream(messages)]
            reply: Any = chunks[0]
            messages.append(AIMessage(reply.content, tool_calls=reply.tool_calls))
            said = await asyncio.gather(*map(result, reply.tool_calls))
            if not said or isinstance(said[0], str):
                return "".join(said) or "Nothing was paid."
            messages += said

    return RunnableLambda(lambda given: asyncio.run(run(given)), run)


def graph(ran: list[str], pays: Callable[[Any, str], Any]) -> Any:
    """A graph whose node for paying is its last. ``pays``: what this node returns."""
    own = tools_of(ran)

    def think(state: MessagesState) -> Any:
        return {"messages": [MODEL.invoke(state["messages"])]}

    def read(state: MessagesState) -> Any:
        last: Any = state["messages"][-1]
        return {"messages": [own[each["name"]].invoke(each) for each in last.tool_calls]}

    def pay(state: MessagesState) -> Any:
        last: Any = state["messages"][-1]
        return pays(last.tool_calls[0], own["pay"](**last.tool_calls[0]["args"]))

    def goes_on(state: MessagesState) -> str:
        last: Any = state["messages"][-1]
        return (
            "pay"
            if last.tool_calls and last.tool_calls[0]["name"] == "pay"
            else ("read" if last.tool_calls else END)
        )

    made: Any = StateGraph(MessagesState)
    for node in (think, read, pay):
        made.add_node(node.__name__, node)
    made.add_edge(START, "think")
    made.add_conditional_edges("think", goes_on, ["pay", "read", END])
    made.add_edge("read", "think")
    made.add_edge("pay", END)
    return made.compile()


def with_a_message(ran: list[str]) -> Any:
    return graph(ran, lambda call, paid: {"messages": [ToolMessage(paid, tool_call_id=call["id"])]})


def with_nothing(ran: list[str]) -> Any:
    return graph(ran, lambda *_: {})


SHAPES = (
    sync,
    with_the_replys_text,
    with_the_reply,
    in_a_thread,
    within_another_agent,
    awaited,
    with_a_message,
    with_nothing,
)


def explained(application: Any, condition: Any = PAYS, **options: Any) -> Explanation:
    kinds = options.pop("source_kinds", ["tools"])
    explainer = RuleExplainer(application, condition, source_kinds=kinds, miner="exact", **options)
    return explainer.explain(asked())


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("shape", SHAPES)
def test_replays_end_at_the_reply_that_decides(shape: Any) -> None:
    ran = list[str]()
    explanation = explained(shape(ran))
    rules = (retention(explanation), omission(explanation))
    assert rules == INBOX.rules(ONE_BY_ONE, "pay", "whole_run")
    assert Counter(ran) == ONCE
    assert any("runs for a call of 'pay'" in each for each in explanation.notes)


@pytest.mark.parametrize("shape", [sync, with_a_message])
@pytest.mark.parametrize("condition", [contains("receipt"), calls_tool("calendar")], ids=str)
def test_a_reply_that_does_not_decide_is_refused(shape: Any, condition: Any) -> None:
    ran = list[str]()
    ways = r"@tool.*safe_tools=\['pay'\].*unexecuted_tools=\['pay'\]"
    with pytest.raises(InvalidInput, match=rf"became of the model's call of 'pay'.*{ways}"):
        explained(shape(ran), condition)
    assert Counter(ran) == ONCE


def test_a_condition_about_text_warns_where_documents_are_the_sources() -> None:
    ran, answer = list[str](), loop([])
    retriever = Counting(documents=[Document(page_content="Ducks of all kinds swim on lakes.")])

    def run(given: Any) -> Any:
        retriever.invoke("mail")
        return answer(given)

    chain = RunnableLambda(run)
    warnings = RuleExplainer(chain, contains("receipt")).explain(asked(("user", "Hi."))).warnings
    assert any("became of the model's call of 'pay'" in each for each in warnings)
    turns = asked(("user", "Hi."), ("assistant", "Good day to you."))
    with pytest.raises(InvalidInput, match="became of the model's call of 'pay'"):
        RuleExplainer(sync(ran), contains("receipt"), source_kinds=["turns"]).explain(turns)
    assert Counter(ran) == ONCE


def test_a_stub_that_cannot_stand_in_is_told() -> None:
    with pytest.raises(InvalidInput, match="stub_tools names 'pay', whose stub was not used"):
        explained(sync([]), stub_tools={"pay": "ok"})


@pytest.mark.parametrize("setting", ["safe_tools", "unexecuted_tools"])
def test_whoever_says_that_it_does_no_harm_is_believed(setting: str) -> None:
    ran = list[str]()
    explanation = explained(sync(ran), contains("receipt"), **{setting: ["pay"]})
    rules = (retention(explanation), omission(explanation))
    assert rules == INBOX.rules(ONE_BY_ONE, "pay", "whole_run")
    assert Counter(ran)["pay"] > 1


def test_calls_that_are_the_answer_are_left_to_the_caller() -> None:
    """Replays go on after a reply that does not decide the condition."""
    model = Scripted(script=Script((Step((PAY,), ("b",)), Step((LOOK,)))))
    store = gate(lambda _: [Document(TEXTS[each], id=each) for each in "ab"])

    def route(question: str) -> Any:
        found = "\n".join(each.page_content for each in store(question))
        reply: Any = model.invoke(f"{question} {found}")
        return reply if reply.tool_calls else "Nothing."

    condition = ~calls_tool("calendar")
    explanation = RuleExplainer(RunnableLambda(route), condition, miner="exact").explain(QUESTION)
    assert any("returned the model's call of 'pay'" in each for each in explanation.notes)
    assert explanation.complete
