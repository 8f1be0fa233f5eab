"""Replies that come by HTTP without a client of the provider: how they end, and what is left unread."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests
from plain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, blames_b_and_d, shown_in
from tests.integrations.plain.models import NO_CERTIFICATES, news
from tests.integrations.plain.zoo.by_http import body_of
from tests.integrations.plain.zoo.shapes import Index, shown, user
from tests.support.completions import Completion
from tests.support.faults import Fault
from tests.support.openai_server import OpenAIServer


class Ollama(httpx.BaseTransport):
    """Answers in Ollama's protocol, in this process; ``reason``: why replies on "ac" end."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        names = shown_in(str(body.get("messages") or body["prompt"]))
        reason = self.reason if names == "ac" else "stop"
        pieces = news(names).partition(" ") if body["stream"] else [news(names)]
        lines = [self._line(body, each) for each in pieces]
        lines[-1] |= {"done": True, "done_reason": reason, "eval_count": 4}
        return httpx.Response(200, content="\n".join(map(json.dumps, lines)))

    def _line(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        said = {"message": {"content": text}} if "messages" in body else {"response": text}
        return {"model": "m", **said, "done": False}


def asking(http: httpx.Client, path: str, *, stream: bool) -> Callable[[str], str]:
    index = Index()

    def answer(question: str) -> str:
        content = shown(index.search(question))
        given = {"messages": user(content)} if path == "chat" else {"prompt": content}
        body = {"model": "m", "stream": stream, **given}
        with http.stream("POST", f"http://ollama/api/{path}", json=body) as reply:
            read = [json.loads(line) for line in reply.iter_lines()]
        texts = [each["message"]["content"] if path == "chat" else each["response"] for each in read]
        return "".join(texts)

    return answer


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["chat", "generate"])
def test_ollama_is_read_and_what_it_cuts_off_is_no_answer(path: str, stream: bool) -> None:
    with httpx.Client(transport=Ollama("stop")) as http:
        explanation = explained(asking(http, path, stream=stream))
        assert blames_b_and_d(explanation)
        assert all(rule.proved for rule in explanation.rules), explanation.warnings
    with httpx.Client(transport=Ollama("length")) as http:
        assert unknown(explained(asking(http, path, stream=stream))) == [("a", "c")]


def explained(application: Callable[[str], str]) -> Explanation:
    return RuleExplainer(application, predicate=BAD, miner="exhaustive", retries=0).explain("why?")


def unknown(explanation: Explanation) -> list[tuple[str, ...]]:
    return [probe.kept for probe in explanation.probes if probe.error]


@pytest.mark.waits
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", [Fault.CUT_OFF, Fault.HALF_STREAM, Fault.SERVER_ERROR])
def test_a_reply_that_is_not_whole_is_no_answer(fault: Fault, stream: bool) -> None:
    """Also where the application catches the error, and answers in words of its own."""
    if fault is Fault.HALF_STREAM and not stream:
        pytest.skip("only a stream is sent by halves")
    index = Index()

    def script(body: dict[str, Any]) -> Completion:
        names = shown_in(str(body["messages"]))
        return Completion(news(names), fault=fault if names == "ac" else None)

    with OpenAIServer(script) as server:

        def answer(question: str) -> str:
            body = body_of(shown(index.search(question)), stream=stream)
            url = f"{server.base_url}/chat/completions"
            reply = requests.post(url, json=body, stream=stream, timeout=9)
            return reply.text if reply.ok else "Sorry, there is bad weather."

        explanation = explained(answer)
    assert unknown(explanation) == [("a", "c")]


@pytest.mark.waits
def test_what_is_left_of_a_stream_is_closed_after_a_replay() -> None:
    index = Index()
    with (
        OpenAIServer(lambda body: news(shown_in(str(body["messages"])))) as server,
        httpx.Client(verify=NO_CERTIFICATES) as http,
    ):
        left: list[httpx.Response] = []

        def answer(question: str) -> str:
            body = body_of(shown(index.search(question)), stream=True)
            request = http.build_request("POST", f"{server.base_url}/chat/completions", json=body)
            reply = http.send(request, stream=True)
            left.append(reply)
            first = next(line for line in reply.iter_lines() if "content" in line)
            return str(json.loads(first[len("data: ") :])["choices"][0]["delta"]["content"])

        assert blames_b_and_d(explained(answer))
        assert all(each.is_closed for each in left[1:])
        left[0].close()


@pytest.mark.waits
@pytest.mark.parametrize("library", ["httpx", "requests"])
def test_instructions_that_are_left_out_are_left_out_of_what_is_posted(library: str) -> None:
    rules = "# Manners\nAlways answer in one short sentence.\n\n# Secrets\nThe bad password is swordfish."
    with (
        OpenAIServer(lambda body: "bad" if "swordfish" in str(body["messages"]) else "good") as server,
        httpx.Client(verify=NO_CERTIFICATES) as http,
    ):
        post: Callable[..., Any] = http.post if library == "httpx" else requests.post

        def answer(question: str) -> str:
            body = body_of(question)
            body["messages"].insert(0, {"role": "system", "content": rules})
            reply = post(f"{server.base_url}/chat/completions", json=body)
            return str(reply.json()["choices"][0]["message"]["content"])

        explanation = RuleExplainer(answer, predicate=BAD, source_kinds=("instructions",)).explain("why?")
    (rule,) = explanation.retention_rules
    (blamed,) = [each.text for each in explanation.sources if each.id in rule.sources]
    assert "swordfish" in blamed
    assert "short" not in blamed
    assert len(explanation.sources) == 2


def test_a_service_with_the_address_of_a_model_is_no_model() -> None:
    """It keeps nothing, and replies in a form of its own."""

    class Service(Ollama):
        @override
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path == "/responses":
                return httpx.Response(200, content=b'{"saved": 1}\n')
            return super().handle_request(request)

    with httpx.Client(transport=Service("stop")) as http:
        answer = asking(http, "chat", stream=False)

        def surveyed(question: str) -> str:
            http.post("http://survey/responses", json={"input": question})
            return answer(question)

        assert blames_b_and_d(explained(surveyed))
