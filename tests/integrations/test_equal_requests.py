"""A replay of the next action gets a recorded reply only for the request that had this reply. Beside each
application that asks something else stands one that does not, whose rules stay proved."""

import datetime
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain
from plain_rag_rule_explainer import offline_client

from rag_rule_explainer import Explanation, contains
from tests.integrations.langchain.models import Telling
from tests.integrations.later_shapes import QUESTION, TURNS, Messages
from tests.integrations.test_texts_made_of_turns import Chatting, as_dicts, pairs

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

CHECK, KNOWN = "Check it.", "Bonn"
OPTIONS: Any = {"source_kinds": ["turns"], "replay_of": "next_action", "miner": "exact"}
Second = Callable[[bool], Sequence[Any]]
"""A function from whether the second turn is there to the messages of the second request."""


def tell(messages: Sequence[tuple[str, str]]) -> str:
    last = messages[-1][1]
    if last == CHECK:
        return "It is good."
    return "It is paid." if KNOWN in str(messages) and "good" in last else "It is open."


def told(messages: Sequence[tuple[str, str]]) -> str:
    return tell(messages)


def telling() -> Telling:
    def says(messages: list[BaseMessage]) -> str:
        return tell([(each.type, str(each.text)) for each in messages])

    return Telling(says=says)


def called(result: str, **arguments: str) -> list[Any]:
    call = {"name": "look", "args": arguments, "id": str(uuid.uuid4())}
    return [
        ("user", "Go."),
        AIMessage("", tool_calls=[call]),
        ToolMessage(result, tool_call_id=call["id"]),
    ]


def system(text: object) -> list[Any]:
    return [("system", str(text))]


MODEL, OTHER = telling(), telling()
Ask = Callable[[Sequence[Any]], str]


def plainly(has: bool) -> Ask:
    return lambda messages: MODEL.invoke(list(messages)).text


def explained(second: Second, asking: Callable[[bool], Ask] = plainly, **options: Any) -> Explanation:
    def application(given: Any) -> str:
        messages = pairs(given)
        has = KNOWN in str(messages)
        MODEL.invoke(messages)
        checked = asking(has)([*second(has), ("user", CHECK)])
        return MODEL.invoke([*messages[:-1], ("user", f"{checked} {KNOWN if has else ''}")]).text

    explainer = RuleExplainer(RunnableLambda(application), contains("is paid"), **OPTIONS, **options)
    return explainer.explain(as_dicts([*TURNS, QUESTION]))


def claims(explanation: Explanation) -> set[str]:
    return {str(each.claim) for each in explanation.rules}


VOLATILE: dict[str, Second] = {
    "a date": lambda has: system("Day 2026-11-30" if has else "Day 2026-11-29"),
    "a time": lambda has: system("Slot 10:00" if has else "Slot 12:30"),
    "an id": lambda has: system(uuid.UUID(int=9 if has else 8, version=4)),
    "a date that comes to the time": lambda has: system(
        f"{datetime.datetime.now(datetime.timezone.utc)}, day {'2026-11-30' if has else '2026-11-29'}"
    ),
}
OTHERS: dict[str, tuple[Second, Callable[[bool], Ask]]] = {
    "result": (lambda has: called("good" if has else "bad"), plainly),
    "arguments": (lambda has: called("good", of="Ann" if has else "Bob"), plainly),
    "model": (lambda _: [], lambda has: lambda said: (MODEL if has else OTHER).invoke(list(said)).text),
    "parameters": (
        lambda _: [],
        lambda has: lambda said: MODEL.invoke(list(said), temperature=0.1 if has else 0.9).text,
    ),
    "model made anew": (
        lambda _: [],
        lambda has: lambda said: Telling(says=MODEL.says, spends=5 if has else 6).invoke(list(said)).text,
    ),
}
INNOCENT: dict[str, tuple[Second, Callable[[bool], Ask]]] = {
    "times": (lambda _: system(datetime.datetime.now(datetime.timezone.utc)), plainly),
    "ids": (lambda _: system(uuid.uuid4()), plainly),
    "days": (lambda _: system(datetime.datetime.now(datetime.timezone.utc).date()), plainly),
    "calls of its own": (lambda _: called("good", of="Ann"), plainly),
    "parameters": (lambda _: [], lambda _: lambda said: MODEL.invoke(list(said), temperature=0.1).text),
    "model made anew": (
        lambda _: [],
        lambda _: lambda said: Telling(says=MODEL.says).invoke(list(said)).text,
    ),
}


@pytest.mark.parametrize("name", VOLATILE)
def test_a_request_with_another_value_leaves_nothing_proved(name: str) -> None:
    explanation = explained(VOLATILE[name])
    assert claims(explanation) == {"unverified"}
    assert "where the runs with all sources have" in explanation.warnings[0]


