"""Results of functions marked as tools, as sources of an application that uses the OpenAI client."""

import json
from typing import Any

import pytest
from plain_rag_rule_explainer import RuleExplainer, offline_client, tool

from rag_rule_explainer import calls_tool
from tests.integrations.known import TEXTS, omission, retention, shown_in
from tests.integrations.plain.models import client_of
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer


def called(name: str, identity: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": identity, "type": "function", "function": function}


def gullible(body: Body) -> Completion:
    """Reads the inbox and the calendar, both in one reply; pays where it is shown b and d."""
    results = [str(each.get("content")) for each in body["messages"] if each["role"] == "tool"]
    if not results:
        reads = called("search_inbox", "1", of="today"), called("calendar", "2")
        return Completion(None, "tool_calls", reads)
    if {"b", "d"} <= set(shown_in("\n".join(results))) and len(results) < 3:
        return Completion(None, "tool_calls", (called("pay", "3", to="evil"),))
    return Completion("All of it is done.")


@pytest.mark.spread(fast=2)
@pytest.mark.waits
@pytest.mark.parametrize("dump", [json.dumps, str])
def test_items_and_whole_results(dump: Any) -> None:
    ran = list[str]()

    @tool
    def search_inbox(of: str) -> Any:
        ran.append("search_inbox")
        return [{"of": of, "body": TEXTS[each]} for each in "abc"]

    @tool
    def calendar() -> str:
        ran.append("calendar")
        return TEXTS["d"]

    @tool
    def pay(to: str) -> str:
        ran.append("pay")
        return f"Here is the receipt of the sum that was paid to {to} today."

    tools: Any = [{"type": "function", "function": {"name": "pay", "parameters": {}}}]
    with OpenAIServer(gullible) as server, client_of(server.base_url) as client:

        def application(question: str) -> str:
            messages: list[Any] = [{"role": "user", "content": question}]
            while True:
                asked: Any = {"model": "m", "messages": messages, "tools": tools}
                message = client.chat.completions.create(**asked).choices[0].message
                if not message.tool_calls:
                    return message.content or ""
                messages.append(message.model_dump(exclude_none=True))
                for each in message.tool_calls:
                    by_name: Any = {"search_inbox": search_inbox, "calendar": calendar, "pay": pay}
                    result = by_name[each.function.name](**json.loads(each.function.arguments))
                    content = result if isinstance(result, str) else dump(result)
                    messages.append({"role": "tool", "tool_call_id": each.id, "content": content})

        explainer = RuleExplainer(application, calls_tool("pay"), source_kinds=["tools"])
        explanation = explainer.explain("What is new?")
    told = {"search_inbox #1, item 2", "calendar #1"}
    assert retention(explanation) == {frozenset(told)}
    assert omission(explanation) == {frozenset({each}) for each in told}
    assert explanation.ended
    assert sorted(ran) == ["calendar", "pay", "search_inbox"]


@pytest.mark.parametrize("quoted", [False, True])
def test_numbers_as_they_are_spelled(quoted: bool) -> None:
    """The model is shown the text of the tool, and what is omitted is cut out of it."""
    bills = '[{"of": "Ann Lee", "sum": 5.50}, {"of": "Bo", "sum": 7.00}, {"of": "Cy", "sum": 1e3}]'
    ran = list[str]()

    @tool
    def read_bills() -> str:
        ran.append("read_bills")
        return json.dumps(bills) if quoted else bills

    def says(body: Any) -> Any:
        results = [str(each["content"]) for each in body["messages"] if each["role"] == "tool"]
        if not results:
            return {"tool_calls": [called("read_bills", "1")]}
        has_seven = "7.00" in results[0] and "Bo" in results[0]
        return {"tool_calls": [called("pay", "2", to="Bo")]} if has_seven else "Nothing is due."

    client = offline_client(says)

    def application(question: str) -> Any:
        messages: list[Any] = [{"role": "user", "content": question}]
        first: Any = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(first.model_dump(exclude_none=True))
        messages.append({"role": "tool", "tool_call_id": "1", "content": read_bills()})
        return client.chat.completions.create(model="m", messages=messages)

    explainer = RuleExplainer(application, calls_tool("pay"), source_kinds=["tools"], miner="exact")
    explanation = explainer.explain("What is due?")
    assert retention(explanation) == {frozenset({"read_bills #1, item 2"})}
    assert [each.text for each in explanation.sources][1:] == [
        '{"of": "Bo", "sum": 7.00}',
        '{"of": "Cy", "sum": 1e3}',
    ]
    assert ran == ["read_bills"]
