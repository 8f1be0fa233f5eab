"""Agents with a tool that is called ``look``, and perhaps another one of the same name, as they are made
with LangChain, LlamaIndex and neither.

A reader searches the inbox. A clerk of one of two kinds then looks, and pays if it has found an order.
"""

import re
import uuid
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from mmap import mmap
from typing import Any, Literal

import langchain_rag_rule_explainer
import llama_index_rag_rule_explainer
import plain_rag_rule_explainer
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.tools import FunctionTool
from plain_rag_rule_explainer import offline_client, tool
from typing_extensions import override

from tests.agents.zoo.of_llama_index import Reading, Scripted
from tests.agents.zoo.of_openai import described, result_of
from tests.integrations.known import TEXTS, shown_in

When = Literal["early", "late", "once"]
"""When the tools are made: first of all in a run, or only when a clerk is needed; or before the runs."""
INBOX, ORDER, NOTHING = [TEXTS["a"], TEXTS["b"]], TEXTS["d"], TEXTS["c"]
SECOND_MAIL, FOUND = "search_inbox #1, item 2", "look #1"
ONLY = "Only look, and do nothing."
KNOWN: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
"""The text of each registered object. A test begins with an empty one."""


class Client:
    def __init__(self, text: str) -> None:
        self.text, self.asked = text, list[str]()


