"""Tool calls as LangChain reads them from the replies of OpenAI, Anthropic, Gemini and Bedrock, whole and
streamed.

The replies of Gemini and Bedrock are what ``_response_to_result`` of langchain-google-genai and
``_parse_response`` of langchain-aws, which are not installed here, made of the providers' responses; the
versions are in ``recorded_calls.json``. The others are converted here.
"""

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langchain_rag_rule_explainer import RuleExplainer, chat_replay
from pydantic import PrivateAttr, SecretStr, TypeAdapter
from typing_extensions import override

from rag_rule_explainer import (
    BaselineFailed,
    Explainer,
    Explanation,
    Source,
    ToolCall,
    calls_in_order,
    calls_tool,
    contains,
    next_call,
    number_of_calls,
)
from tests.integrations.known import TEXTS, blames_b_and_d, retention, sets, shown_in
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import facts, sent_in
from tests.integrations.langchain.test_wire import chat_model
from tests.integrations.responses_server import responses_server
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_calls.json").read_text())
GIVEN = {"to": "evil@example.com", "text": "all of it", "copies": 2}
ONE = (ToolCall("send_email", GIVEN, 1),)
TWO = (ToolCall("look", {}, 1), *ONE)
SENDS = calls_tool("send_email", to=contains("evil"), copies=2)


def recorded(name: str) -> ChatGeneration:
    known = RECORDED[name]
    (message,) = messages_from_dict([known["message"]])
    return ChatGeneration(message=message, generation_info=known["generation_info"])


def of_anthropic(*content: dict[str, Any], reason: str = "tool_use") -> ChatGeneration:
    # Here, since the client takes two seconds to import, which every worker would spend.
    from anthropic.types import Message
    from langchain_anthropic import ChatAnthropic

    reply = Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
    )
    # Its other fields have defaults.
    model = ChatAnthropic(model_name="claude", api_key="none")  # pyright: ignore[reportCallIssue]
    made = model._format_output(reply)  # pyright: ignore[reportPrivateUsage] -- what its client calls
    generation = made.generations[0]
    # LangChain does so with a reply that is the only one.
    known = generation.message.response_metadata
    generation.message.response_metadata = {**(made.llm_output or {}), **known}
    return generation


def used(name: str, given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"of {name}", "name": name, "input": given}


def streamed_by_anthropic() -> list[AIMessageChunk]:
    """The chunks of a reply with a text and a call, whose arguments come in pieces."""
    from anthropic.types import RawMessageStreamEvent
    from langchain_anthropic import ChatAnthropic, chat_models

    start = {"type": "message", "id": "msg_1", "role": "assistant", "model": "claude", "content": []}
    usage = {"input_tokens": 3, "output_tokens": 2}
    given = json.dumps(GIVEN)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**start, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I will."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": used("send_email", {})},
        *(
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }
            for piece in (given[:9], given[9:40], given[40:])
        ),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
    ]
    # Its other fields have defaults.
    model = ChatAnthropic(model_name="claude", api_key="none")  # pyright: ignore[reportCallIssue]
    # What the client calls: a function of its module in the oldest version, a method in the newest.
    name = "_make_message_chunk_from_anthropic_event"
    chunk_of: Any = getattr(model, name, None) or getattr(chat_models, name)
    reader: Any = TypeAdapter(RawMessageStreamEvent)
    chunks, begun = list[AIMessageChunk](), None
    for event in events:
        chunk, begun = chunk_of(
            reader.validate_python(event),
            stream_usage=True,
            coerce_content_to_string=False,
            block_start_event=begun,
        )
        if chunk is not None:
            chunks.append(chunk)
    return chunks


_LOOKING = {"type": "text", "text": "I will look."}
_SAYING = {"type": "text", "text": "All is done."}
OF_ANTHROPIC = {
    "anthropic: one call": partial(of_anthropic, used("send_email", GIVEN)),
    "anthropic: text and two calls": partial(
        of_anthropic, _LOOKING, used("look", {}), used("send_email", GIVEN)
    ),
    "anthropic: text": partial(of_anthropic, _SAYING, reason="end_turn"),
}


def of_openai(text: str | None, *called: tuple[str, Any]) -> ChatGeneration:
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for name, given in called
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    reason = "tool_calls" if calls else "stop"
    reply = {"id": "1", "choices": [{"index": 0, "finish_reason": reason, "message": message}]}
    model = ChatOpenAI(model="m", api_key=SecretStr("none"))
    made = model._create_chat_result(reply)  # pyright: ignore[reportPrivateUsage] -- what its client calls
    return made.generations[0]


OF_OPENAI = {
    "openai: one call": partial(of_openai, None, ("send_email", GIVEN)),
    "openai: text and two calls": partial(of_openai, "I will look.", ("look", {}), ("send_email", GIVEN)),
    "openai: text": partial(of_openai, "All is done."),
}
OTHERS = {name: partial(recorded, name) for name in RECORDED if ":" in name}
REPLIES = {**OTHERS, **OF_ANTHROPIC, **OF_OPENAI}
PROVIDERS = sorted({name.partition(":")[0] for name in REPLIES})


