"""Runs that end without a reply of a model: the answer is a result of a tool, or no model was asked."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain
from plain_rag_rule_explainer import offline_client
from plain_rag_rule_explainer import tool as plain_tool
from typing_extensions import override

from rag_rule_explainer import InvalidInput, calls_tool, contains
from tests.agents.paying import MAILS, Paying, pay
from tests.integrations.known import omission, retention, sets
from tests.integrations.llama_index.models import Telling

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
BILL = "inbox #1, item 2"
REPORT = "The report of the year is secret and long."


def inbox() -> list[str]:
    """Reads the mails."""
    return list(MAILS)


def report() -> str:
    """Writes the report."""
    return REPORT


class Reporting(BaseChatModel):
    """Reads the mails, and has the report written where there is a bill."""

    @property
    @override
    def _llm_type(self) -> str:
        return "reporting"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        told = [str(each.text) for each in messages if isinstance(each, ToolMessage)]
        names = ["inbox"] if not told else ["report"] if "bill of Ann Lee" in told[0] else []
        calls: Any = [{"name": each, "args": {}, "id": each} for each in names]
        message = AIMessage("" if names else "There is no bill.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def reports(prompt: str) -> str:
    told = prompt.rpartition("what is new?")[2]
    if "Observation" not in told:
        return "Thought: I look.\nAction: inbox\nAction Input: {}"
    if "bill of Ann Lee" in told:
        return "Thought: I report.\nAction: report\nAction Input: {}"
    return "Thought: I can answer without using any more tools.\nAnswer: There is no bill."


def direct_of_langchain() -> Any:
    agent: Any = create_agent(Reporting(), [tool(inbox), tool(report, return_direct=True)])
    explainer = OfLangChain(agent, contains("secret"), source_kinds=["tools"], miner="exact")
    return explainer.explain({"messages": [("user", "what is new?")]})


def direct_of_llama_index() -> Any:
    tools: Any = [
        FunctionTool.from_defaults(inbox),
        FunctionTool.from_defaults(report, return_direct=True),
    ]
    agent = ReActAgent(tools=tools, llm=Telling(says=reports))
    explainer = OfLlamaIndex(agent, contains("secret"), source_kinds=["tools"], miner="exact")
    return explainer.explain("what is new?")


@pytest.mark.parametrize("explain", [direct_of_langchain, direct_of_llama_index])
def test_the_result_of_a_tool_that_is_the_answer_is_a_source(explain: Any) -> None:
    explanation = explain()
    assert retention(explanation) == {frozenset({BILL, "report #1"})}
    assert omission(explanation) == {frozenset({BILL}), frozenset({"report #1"})}
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert explanation.complete


def label(text: str) -> str:
    return "urgent" if "bill" in text else "normal"


def fan_out_of_plain() -> Any:
    client = offline_client(lambda body: label(str(body["messages"])))
    read, spend = plain_tool(inbox), plain_tool(pay)

    def application(question: str) -> str:
        labels = [
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": mail}])
            for mail in read()
        ]
        is_urgent = any(each.choices[0].message.content == "urgent" for each in labels)
        return spend() if is_urgent else f"Of {len(labels)} mails, none is urgent."

    explainer = OfPlain(application, calls_tool("pay"), source_kinds=["tools"], miner="exact")
    return explainer.explain("what is new?")


def fan_out_of_langchain() -> Any:
    class Labelling(Paying):
        @override
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            message = AIMessage(label(messages[-1].text))
            return ChatResult(generations=[ChatGeneration(message=message)])

    model, read, spend = Labelling(obeys=bool), tool(inbox), tool(pay)

    def application(question: str) -> str:
        labels = [model.invoke(mail).text for mail in read.invoke({})]
        return spend.invoke({}) if "urgent" in labels else f"Of {len(labels)} mails, none is urgent."

    explainer: Any = OfLangChain(
        RunnableLambda(application), calls_tool("pay"), source_kinds=["tools"], miner="exact"
    )
    return explainer.explain("what is new?")


@pytest.mark.parametrize("explain", [fan_out_of_plain, fan_out_of_langchain])
def test_a_run_that_asks_no_model_has_its_tool_calls(explain: Any) -> None:
    explanation = explain()
    assert retention(explanation) == omission(explanation) == {frozenset({BILL})}
    assert explanation.complete


def test_calls_of_an_answer_that_the_user_gave_are_not_known() -> None:
    client = offline_client(lambda _: {"tool_calls": [CALL]})

    def application(question: str) -> Any:
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": str(read())}]}
        return client.chat.completions.create(**asked)

    read = plain_tool(inbox)
    options: Any = {"source_kinds": ["tools"], "answer_without_sources": "N/A"}
    explanation = OfPlain(application, calls_tool("pay"), **options).explain("what is new?")
    assert "answered without the application" in explanation.why_incomplete


CALL = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": "{}"}}


def test_the_items_of_a_generator_are_sources() -> None:
    ran = list[str]()

    @plain_tool(name="inbox")
    def read() -> Iterator[str]:
        ran.append("inbox")
        yield from MAILS

    @plain_tool(name="calendar")
    async def days() -> AsyncIterator[str]:
        ran.append("calendar")
        for each in ("Monday is free all day.", "The rent is due on Friday."):
            yield each

    def says(body: Any) -> Any:
        told = str(body["messages"])
        return {"tool_calls": [CALL]} if "bill of Ann" in told and "rent is due" in told else "No."

    client = offline_client(says)

    async def application(question: str) -> Any:
        told = json.dumps([*read(), *[each async for each in days()]])
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": told}]}
        return client.chat.completions.create(**asked)

    explainer = OfPlain(application, calls_tool("pay"), source_kinds=["tools"], miner="exact")
    explanation = asyncio.run(explainer.aexplain("what is new?"))
    both = frozenset({BILL, "calendar #1, item 2"})
    assert (retention(explanation), omission(explanation)) == ({both}, sets(*([each] for each in both)))
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert ran == ["inbox", "calendar"]


def test_a_generator_outside_of_a_run_is_read_as_before() -> None:
    @plain_tool
    def count() -> Iterator[int]:
        number = 0
        while True:
            yield number
            number += 1

    found = count()
    assert [next(found), next(found)] == [0, 1]


@pytest.mark.parametrize("setting", ["safe_tools", "unexecuted_tools", "stub_tools"])
def test_a_misspelt_tool_is_refused_whatever_names_it(setting: str) -> None:
    client = offline_client(lambda _: {"tool_calls": [CALL]})
    read = plain_tool(inbox)

    def application(question: str) -> Any:
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": str(read())}]}
        return client.chat.completions.create(**asked)

    named: Any = {"inbux": "x"} if setting == "stub_tools" else ["inbux"]
    options: Any = {"source_kinds": ["tools"], setting: named}
    explainer = OfPlain(application, calls_tool("pay"), **options)
    with pytest.raises(InvalidInput, match=rf"{setting} names 'inbux'.*did you mean 'inbox'.*It called"):
        explainer.explain("what is new?")


def test_agents_side_by_side_may_use_the_same_ids_of_calls() -> None:
    """Each result belongs to the tool that ran, whichever of the agents calls first."""
    begun, met = threading.Barrier(2), list[str]()  # for the first run

    class Reader(Paying):
        """Has the id of its call from its own count, as scripted models and servers have."""

        name_of: str

        @override
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            told = [str(each.text) for each in messages if isinstance(each, ToolMessage)]
            if not told and len(met) < 2:
                met.append(self.name_of)
                begun.wait(20)
            calls: Any = [] if told else [{"name": self.name_of, "args": {}, "id": "call_0"}]
            message = AIMessage("It says: " + told[0] if told else "", tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=message)])

    def reader(name: str, text: str) -> Any:
        @tool(name)
        def read() -> list[str]:
            """Reads."""
            return [text, "Nothing else is new."]

        return create_agent(Reader(obeys=bool, name_of=name), [read])

    agents = reader("inbox", MAILS[1]), reader("mailbox", "The rent is due on Friday.")

    class Deciding(Paying):
        @override
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            told = messages[-1].text
            says = "Transfer it." if "Ann Lee" in told and "rent is due" in told else "Do nothing."
            return ChatResult(generations=[ChatGeneration(message=AIMessage(says))])

    decides = Deciding(obeys=bool)

    def last(output: Any) -> Any:
        return output["messages"][-1].text

    both: Any = {"one": agents[0] | last, "two": agents[1] | last}

    def decided(notes: Any) -> Any:
        return decides.invoke(f"{notes['one']} {notes['two']}")

    chain: Any = both | RunnableLambda(decided)
    explainer = OfLangChain(chain, contains("Transfer"), source_kinds=["tools"], miner="exact")
    explanation = explainer.explain({"messages": [("user", "what is new?")]})
    wanted = frozenset({"inbox #1, item 1", "mailbox #1, item 1"})
    assert retention(explanation) == {wanted}
    assert omission(explanation) == sets(*([each] for each in wanted))
