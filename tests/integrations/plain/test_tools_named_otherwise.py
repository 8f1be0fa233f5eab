"""Functions with ``@tool`` whose names are not those of the model's tools: a dict maps the names."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from plain_rag_rule_explainer import RuleExplainer, offline_client, tool

from rag_rule_explainer import Explanation, InvalidInput, calls_tool
from tests.integrations.known import retention

pytestmark = pytest.mark.waits

NEWS = ["A festival takes place.", "The metro is on strike."]
BOTH = frozenset({"get_news #1, item 1", "get_news #1, item 2"})
Marking = Callable[[str], Callable[[Any], Any]]


def replies(body: Any) -> Any:
    text = json.dumps(body["messages"])
    if "tool_call_id" not in text:
        return [{"name": "get_news", "arguments": {}}]
    if all(each in text for each in NEWS) and "booked" not in text:
        return [{"name": "book", "arguments": {"to": "Paris"}}]
    return "There is nothing more to do."


def as_message(reply: Any) -> Any:
    if isinstance(reply, str):
        return reply
    calls = [
        {
            "id": f"call_{each['name']}",
            "type": "function",
            "function": {"name": each["name"], "arguments": json.dumps(each["arguments"])},
        }
        for each in reply
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def application(marked: Marking, ran: Counter[str]) -> Callable[[str], str]:
    client: Any = offline_client(lambda body: as_message(replies(body)))

    @marked("get_news")
    def _get_news() -> list[str]:
        ran["get_news"] += 1
        return NEWS

    @marked("book")
    def _book(to: str) -> str:
        ran["book"] += 1
        return f"booked for {to}"

    functions: dict[str, Any] = {"get_news": _get_news, "book": _book}

    def agent(question: str) -> str:
        messages: list[Any] = [{"role": "user", "content": question}]
        while True:
            said = client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return str(said.content)
            for each in said.tool_calls:
                function = each.function
                made = functions[function.name](**json.loads(function.arguments))
                messages.append({"role": "tool", "tool_call_id": each.id, "content": json.dumps(made)})

    return agent


def explained(marked: Marking, ran: Counter[str], replay_of: Any) -> Explanation:
    options: Any = {"source_kinds": ["tools"], "replay_of": replay_of}
    return RuleExplainer(application(marked, ran), calls_tool("book"), **options).explain("Plan it.")


@pytest.mark.parametrize("replay_of", ["next_action", "whole_run"])
def test_a_function_is_marked_by_the_name_that_the_model_knows(replay_of: Any) -> None:
    ran = Counter[str]()
    explanation = explained(lambda name: tool(name=name), ran, replay_of)
    assert retention(explanation) == {BOTH}
    assert {str(each.claim) for each in explanation.rules} == {"proved"}
    assert ran == {"get_news": 1, "book": 1}


@pytest.mark.parametrize("replay_of", ["next_action", "whole_run"])
def test_the_error_says_that_the_mark_has_another_name(replay_of: Any) -> None:
    ran, named = Counter[str](), r"@tool is on '_book', '_get_news', .* @tool\(name='(book|get_news)'\)"
    with pytest.raises(InvalidInput, match=named):
        explained(lambda _: tool, ran, replay_of)
    assert ran == {"get_news": 1, "book": 1}


def test_functions_without_a_mark_are_not_said_to_have_one() -> None:
    with pytest.raises(InvalidInput, match="put @tool on that function") as caught:
        explained(lambda _: lambda function: function, Counter[str](), "whole_run")
    assert "@tool is on" not in str(caught.value)


def test_a_name_has_to_be_a_text() -> None:
    wrong: Any = 3
    with pytest.raises(InvalidInput, match="takes the name by which the model calls it, not 3"):
        tool(name=wrong)
