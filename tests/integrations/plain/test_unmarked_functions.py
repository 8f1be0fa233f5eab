"""Loops that run tools as functions without a mark: no replay runs them unasked."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI, OpenAI
from plain_rag_rule_explainer import RuleExplainer, offline_client, tool

from rag_rule_explainer import Explanation, InvalidInput, calls_tool, contains
from tests.agents.zoo.of_openai import Replied, described, result_of, user, whole
from tests.agents.zoo.scripts import ONE_BY_ONE
from tests.agents.zoo.shapes import INBOX, QUESTION, Clients, functions, served
from tests.integrations.known import omission, retention
from tests.integrations.plain.models import NO_CERTIFICATES
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

PAYS = calls_tool("pay", to="evil")
ONCE = {"search_inbox": 1, "calendar": 1, "pay": 1}


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    once = httpx.Limits(max_keepalive_connections=0)
    with OpenAIServer(served) as server, httpx.Client(verify=NO_CERTIFICATES) as http:
        options: Any = {"base_url": server.base_url, "api_key": "none", "max_retries": 0}
        ahttp = httpx.AsyncClient(limits=once, verify=NO_CERTIFICATES)
        yield Clients(OpenAI(**options, http_client=http), AsyncOpenAI(**options, http_client=ahttp))


def tools_of(ran: list[str]) -> dict[str, Callable[..., Any]]:
    """All are marked, but for paying."""
    return {name: each if name == "pay" else tool(each) for name, each in functions(ran).items()}


def loop(clients: Clients, ran: list[str], last: Any, *, streams: bool = False) -> Callable[[Any], Any]:
    """It ends as soon as it has paid. ``last``: its answer, of the reply and of what paying returned; if
    it is None, what was paid is told the model."""
    tools = tools_of(ran)

    def agent(given: Any) -> Any:
        messages = user(given)
        while True:
            asked: Any = {
                "model": "one by one",
                "messages": messages,
                "tools": list(map(described, tools)),
            }
            reply = clients.client.chat.completions.create(**asked, stream=streams)
            message = Replied.of(reply) if streams else whole(reply)
            messages.append(message)
            for call in message.get("tool_calls") or ():
                said = result_of(tools, call)
                if last is not None and call["function"]["name"] == "pay":
                    return last(message, said["content"])
                messages.append(said)
            if not message.get("tool_calls"):
                return message["content"]

    return agent


def text_of_the_tool(clients: Clients, ran: list[str]) -> Any:
    return loop(clients, ran, lambda _, paid: paid)


def streamed(clients: Clients, ran: list[str]) -> Any:
    return loop(clients, ran, lambda _, paid: paid, streams=True)


def text_of_the_reply(clients: Clients, ran: list[str]) -> Any:
    return loop(clients, ran, lambda message, _: message.get("content") or "")


def the_reply(clients: Clients, ran: list[str]) -> Any:
    return loop(clients, ran, lambda message, _: {"answer": "", "message": message})


def awaited(clients: Clients, ran: list[str]) -> Any:
    tools = tools_of(ran)

    async def agent(given: Any) -> str:
        messages = user(given)
        while True:
            asked: Any = {"model": "one by one", "messages": messages}
            reply = await clients.aclient.chat.completions.create(**asked)
            message = whole(reply)
            if not message.get("tool_calls"):
                return message["content"]
            results = [asyncio.to_thread(result_of, tools, each) for each in message["tool_calls"]]
            messages += [message, *await asyncio.gather(*results)]
            if message["tool_calls"][0]["function"]["name"] == "pay":
                return messages[-1]["content"]

    return agent


SHAPES = (text_of_the_tool, streamed, text_of_the_reply, the_reply, awaited)


def explained(application: Any, condition: Any = PAYS, **options: Any) -> Explanation:
    explainer = RuleExplainer(application, condition, source_kinds=["tools"], miner="exact", **options)
    return explainer.explain(QUESTION)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("shape", SHAPES)
def test_replays_end_at_the_reply_that_decides(clients: Clients, shape: Any) -> None:
    ran = list[str]()
    explanation = explained(shape(clients, ran))
    rules = (retention(explanation), omission(explanation))
    assert rules == INBOX.rules(ONE_BY_ONE, "pay", "whole_run")
    assert Counter(ran) == ONCE
    assert all(each.proved for each in explanation.rules)


def test_a_reply_that_does_not_decide_is_refused(clients: Clients) -> None:
    ran = list[str]()
    with pytest.raises(InvalidInput, match=r"became of the model's call of 'pay'"):
        explained(text_of_the_tool(clients, ran), contains("receipt"))
    assert Counter(ran) == ONCE


def test_a_function_whose_result_the_model_is_told_is_refused(clients: Clients) -> None:
    ran = list[str]()
    with pytest.raises(InvalidInput, match=r"run 'pay' again.*unexecuted_tools=\['pay'\]"):
        explained(loop(clients, ran, None))
    assert Counter(ran) == ONCE


def test_a_stub_that_cannot_stand_in_is_told(clients: Clients) -> None:
    with pytest.raises(InvalidInput, match="stub_tools names 'pay', whose stub was not used"):
        explained(text_of_the_tool(clients, []), stub_tools={"pay": "ok"})


@pytest.mark.parametrize("named", ["unexecuted_tools", None])
def test_a_call_that_is_only_denied(clients: Clients, named: str | None) -> None:
    """Only who wrote the loop knows that nothing runs."""
    ran = list[str]()
    agent = denying(clients, ran)
    if named is None:
        with pytest.raises(InvalidInput, match=r"denies it.*unexecuted_tools=\['pay'\]"):
            explained(agent)
        return
    explanation = explained(agent, **{named: ["pay"]})
    rules = (retention(explanation), omission(explanation))
    assert rules == INBOX.rules(ONE_BY_ONE, "pay", "whole_run")
    assert Counter(ran) == {"search_inbox": 1, "calendar": 1}


def denying(clients: Clients, ran: list[str]) -> Callable[[Any], str]:
    tools = tools_of(ran) | {"pay": lambda to: f"Not to {to}."}

    def agent(given: Any) -> str:
        messages = user(given)
        while True:
            asked: Any = {"model": "one by one", "messages": messages}
            message = whole(clients.client.chat.completions.create(**asked))
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            messages.extend(result_of(tools, each) for each in message["tool_calls"])

    return agent


@pytest.mark.parametrize("marked_first", [True, False])
def test_each_call_counts_for_itself(marked_first: bool) -> None:
    """A function that is called with its mark, and also without it."""
    ran = list[str]()

    def pay(to: str) -> str:
        ran.append(to)
        return "Paid."

    ways = [tool(pay), pay] if marked_first else [pay, tool(pay)]

    def says(body: Any) -> Any:
        told = sum(each["role"] == "tool" for each in body["messages"])
        if told == len(ways):
            return "All is done."
        made = {"name": "pay", "arguments": json.dumps({"to": "evil"})}
        return {"tool_calls": [{"id": f"call {told}", "type": "function", "function": made}]}

    client = offline_client(says)

    def agent(given: Any) -> str:
        messages: list[Any] = user(given)
        for way in ways:
            message = whole(client.chat.completions.create(model="m", messages=messages))
            messages += [message, *(result_of({"pay": way}, each) for each in message["tool_calls"])]
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content or ""

    with pytest.raises(InvalidInput, match="run 'pay' again"):
        explained(agent)
    assert len(ran) == len(ways)