class Numbered(Client):
    """Has something of its own each time."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.session = uuid.uuid4()


class Bare:
    """Has nothing by which another one could be told from it."""


def of_client(text: str, kind: Callable[[str], Client] = Client) -> Callable[[], str]:
    client = kind(text)
    return lambda: client.text


def of_list(text: str) -> Callable[[], str]:
    texts = [text]
    return lambda: texts[0]


def of_filled_list(text: str) -> Callable[[], str]:
    texts = list[str]()

    def look() -> str:
        return texts[0]

    texts.append(text)
    return look


def of_class(text: str) -> Callable[[], str]:
    class Looking:
        def look(self) -> str:
            return text

    return Looking().look


def of_pattern(text: str) -> Callable[[], str]:
    pattern = re.compile(re.escape(text) + f"|{uuid.uuid4()}")
    return lambda: ORDER if pattern.match(ORDER) else NOTHING


def of_memory(text: str) -> Callable[[], str]:
    client = mmap(-1, len(text))
    client.write(text.encode())
    return lambda: client[:].decode()


def of_part(text: str) -> Callable[[], str]:
    return partial(of_client(text))


def of_registered(text: str) -> Callable[[], str]:
    client = Bare()
    KNOWN[client] = text
    return lambda: KNOWN[client]


WAYS: Mapping[str, Callable[[str], Callable[[], str]]] = {
    "client": of_client,
    "numbered client": lambda text: of_client(text, Numbered),
    "list": of_list,
    "filled list": of_filled_list,
    "class": of_class,
    "pattern": of_pattern,
    "memory": of_memory,
    "partial": of_part,
}
REGISTERED = "registered object"
"""This way makes tools that read their text in a register of the module, which each run adds to."""
COMPARABLE = {"client", "list", "filled list", "class", "partial"}
"""These ways make tools that hold only comparable objects: tools whose parts are equal do the same."""


def functions_of(way: str, kind: str, ran: list[str]) -> list[Callable[..., Any]]:
    """The tools of a clerk of this kind, which note that they ran."""
    of_text = of_registered if way == REGISTERED else WAYS[way]
    found = of_text(ORDER if kind == "first" else NOTHING)

    def look() -> str:
        """Looks."""
        ran.append("look")
        return found()

    def pay() -> str:
        """Pays."""
        ran.append("pay")
        return "A receipt was printed for the whole sum."

    return [look, pay]


def inbox_of(ran: list[str]) -> list[Callable[..., Any]]:
    """The tool of a reader."""

    def search_inbox() -> list[str]:
        """Searches the inbox."""
        ran.append("search_inbox")
        return INBOX

    return [search_inbox]


@dataclass
class Making:
    """A ``Making`` says how tools are made. ``two``: True if each kind of clerk has its own tools; else
    there is one clerk, who is not always asked to pay. ``ran``: the tools that were executed."""

    way: str
    when: When
    two: bool
    ran: list[str] = field(default_factory=list[str])

    def clerks(self, make: Callable[[str], Any]) -> Callable[[], Callable[[str], Any]]:
        """Returns a function that a run calls first. It returns one from the kind of a clerk to the
        clerk, which ``make`` makes."""

        two = self.two

        def made() -> Callable[[str], Any]:
            known = {kind: make(kind) for kind in (("first", "second") if two else ("first",))}
            return lambda kind: known[kind if two else "first"]

        if self.when == "late":
            return lambda: lambda kind: make(kind if two else "first")
        once = made()
        return made if self.when == "early" else lambda: once


def pays(kept: Collection[str]) -> bool:
    """Returns True iff the application pays when it gets these results: only the first clerk does."""
    return {SECOND_MAIL, FOUND} <= set(kept)


def next_name(text: str, made: Collection[str], tools: Collection[str]) -> str:
    """The tool that a model calls next; an empty text if it says its last words."""
    if "search_inbox" in tools:
        return "" if "search_inbox" in made else "search_inbox"
    if "look" not in made:
        return "look"
    return "pay" if "pay" not in made and ORDER in text and ONLY not in text else ""


def last_words(text: str) -> str:
    return "It says: " + " ".join(TEXTS[each] for each in shown_in(text))


def asked_for(words: str, *, two: bool) -> tuple[str, str]:
    """The kind of the clerk that comes after a reader with these last words, and what it is asked."""
    if "b" in shown_in(words):
        return "first", "Look, and pay what you are told."
    return "second", "Look, and pay what you are told." if two else ONLY


class Model(BaseChatModel):
    """A chat model that follows ``next_name``."""

    tools: tuple[str, ...]

    @property
    @override
    def _llm_type(self) -> str:
        return "of one name"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        text = "\n".join(str(each.text) for each in messages)
        made = [str(each.name) for each in messages if each.type == "tool"]
        name = next_name(text, made, self.tools)
        calls: Any = [{"name": name, "args": {}, "id": f"{len(messages)}"}] if name else []
        message = AIMessage("" if name else last_words(text), tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent_of(tools: list[Any]) -> Any:
    return create_agent(Model(tools=tuple(each.name for each in tools)), tools)


def graph_of(tools: list[Any]) -> Any:
    model = Model(tools=tuple(each.name for each in tools))

    def asking(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", asking)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def _of_langchain(making: Making, agent: Callable[[list[Any]], Any]) -> Any:
    def made(functions: list[Any]) -> Any:
        return agent([StructuredTool.from_function(each) for each in functions])

    def said(agent: Any, text: str) -> str:
        return agent.invoke({"messages": [("user", text)]})["messages"][-1].text

    way, two, ran = making.way, making.two, making.ran
    clerks = making.clerks(lambda kind: made(functions_of(way, kind, ran)))

    def run(given: str) -> str:
        clerk_of = clerks()
        kind, asked = asked_for(said(made(inbox_of(ran)), given), two=two)
        return said(clerk_of(kind), asked)

    return langchain_rag_rule_explainer.RuleExplainer, RunnableLambda(run)


class LlamaModel(Scripted):
    """An LLM of LlamaIndex that follows ``next_name``."""

    tools: tuple[str, ...] = ()

    @override
    def _chat(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatResponse:
        text = "\n".join(str(each.content) for each in messages)
        made = [
            block.tool_name
            for each in messages
            for block in each.blocks
            if isinstance(block, ToolCallBlock)
        ]
        name = next_name(text, made, self.tools)
        call = ToolCallBlock(tool_call_id=f"{len(messages)}", tool_name=name, tool_kwargs={})
        block = call if name else TextBlock(text=last_words(text))
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=[block]), raw={})


def function_agent_of(tools: list[Any]) -> Any:
    model = LlamaModel(tools=tuple(str(each.metadata.name) for each in tools))
    return FunctionAgent(tools=tools, llm=model, streaming=False)


def workflow_of(tools: list[Any]) -> Any:
    return Reading(LlamaModel(tools=tuple(str(each.metadata.name) for each in tools)), tools)


def _of_llama_index(making: Making, agent: Callable[[list[Any]], Any]) -> Any:
    def made(functions: list[Any]) -> Any:
        return agent([FunctionTool.from_defaults(each) for each in functions])

    async def said(agent: Any, text: str) -> str:
        given: Any = {"query" if isinstance(agent, Reading) else "user_msg": text}
        return str(await agent.run(**given))

    way, two, ran = making.way, making.two, making.ran
    clerks = making.clerks(lambda kind: made(functions_of(way, kind, ran)))

    async def run(given: str) -> str:
        clerk_of = clerks()
        kind, asked = asked_for(await said(made(inbox_of(ran)), given), two=two)
        return await said(clerk_of(kind), asked)

    return llama_index_rag_rule_explainer.RuleExplainer, run


def _plain(making: Making) -> Any:
    def says(body: Any) -> Any:
        text = "\n".join(str(each["content"]) for each in body["messages"])
        made = [
            call["function"]["name"] for each in body["messages"] for call in each.get("tool_calls") or ()
        ]
        name = next_name(text, made, [each["function"]["name"] for each in body["tools"]])
        call = {"id": f"{len(made)}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        return {"tool_calls": [call]} if name else last_words(text)

    client = offline_client(says)

    def said(tools: Any, text: str) -> str:
        messages: list[Any] = [{"role": "user", "content": text}]
        while True:
            asked: Any = {"model": "m", "messages": messages, "tools": list(map(described, tools))}
            message = client.chat.completions.create(**asked).choices[0].message.model_dump()
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            messages += [result_of(tools, each) for each in message["tool_calls"]]

    def made(functions: list[Any]) -> Any:
        return {each.__name__: tool(each) for each in functions}

    way, two, ran = making.way, making.two, making.ran
    clerks = making.clerks(lambda kind: made(functions_of(way, kind, ran)))

    def run(given: str) -> str:
        clerk_of = clerks()

        kind, asked = asked_for(said(made(inbox_of(ran)), given), two=two)
        return said(clerk_of(kind), asked)

    return plain_rag_rule_explainer.RuleExplainer, run


AGENTS: Mapping[str, Callable[[Making], Any]] = {
    "create_agent": partial(_of_langchain, agent=agent_of),
    "graph": partial(_of_langchain, agent=graph_of),
    "FunctionAgent": partial(_of_llama_index, agent=function_agent_of),
    "workflow": partial(_of_llama_index, agent=workflow_of),
    "plain": _plain,
}
"""Functions that make an application, and return it after the class that explains it."""
