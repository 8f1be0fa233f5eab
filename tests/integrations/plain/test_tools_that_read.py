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


def says(body: Mapping[str, Any], *, noting: bool = False) -> str | Mapping[str, Any]:
    calls = [one for each in body["messages"] for one in each.get("tool_calls") or ()]
    called = [each["function"]["name"] for each in calls]
    said = "\n".join(str(each["content"]) for each in body["messages"] if each["role"] == "tool")
    wanted = next_call(called, said, noting=noting)
    if not wanted:
        return "done"
    call = {"id": f"c{len(called)}", "type": "function", "function": {"name": wanted, "arguments": "{}"}}
    return {"content": None, "tool_calls": [call]}


def says_with_notes(body: Mapping[str, Any]) -> str | Mapping[str, Any]:
    return says(body, noting=True)


def run(question: str, tools: Tools, keep: Callable[[str], None], model: Any = says) -> str:
    """Runs an agent, and returns the names of the tools that it called, as JSON. ``keep``: gets what the
    tools have returned."""
    client, called = offline_client(model), list[str]()
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


class Case:
    """A ``Case`` is made before the run, and each run finds what earlier ones have left in it."""

    def __init__(self) -> None:
        self.note: Case | None = None


def agent_with_a_case(omitted: Omitted) -> Any:
    case = Case()

    @tool
    def remember() -> str:
        case.note = Case()
        return cut("remember #1", "noted", omitted)

    @tool
    def policy() -> str:
        return cut("policy #1", policy_for("4711" if case.note else ""), omitted)

    tools = {**tools_with(omitted, policy), "remember": remember}
    return lambda question: run(question, tools, ignored, says_with_notes)


def test_what_marked_functions_that_run_again_leave_for_later_runs_is_noticed() -> None:
    explainer = RuleExplainer(
        agent_with_a_case(()),
        calls_tool("block"),
        source_kinds=["tools"],
        safe_tools=["remember", "policy"],
    )
    explanation = explainer.explain("What is new?")

    assert explanation.doubted
    assert "'note' of Case" in str(explanation) or "Case.note" in str(explanation)


def agent_with_a_mirror(omitted: Omitted, text: str) -> Any:
    """Returns an agent that asks ``mirror`` where ``policy`` has no result."""

    def looked_up(_: str) -> str:
        return cut("policy #1", text, omitted)

    policy, mirror = tool(lambda: looked_up(""), name="policy"), tool(lambda: text, name="mirror")
    client = offline_client(with_a_mirror)

    def ask(question: str) -> str:
        messages, called = [{"role": "user", "content": question}], list[str]()
        while True:
            reply: Any = client.chat.completions.create(model="m", messages=messages)  # pyright: ignore[reportArgumentType, reportCallIssue] -- the messages are dicts
            message = reply.choices[0].message
            if not message.tool_calls:
                return json.dumps(called)
            messages.append(message.model_dump())
            name = message.tool_calls[0].function.name
            called.append(name)
            result = {"policy": policy, "mirror": mirror, "block": lambda: "blocked"}[name]()
            messages.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": result})

    return ask


def with_a_mirror(body: Mapping[str, Any]) -> str | Mapping[str, Any]:
    calls = [one for each in body["messages"] for one in each.get("tool_calls") or ()]
    called = [each["function"]["name"] for each in calls]
    said = "\n".join(str(each["content"]) for each in body["messages"] if each["role"] == "tool")
    wanted = "policy" if "policy" not in called else ""
    if called and "block" not in said and "mirror" not in called:
        wanted = "mirror"
    elif "block" in said and "block" not in called:
        wanted = "block"
    if not wanted:
        return "done"
    call = {"id": f"c{len(called)}", "type": "function", "function": {"name": wanted, "arguments": "{}"}}
    return {"content": None, "tool_calls": [call]}


@pytest.mark.parametrize("text", ["policy: block the sender", "policy: block"])
@pytest.mark.parametrize("options", [{"safe_tools": ["mirror"]}, {"on_new_tool_call": "live"}])
def test_a_text_of_another_tool_is_not_taken_for_the_omitted_source(
    text: str, options: Mapping[str, Any]
) -> None:
    def make(omitted: Omitted) -> Any:
        return agent_with_a_mirror(omitted, text)

    explainer = RuleExplainer(
        make(()), calls_tool("block"), source_kinds=["tools"], unexecuted_tools=["block"], **options
    )
    explanation = explainer.explain("What is new?")

    assert untrue(make, explanation) == []
    assert "the text of 'policy #1'" in str(explanation) or any(
        not rule.sources for rule in explanation.rules
    )
