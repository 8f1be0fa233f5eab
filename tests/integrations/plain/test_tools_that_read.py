"""Tests that the recorded result of a marked function counts only where it would read the same."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pytest
from plain_rag_rule_explainer import RuleExplainer, offline_client, tool

from rag_rule_explainer import calls_tool
from tests.agents.reading import MAILS, Omitted, cut, false_rules, next_call, policy_for

Tools: TypeAlias = Mapping[str, Callable[[], Any]]
TOOLS: Any = [{"type": "function", "function": {"name": "block", "parameters": {}}}]
SEEN: dict[str, str] = {}


def says(body: Mapping[str, Any]) -> str | Mapping[str, Any]:
    calls = [one for each in body["messages"] for one in each.get("tool_calls") or ()]
    called = [each["function"]["name"] for each in calls]
    said = "\n".join(str(each["content"]) for each in body["messages"] if each["role"] == "tool")
    wanted = next_call(called, said)
    if not wanted:
        return "done"
    call = {"id": f"c{len(called)}", "type": "function", "function": {"name": wanted, "arguments": "{}"}}
    return {"content": None, "tool_calls": [call]}


def run(question: str, tools: Tools, keep: Callable[[str], None]) -> str:
    """Runs an agent, and returns the names of the tools that it called, as JSON. ``keep``: gets what the
    tools have returned."""
    client, called = offline_client(says), list[str]()
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        reply = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
        message = reply.choices[0].message
        if not message.tool_calls:
            return json.dumps(called)
        messages.append(message.model_dump())
        for each in message.tool_calls:
            name = each.function.name  # pyright: ignore[reportAttributeAccessIssue] -- it is a function
            called.append(name)
            result = json.dumps(tools[name]())
            keep(result)
            messages.append({"role": "tool", "tool_call_id": each.id, "content": result})


def tools_with(omitted: Omitted, policy: Callable[[], Any]) -> Tools:
    @tool
    def inbox() -> list[str]:
        return cut("inbox #1", MAILS, omitted)

    @tool
    def block() -> str:
        return cut("block #1", "blocked", omitted)

    return {"inbox": inbox, "policy": policy, "block": block}


def ignored(_: str) -> None:
    pass


def list_of_the_run(omitted: Omitted) -> Any:
    def app(question: str) -> str:
        seen: list[str] = []

        @tool
        def policy() -> str:
            return cut("policy #1", policy_for(seen), omitted)

        return run(question, tools_with(omitted, policy), seen.append)

    return app


def global_dict(omitted: Omitted) -> Any:
    @tool
    def policy() -> str:
        return cut("policy #1", policy_for(SEEN["inbox"]), omitted)

    def keep(said: str) -> None:
        SEEN["inbox" if "policy" not in said else "policy"] = said

    return lambda question: run(question, tools_with(omitted, policy), keep)


class Desk:
    """A ``Desk`` has methods that are tools. ``owner`` depends on no source."""

    def __init__(self, omitted: Omitted) -> None:
        self.omitted = omitted
        self.seen = ""
        self.owner = "ann 4711"

    def keep(self, said: str) -> None:
        self.seen += said

    def text(self) -> str:
        return self.seen

    def policy(self) -> str:
        return cut("policy #1", policy_for(self.text()), self.omitted)

    def of_the_owner(self) -> str:
        return cut("policy #1", policy_for(self.owner), self.omitted)


def method_of_an_object(omitted: Omitted) -> Any:
    def app(question: str) -> str:
        desk = Desk(omitted)
        return run(question, tools_with(omitted, tool(desk.policy, name="policy")), desk.keep)

    return app


def object_in_a_closure(omitted: Omitted) -> Any:
    def app(question: str) -> str:
        desk = Desk(omitted)

        @tool
        def policy() -> str:
            return desk.policy()

        return run(question, tools_with(omitted, policy), desk.keep)

    return app


GUILTY: list[Any] = [list_of_the_run, global_dict, method_of_an_object, object_in_a_closure]


def attribute_that_stays(omitted: Omitted) -> Any:
    def app(question: str) -> str:
        desk = Desk(omitted)
        return run(question, tools_with(omitted, tool(desk.of_the_owner, name="policy")), desk.keep)

    return app


def closure_that_stays(omitted: Omitted) -> Any:
    known = {"ann": "4711"}

    @tool
    def policy() -> str:
        return cut("policy #1", policy_for(known["ann"]), omitted)

    return lambda question: run(question, tools_with(omitted, policy), ignored)


INNOCENT: list[Any] = [attribute_that_stays, closure_that_stays]


def explained(make: Any) -> Any:
    return RuleExplainer(make(()), calls_tool("block"), source_kinds=["tools"]).explain("What is new?")


def untrue(make: Any, explanation: Any) -> list[str]:
    return false_rules(explanation, lambda omitted: "block" in json.loads(make(omitted)("What is new?")))


@pytest.mark.parametrize("make", GUILTY, ids=lambda make: make.__name__)
def test_no_false_rule_about_a_tool_that_reads_what_the_run_made(make: Any) -> None:
    explanation = explained(make)

    assert untrue(make, explanation) == []
    assert not explanation.complete
    assert explanation.doubted or "safe_tools=['policy']" in str(explanation)


@pytest.mark.parametrize("make", INNOCENT, ids=lambda make: make.__name__)
def test_a_tool_that_reads_what_no_source_changes_gets_its_recorded_result(make: Any) -> None:
    explanation = explained(make)

    assert untrue(make, explanation) == []
    assert explanation.complete
    assert not explanation.doubted
