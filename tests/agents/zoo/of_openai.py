"""Loops over the official OpenAI client, as people write them without a framework."""

import asyncio
import json
from collections.abc import AsyncIterable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from plain_rag_rule_explainer import gate, tool

from rag_rule_explainer import InvalidInput
from tests.agents.zoo.scripts import AT_ONCE, World
from tests.agents.zoo.shapes import (
    DELEGATED,
    DELEGATES,
    DOCUMENTS,
    EARLIER,
    QUESTION,
    UNDATED,
    Built,
    Clients,
    Shape,
    functions,
)
from tests.integrations.known import TEXTS

Loop = Callable[..., Callable[[Any], Any]]


def described(name: str) -> Any:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def user(given: Any) -> list[Any]:
    return [{"role": "user", "content": given}]


def result_of(tools: dict[str, Callable[..., Any]], call: Any) -> Any:
    said = tools[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
    content = said if isinstance(said, str) else json.dumps(said)
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def marked(ran: list[str], day: str = "d") -> dict[str, Callable[..., Any]]:
    return {name: tool(each) for name, each in functions(ran, day=day).items()}


class Replied:
    """A reply, put together from its chunks."""

    def __init__(self) -> None:
        self.text, self.calls = "", dict[int, dict[str, Any]]()

    def take(self, chunk: Any) -> None:
        delta = chunk.choices[0].delta if chunk.choices else None
        self.text += (delta and delta.content) or ""
        for each in (delta and delta.tool_calls) or ():
            none: dict[str, Any] = {
                "id": "",
                "type": "function",
                "function": {"name": "", "arguments": ""},
            }
            call = self.calls.setdefault(each.index, none)
            call["id"] += each.id or ""
            call["function"]["name"] += each.function.name or ""
            call["function"]["arguments"] += each.function.arguments or ""

    @property
    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        return message | ({"tool_calls": list(self.calls.values())} if self.calls else {})

    @classmethod
    def of(cls, chunks: Iterable[Any]) -> dict[str, Any]:
        reply = cls()
        for chunk in chunks:
            reply.take(chunk)
        return reply.message

    @classmethod
    async def aof(cls, chunks: AsyncIterable[Any]) -> dict[str, Any]:
        reply = cls()
        async for chunk in chunks:
            reply.take(chunk)
        return reply.message


def whole(reply: Any) -> dict[str, Any]:
    return reply.choices[0].message.model_dump(exclude_none=True)


def in_order(tools: Any, calls: list[Any]) -> list[Any]:
    return [result_of(tools, each) for each in calls]


def in_threads(tools: Any, calls: list[Any]) -> list[Any]:
    with ThreadPoolExecutor(2) as pool:
        own = [(copy_context(), each) for each in reversed(calls)]
        made = [pool.submit(context.run, result_of, tools, each) for context, each in own]
    return [each.result() for each in reversed(made)]


def loop(
    clients: Clients,
    tools: Any,
    model: str = "one by one",
    *,
    first: Callable[[Any], list[Any]] = user,
    streams: bool = False,
    results: Any = in_order,
    ends: str = "",
) -> Callable[[Any], str]:
    """The loop that every tutorial has. ``ends``: the tool after which it asks no more."""

    def agent(given: Any) -> str:
        messages = first(given)
        while True:
            asked: Any = {"model": model, "messages": messages, "tools": list(map(described, tools))}
            reply = clients.client.chat.completions.create(**asked, stream=streams)
            message = Replied.of(reply) if streams else whole(reply)
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            messages += results(tools, message["tool_calls"])
            if message["tool_calls"][0]["function"]["name"] == ends:
                return messages[-1]["content"]

    return agent


def aloop(
    clients: Clients, tools: Any, model: str = "one by one", *, streams: bool = False
) -> Callable[[Any], Any]:
    """The same, asynchronously, with tools at once."""

    async def result(call: Any) -> Any:
        await asyncio.sleep(0.002 if call["function"]["name"] == "search_inbox" else 0)
        return result_of(tools, call)

    async def agent(given: Any) -> str:
        messages = user(given)
        while True:
            asked: Any = {"model": model, "messages": messages, "tools": list(map(described, tools))}
            reply: Any = await clients.aclient.chat.completions.create(**asked, stream=streams)
            message = await Replied.aof(reply) if streams else whole(reply)
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            messages += await asyncio.gather(*map(result, message["tool_calls"]))

    return agent


def plain(clients: Clients) -> Built:
    return Built(loop(clients, marked(ran := [])), QUESTION, ran)


def awaited(clients: Clients) -> Built:
    return Built(aloop(clients, marked(ran := [])), QUESTION, ran)


def in_parallel(clients: Clients) -> Built:
    return Built(aloop(clients, marked(ran := []), "at once"), QUESTION, ran)


def threaded(clients: Clients) -> Built:
    agent = loop(clients, marked(ran := []), "at once", results=in_threads)
    return Built(agent, QUESTION, ran)


def streamed(clients: Clients) -> Built:
    return Built(loop(clients, marked(ran := []), streams=True), QUESTION, ran)


def astreamed(clients: Clients) -> Built:
    return Built(aloop(clients, marked(ran := []), streams=True), QUESTION, ran)


def said(*turns: tuple[str, str]) -> list[Any]:
    return [{"role": role, "content": text} for role, text in turns]


def unmarked(clients: Clients) -> Built:
    tools = marked(ran := []) | {"pay": functions(ran)["pay"]}
    return Built(loop(clients, tools), QUESTION, ran)


def ending(clients: Clients) -> Built:
    tools = marked(ran := []) | {"pay": functions(ran)["pay"]}
    return Built(loop(clients, tools, ends="pay"), QUESTION, ran)


def with_history(clients: Clients) -> Built:
    agent = loop(clients, marked(ran := [], day=""), first=list)
    return Built(agent, said(*EARLIER, ("user", QUESTION)), ran)


def with_examples(clients: Clients) -> Built:
    def first(given: Any) -> list[Any]:
        return said(*EARLIER, ("user", given))

    return Built(loop(clients, marked(ran := [], day=""), first=first), QUESTION, ran)


def with_sections(clients: Clients) -> Built:
    prompt = f"<tone>{TEXTS['c']}</tone>\n<facts>{TEXTS['d']}</facts>\n"

    def first(given: Any) -> list[Any]:
        return said(("system", prompt), ("user", given))

    return Built(loop(clients, marked(ran := [], day=""), first=first), QUESTION, ran)


def mixed(clients: Clients) -> Built:
    """Documents that a gated search finds inside a tool, what another returns, and turns."""

    @gate
    def find(of: str) -> list[dict[str, str]]:
        return [{"id": each, "text": TEXTS[each]} for each in "ab"]

    def search_inbox(of: str) -> str:
        return "\n\n".join(each["text"] for each in find(of))

    tools = marked(ran := [], day="") | {"search_inbox": search_inbox}
    return Built(loop(clients, tools, first=list), said(*EARLIER, ("user", QUESTION)), ran)


def delegating(clients: Clients, **options: Any) -> Built:
    own = marked(ran := [])
    expert = loop(clients, {name: own[name] for name in ("search_inbox", "calendar")}, "reads")

    @tool
    def ask_expert(task: str) -> str:
        return expert(task)

    agent = loop(clients, {"ask_expert": ask_expert, "pay": own["pay"]}, "delegates")
    return Built(agent, QUESTION, ran, options=options)


def opened(clients: Clients) -> Built:
    return delegating(clients, safe_tools=["ask_expert"])


SHAPES = (
    Shape("OpenAI client: a loop", plain),
    Shape("OpenAI client: async", awaited),
    Shape("OpenAI client: parallel calls, awaited at once", in_parallel, script=AT_ONCE),
    Shape("OpenAI client: parallel calls, in threads", threaded, script=AT_ONCE),
    Shape("OpenAI client: streamed", streamed),
    Shape("OpenAI client: async and streamed", astreamed),
    Shape(
        "OpenAI client: pays by a function without `@tool`",
        unmarked,
        refused={"whole_run": (InvalidInput, "run 'pay' again")},
    ),
    Shape("OpenAI client: pays by a function without `@tool`, and ends", ending),
    Shape(
        "OpenAI client: earlier turns",
        with_history,
        World(UNDATED, {"turn 1": "c", "turn 2": "d"}),
        kinds=("tools", "turns"),
    ),
    Shape(
        "OpenAI client: few-shot examples",
        with_examples,
        World(UNDATED, {"example 1": "c", "example 2": "d"}),
        kinds=("tools", "examples"),
    ),
    Shape(
        "OpenAI client: sections of the system message",
        with_sections,
        World(UNDATED, {"instructions: tone": "c", "instructions: facts": "d"}),
        kinds=("tools", "instructions"),
    ),
    Shape(
        "OpenAI client: documents, a tool and turns",
        mixed,
        World(DOCUMENTS, {"turn 1": "c", "turn 2": "d"}),
        kinds=("documents", "tools", "turns"),
        once=("calendar", "pay"),
    ),
    Shape("OpenAI client: an agent in a tool", delegating, DELEGATED, DELEGATES),
    Shape("OpenAI client: an agent in a tool, named safe", opened, ways=("whole_run",)),
)