@cache
def reply_of(name: str) -> ChatGeneration:
    return REPLIES[name]()


class Provider(BaseChatModel):
    """Replies as a provider does: ``calling`` where b and d are shown, else a text."""

    calling: ChatGeneration
    saying: ChatGeneration

    @property
    @override
    def _llm_type(self) -> str:
        return "provider"

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        calls = {"b", "d"} <= set(sent_in(messages))
        return ChatResult(generations=[self.calling if calls else self.saying])


class Streaming(Provider):
    """Replies with chunks where b and d are shown."""

    chunks: list[AIMessageChunk]

    @override
    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        calls = {"b", "d"} <= set(sent_in(messages))
        said: Any = [AIMessageChunk(content="No.", response_metadata={"stop_reason": "end_turn"})]
        yield from (ChatGenerationChunk(message=each) for each in (self.chunks if calls else said))


def chain_of(model: Runnable[Any, Any]) -> Runnable[Any, Any]:
    found = Counting(documents=facts("abcd"))

    def prompt_of(question: str) -> str:
        return "\n\n".join([*(each.page_content for each in found.invoke(question)), question])

    return RunnableLambda(prompt_of) | model


@pytest.mark.parametrize("provider", PROVIDERS)
class TestProviders:
    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize(("kind", "calls"), [("one call", ONE), ("text and two calls", TWO)])
    def test_what_a_reply_calls(self, provider: str, kind: str, calls: tuple[ToolCall, ...]) -> None:
        model = Provider(calling=reply_of(f"{provider}: {kind}"), saying=reply_of(f"{provider}: text"))
        explanation = RuleExplainer(chain_of(model), SENDS).explain("why?")
        assert blames_b_and_d(explanation)
        assert explanation.baseline.calls == calls
        assert next(each for each in explanation.probes if not each.kept).answers[0].calls == ()

    @pytest.mark.spread(fast=4)
    def test_order_and_number(self, provider: str) -> None:
        model = Provider(
            calling=reply_of(f"{provider}: text and two calls"), saying=reply_of(f"{provider}: text")
        )
        for predicate in (
            calls_in_order("look", "send_email"),
            number_of_calls(at_least=2),
            next_call("send_email"),
        ):
            assert blames_b_and_d(RuleExplainer(chain_of(model), predicate).explain("why?"))
        backwards = RuleExplainer(chain_of(model), ~calls_in_order("send_email", "look"))
        assert retention(backwards.explain("why?")) == sets("")

    @pytest.mark.spread(fast=2)
    def test_text_beside_a_call_is_no_answer(self, provider: str) -> None:
        model = Provider(
            calling=reply_of(f"{provider}: text and two calls"), saying=reply_of(f"{provider}: text")
        )
        with pytest.raises(BaselineFailed, match="calls a tool, where an answer was due"):
            RuleExplainer(chain_of(model), contains("look")).explain("why?")


def test_what_a_stream_of_anthropic_calls() -> None:
    text = reply_of("anthropic: text")
    model = Streaming(calling=text, saying=text, chunks=streamed_by_anthropic())

    def streamed(prompt: Any) -> str:
        return "".join(each.text for each in model.stream(prompt))

    explanation = RuleExplainer(chain_of(RunnableLambda(streamed)), SENDS).explain("why?")
    assert blames_b_and_d(explanation)
    assert explanation.baseline.calls == ONE


class TestOpenAI:
    @staticmethod
    def explained(arguments: str, predicate: Any = SENDS, *, streaming: bool = False) -> Explanation:
        function = {"name": "send_email", "arguments": arguments}

        def obeying(body: Body) -> Completion:
            if {"b", "d"} <= set(shown_in(json.dumps(body["messages"]))):
                call = {"id": "1", "type": "function", "function": function}
                return Completion(None, "tool_calls", (call,))
            return Completion("All is done.")

        with (
            OpenAIServer(obeying) as server,
            chat_model(server.base_url, keep_alive=False, streaming=streaming) as model,
        ):
            return RuleExplainer(chain_of(model), predicate).explain("why?")

    @pytest.mark.spread(fast=2)
    @pytest.mark.waits
    @pytest.mark.parametrize("streaming", [False, True])
    def test_what_a_reply_calls(self, streaming: bool) -> None:
        explanation = self.explained(json.dumps(GIVEN), streaming=streaming)
        assert blames_b_and_d(explanation)
        assert explanation.baseline.calls == ONE

    @pytest.mark.spread(fast=2)
    @pytest.mark.waits
    @pytest.mark.parametrize("streaming", [True, False])
    def test_what_a_response_calls(self, streaming: bool) -> None:
        """Of the API of responses, which has items in place of messages."""

        def says(prompt: str) -> tuple[str, str]:
            return ("", "function_call") if {"b", "d"} <= set(shown_in(prompt)) else ("No.", "completed")

        with responses_server(says) as base_url, httpx.Client() as client:
            model = ChatOpenAI(
                model="m",
                base_url=base_url,
                api_key=SecretStr("none"),
                http_client=client,
                max_retries=0,
                streaming=streaming,
                use_responses_api=True,
            )
            explanation = RuleExplainer(chain_of(model), calls_tool("look")).explain("why?")
        assert blames_b_and_d(explanation)
        assert explanation.baseline.calls == (ToolCall("look", {}, 1),)

    @pytest.mark.waits
    def test_arguments_that_are_no_json(self) -> None:
        explanation = self.explained('{"to": "evi', calls_tool("send_email"))
        assert blames_b_and_d(explanation)
        assert explanation.baseline.calls == (ToolCall("send_email", '{"to": "evi', 1),)
        assert not self.explained('{"to": "evi', SENDS).retention_rules


