"""Tools that the provider of a model runs itself are calls of a run, and run nothing here."""

import json
from typing import Any

import httpx
import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from openai import OpenAI
from openai_rag_rule_explainer.wire import Streamed
from plain_rag_rule_explainer import RuleExplainer as OfPlain
from plain_rag_rule_explainer import gate
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput, ToolCall, calls_tool, contains
from tests.integrations.known import TEXTS, blames_b_and_d, shown_in
from tests.integrations.langchain.test_tool_calls import chain_of

SAYS = {"type": "text", "text": "There is bad news."}
RESULT = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
BLOCKS: dict[str, tuple[dict[str, Any], ToolCall]] = {
    "anthropic": (
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "bad"}},
        ToolCall("web_search", {"query": "bad"}, 1),
    ),
    "standard": (
        {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": {"query": "bad"}},
        ToolCall("web_search", {"query": "bad"}, 1),
    ),
    "gemini": (
        {"type": "executable_code", "executable_code": "print(1)", "language": 1},
        ToolCall("code_execution", {"code": "print(1)"}, 1),
    ),
}
ITEMS: dict[str, tuple[dict[str, Any], ToolCall]] = {
    "web search": (
        {
            "type": "web_search_call",
            "id": "w1",
            "status": "completed",
            "action": {"type": "search", "query": "bad"},
        },
        ToolCall("web_search", {"type": "search", "query": "bad"}, 1),
    ),
    "file search": (
        {"type": "file_search_call", "id": "f1", "status": "completed", "queries": ["bad"]},
        ToolCall("file_search", {"queries": ["bad"]}, 1),
    ),
    "code": (
        {
            "type": "code_interpreter_call",
            "id": "c1",
            "status": "completed",
            "container_id": "x",
            "code": "print(1)",
            "outputs": None,
        },
        ToolCall("code_interpreter", {"code": "print(1)"}, 1),
    ),
}
MCP: dict[str, Any] = {
    "type": "mcp_call",
    "id": "m1",
    "name": "pay",
    "server_label": "bank",
    "arguments": json.dumps({"to": "evil"}),
    "output": "Paid.",
}
OVER_MCP = {"type": "mcp_tool_use", "id": "m1", "name": "pay", "server_name": "bank", "input": {}}


class Serving(BaseChatModel):
    """Uses what its provider runs, where b and d are shown, and says what is bad in the same reply."""

    block: dict[str, Any]

    @property
    @override
    def _llm_type(self) -> str:
        return "serving"

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        acts = {"b", "d"} <= set(shown_in(str(messages[-1].text)))
        content: Any = [self.block, RESULT, SAYS] if acts else "All is well."
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content))])


def client_of(item: dict[str, Any]) -> OpenAI:
    """OpenAI's client of a model that does the same."""

    def reply(request: httpx.Request) -> httpx.Response:
        acts = {"b", "d"} <= set(shown_in(json.loads(request.content)["input"]))
        text = SAYS["text"] if acts else "All is well."
        part = {"type": "output_text", "text": text, "annotations": []}
        said = {
            "type": "message",
            "id": "1",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        output = [item, said] if acts else [said]
        body = {"id": "r", "object": "response", "model": "m", "status": "completed", "output": output}
        return httpx.Response(200, json=body)

    http = httpx.Client(transport=httpx.MockTransport(reply))
    return OpenAI(base_url="http://offline.invalid", api_key="none", max_retries=0, http_client=http)


def of_responses(item: dict[str, Any], condition: Any, **options: Any) -> Explanation:
    client, found = client_of(item), gate(lambda _: [{"id": n, "text": TEXTS[n]} for n in "abcd"])

    def application(question: str) -> str:
        shown = "\n".join(each["text"] for each in found(question))
        return client.responses.create(model="m", input=shown).output_text

    return OfPlain(application, condition, **options).explain("What is new?")


@pytest.mark.parametrize("block", BLOCKS)
def test_what_a_message_of_langchain_calls(block: str) -> None:
    given, call = BLOCKS[block]
    explanation = OfLangChain(chain_of(Serving(block=given)), calls_tool(call.name)).explain("why?")
    assert blames_b_and_d(explanation)
    assert explanation.baseline.calls == (call,)
    # The reply is an answer, too.
    assert blames_b_and_d(OfLangChain(chain_of(Serving(block=given)), contains("bad")).explain("why?"))


@pytest.mark.parametrize("item", ITEMS)
def test_what_a_response_calls(item: str) -> None:
    given, call = ITEMS[item]
    explanation = of_responses(given, calls_tool(call.name))
    assert blames_b_and_d(explanation)
    assert explanation.baseline.calls == (call,)
    assert blames_b_and_d(of_responses(given, contains("bad")))


def test_what_runs_over_mcp_is_refused() -> None:
    told = r"provider of the model runs 'pay' itself, over MCP.*safe_tools=\['pay'\]"
    with pytest.raises(InvalidInput, match=told):
        OfLangChain(chain_of(Serving(block=OVER_MCP)), calls_tool("pay")).explain("why?")
    with pytest.raises(InvalidInput, match=told):
        of_responses(MCP, calls_tool("pay", to="evil"))
    safe = of_responses(MCP, calls_tool("pay", to="evil"), safe_tools=["pay"])
    assert blames_b_and_d(safe)


def test_every_form_in_which_a_client_streams_a_call() -> None:
    parts = {
        "function_call": [{"name": "pay", "arguments": '{"to": '}, {"arguments": '"evil"}'}],
        "function": [{"name": "pay", "arguments": '{"to": '}, {"arguments": '"evil"}'}],
        "custom": [{"name": "pay", "input": '{"to": '}, {"input": '"evil"}'}],
    }
    for form, pieces in parts.items():
        streamed = Streamed(is_partial=False)
        for each in pieces:
            delta = (
                {form: each} if form == "function_call" else {"tool_calls": [{"index": 0, form: each}]}
            )
            streamed.take({"choices": [{"index": 0, "delta": {"content": None, **delta}}]})
        assert streamed.reply().said.called == (ToolCall("pay", {"to": "evil"}),), form