@pytest.mark.parametrize("name", OTHERS)
def test_another_request_gets_no_recorded_reply(name: str) -> None:
    explanation = explained(*OTHERS[name])
    left_out = [each.error for each in explanation.probes if "turn 2" not in each.kept]
    assert all("before the next action" in each for each in left_out)
    assert not any(each.error for each in explanation.probes if "turn 2" in each.kept)


@pytest.mark.parametrize("name", INNOCENT)
def test_an_equal_request_gets_the_recorded_reply(name: str) -> None:
    explanation = explained(*INNOCENT[name])
    assert claims(explanation) == {"proved"}
    assert not explanation.warnings


def test_values_that_ignore_names_are_equal() -> None:
    explanation = explained(VOLATILE["a date"], ignore=[r"2026-11-\d\d"])
    assert claims(explanation) == {"proved"}


def steps(ask: Callable[[Any, Messages], str], one: Any, two: Any) -> Callable[[Any], str]:
    def application(given: Any) -> str:
        messages = pairs(given)
        has = KNOWN in str(messages)
        ask(one, messages)
        checked = ask(one if has else two, [("user", CHECK)])
        return ask(one, [*messages[:-1], ("user", f"{checked} {KNOWN if has else ''}")])

    return application


def ask_llm(llm: Chatting, messages: Messages) -> str:
    said = [ChatMessage(text, role=MessageRole(role)) for role, text in messages]
    return llm.chat(said).message.content or ""


def ask_client(client: Any, messages: Messages) -> str:
    reply = client.chat.completions.create(model="m", messages=as_dicts(messages))
    return str(reply.choices[0].message.content)


@pytest.mark.parametrize("is_other", [True, False])
@pytest.mark.parametrize("framework", ["llama_index", "plain"])
def test_another_model_or_client_gets_no_recorded_reply(framework: str, *, is_other: bool) -> None:
    questions: Any = {"question_of": str}
    if framework == "llama_index":
        one, two = Chatting(tell=tell), Chatting(tell=told)
        explainer: Any = OfLlamaIndex(
            steps(ask_llm, one, two if is_other else one), contains("is paid"), **OPTIONS, **questions
        )
    else:
        clients = [offline_client(lambda body: tell(pairs(body["messages"]))) for _ in range(2)]
        clients[1].base_url = "https://other.example"
        application = steps(ask_client, clients[0], clients[is_other])
        explainer = OfPlain(application, contains("is paid"), **OPTIONS, **questions)
    explanation = explainer.explain(as_dicts([*TURNS, QUESTION]))
    assert any("asks another model" in each.error for each in explanation.probes) == is_other
    assert ("proved" in claims(explanation)) or is_other


def changed_to(name: str) -> Callable[[Any, bool], Any]:
    def change(client: Any, has: bool) -> Any:
        if has:
            setattr(client, name, "https://other.example" if name == "base_url" else "other")
        return client

    return change


MADE_BY_THE_RUN: dict[str, tuple[Callable[[bool], str], Callable[[Any, bool], Any], bool]] = {
    "always alike": (lambda _: "https://one.example", lambda client, _: client, True),
    "for another endpoint": (
        lambda has: f"https://{'one' if has else 'two'}.example",
        lambda client, _: client,
        False,
    ),
    "and given another endpoint later": (lambda _: "https://one.example", changed_to("base_url"), False),
    "and given another key later": (lambda _: "https://one.example", changed_to("api_key"), False),
}


@pytest.mark.parametrize("name", MADE_BY_THE_RUN)
def test_a_client_that_each_run_makes_is_compared_as_it_was_made(name: str) -> None:
    url_for, changed, is_same = MADE_BY_THE_RUN[name]

    def application(given: Any) -> str:
        messages = pairs(given)
        has = KNOWN in str(messages)
        client: Any = offline_client(lambda body: tell(pairs(body["messages"])))
        client.base_url = url_for(has)
        ask_client(client, messages)
        ask_client(client, [("user", CHECK)])
        ask_client(client, [("user", CHECK)])
        checked = ask_client(changed(client, has), [("user", CHECK)])
        return ask_client(client, [*messages[:-1], ("user", f"{checked} {KNOWN if has else ''}")])

    explainer = OfPlain(application, contains("is paid"), **OPTIONS, question_of=str)
    explanation = explainer.explain(as_dicts([*TURNS, QUESTION]))
    assert any("asks another model" in each.error for each in explanation.probes) != is_same
    assert ("proved" in claims(explanation)) or not is_same
    assert explanation.complete == is_same