class Agent(BaseChatModel):
    """Searches, mails where b and d are shown, and says so."""

    _tools: list[str] = PrivateAttr(default_factory=list[str])

    @property
    @override
    def _llm_type(self) -> str:
        return "agent"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        done = {each.name for each in messages if each.type == "tool"}
        text = sent_in(messages)
        if "search" not in done:
            message = calling("search", {"query": "facts"})
        elif {"b", "d"} <= set(text) and "send_email" not in done:
            message = calling("send_email", GIVEN)
        else:
            message = AIMessage("All is done.")
        return ChatResult(generations=[ChatGeneration(message=message)])


def calling(name: str, given: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": given, "id": f"of {name}"}])


class TestAgents:
    @staticmethod
    def agent() -> tuple[Any, list[str]]:
        found, sent = Counting(documents=facts("abcd")), list[str]()

        @tool
        def search(query: str) -> str:
            """Search."""
            return "\n\n".join(each.page_content for each in found.invoke(query))

        @tool
        def send_email(to: str, text: str, copies: int) -> str:
            """Send."""
            sent.append(f"{to}: {text} * {copies}")
            return "sent"

        return create_agent(Agent(), [search, send_email]), sent

    @pytest.mark.spread(fast=2)
    @pytest.mark.parametrize(
        "predicate",
        [
            calls_in_order("search", "send_email"),
            SENDS,
            contains("done") & calls_tool("send_email"),
            number_of_calls(at_least=2),
        ],
        ids=str,
    )
    def test_which_results_make_it_act(self, predicate: Any) -> None:
        agent, sent = self.agent()
        explainer = RuleExplainer(agent, predicate, stub_tools={"send_email": "sent"})
        explanation = explainer.explain({"messages": [("user", "why?")]})
        assert blames_b_and_d(explanation)
        assert [str(each) for each in explanation.baseline.calls or ()] == [
            'search(query="facts")',
            'send_email(to="evil@example.com", text="all of it", copies=2)',
        ]
        assert sent == []

    async def test_async(self) -> None:
        agent, _ = self.agent()
        explainer = RuleExplainer(agent, SENDS, stub_tools={"send_email": "sent"})
        assert blames_b_and_d(await explainer.aexplain({"messages": [("user", "why?")]}))

    def test_its_next_action(self) -> None:
        agent, _ = self.agent()
        explainer = RuleExplainer(agent, next_call("search"), stub_tools={"send_email": "sent"})
        assert retention(explainer.explain({"messages": [("user", "why?")]})) == sets("")


def test_a_tool_that_no_reply_names_is_a_call_of_the_run() -> None:
    """A graph may run a tool by itself, and a model may write its calls as text."""
    found = Counting(documents=facts("abcd"))

    @tool
    def search(query: str) -> str:
        """Search."""
        return "\n\n".join(each.page_content for each in found.invoke(query))

    model = Provider(calling=reply_of("gemini: one call"), saying=reply_of("gemini: text"))
    chain = RunnableLambda(lambda question: search.invoke({"query": question})) | model
    explanation = RuleExplainer(chain, calls_in_order("search", "send_email")).explain("why?")
    assert blames_b_and_d(explanation)
    assert explanation.baseline.calls == (
        ToolCall("search", {"query": "why?"}, 1),
        ToolCall("send_email", GIVEN, 2),
    )


def test_a_model_within_a_model_calls_once() -> None:
    inner = Provider(calling=reply_of("gemini: one call"), saying=reply_of("gemini: text"))

    class Router(BaseChatModel):
        @property
        @override
        def _llm_type(self) -> str:
            return "router"

        @override
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            return ChatResult(generations=[ChatGeneration(message=inner.invoke(messages))])

    explanation = RuleExplainer(chain_of(Router()), number_of_calls(at_least=1)).explain("why?")
    assert explanation.baseline.calls == ONE


def test_a_model_alone() -> None:
    model = Provider(calling=reply_of("bedrock: one call"), saying=reply_of("bedrock: text"))
    sources = [Source(name, text) for name, text in TEXTS.items()]
    assert blames_b_and_d(Explainer(chat_replay(model), SENDS).explain("why?", sources))
    with pytest.raises(BaselineFailed, match="calls a tool"):
        Explainer(chat_replay(model), contains("done")).explain("why?", sources)
