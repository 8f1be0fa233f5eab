"""Loops over OpenAI's Responses API with function tools, explained in both ways to replay."""

import itertools
import json
import threading
from collections.abc import Generator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import openai
import pytest
from plain_rag_rule_explainer import RuleExplainer, tool
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput, ToolCall, calls_tool, json_path
from tests.integrations.known import omission, retention

pytestmark = pytest.mark.waits

INBOX = ["Lunch is at noon tomorrow.", "Please pay the bill at once.", "Nothing else is here."]
BOTH = {"inbox #1, item 2", "calendar #1"}
Body = dict[str, Any]


class Service:
    """Keeps conversations, as OpenAI does, and does what the results of tools tell it."""

    def __init__(self) -> None:
        self.kept, self._numbers = dict[str, list[Body]](), itertools.count(1)

    def reply(self, body: Body) -> Body:
        given: Any = body["input"]
        whole = [*self.kept.get(body.get("previous_response_id") or "", ()), *given]
        number = next(self._numbers)
        item = self._item(whole, number, structured="text" in body)
        name = f"resp_{number:024x}"
        self.kept[name] = [*whole, item]
        fixed: Body = {"object": "response", "created_at": 0, "model": "m", "status": "completed"}
        more: Body = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        return {**fixed, **more, "id": name, "output": [item]}

    def _item(self, whole: list[Body], number: int, *, structured: bool) -> Body:
        results = [str(each["output"]) for each in whole if each.get("type") == "function_call_output"]
        told = " ".join(results)
        pays = "pay the bill" in told and "account is 4711" in told
        name = ["inbox", "calendar", "pay" if pays else ""][len(results)] if len(results) < 3 else ""
        if name:
            arguments = json.dumps({"to": "4711"} if name == "pay" else {})
            call: Body = {"type": "function_call", "name": name, "arguments": arguments}
            return {**call, "id": f"fc_{number:024x}", "call_id": f"call_{number:024x}"}
        text = json.dumps({"news": "bad" if pays else "good"}) if structured else "All of it is done now."
        part: Body = {"type": "output_text", "text": text, "annotations": []}
        message: Body = {"type": "message", "role": "assistant", "status": "completed"}
        return {**message, "id": f"msg_{number:024x}", "content": [part]}


def events_of(reply: Body) -> str:
    (item,) = reply["output"]
    place: Body = {"output_index": 0, "item": item}
    events: list[Body] = [
        {"type": "response.created", "response": {**reply, "output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", **place},
        {"type": "response.output_item.done", **place},
        {"type": "response.completed", "response": reply},
    ]
    numbered = ({**each, "sequence_number": number} for number, each in enumerate(events))
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in numbered)


@pytest.fixture(scope="module")
def base_url() -> Generator[str]:
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply, streams = service.reply(body), body.get("stream")
            sent = (events_of(reply) if streams else json.dumps(reply)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def finished(events: Any) -> Any:
    """Reads no further than to the last event, and leaves the stream open."""
    return next(each.response for each in events if each.type == "response.completed")


def loop(client: openai.OpenAI, how: str, ran: list[str]) -> Any:
    @tool
    def inbox() -> list[str]:
        ran.append("inbox")
        return INBOX

    @tool
    def calendar() -> str:
        ran.append("calendar")
        return "The account is 4711 from today."

    @tool
    def pay(to: str) -> str:
        ran.append("pay")
        return f"The bill of {to} was settled."

    functions: dict[str, Any] = {"inbox": inbox, "calendar": calendar, "pay": pay}
    tools = [{"type": "function", "name": each, "parameters": {"type": "object"}} for each in functions]
    fixed: dict[str, Any] = {"model": "m", "tools": tools}
    if how == "structured":
        fixed["text"] = {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}}

    def application(question: str) -> str:
        given: list[Any] = [{"role": "user", "content": question}]
        more: dict[str, Any] = {}
        while True:
            asked = {**fixed, **more, "input": given}
            streams = how == "streamed"
            create: Any = client.responses.create
            sent = create(**asked, stream=streams)
            reply: Any = finished(sent) if streams else sent
            calls = [each for each in reply.output if each.type == "function_call"]
            if not calls:
                return reply.output_text
            results = [functions[each.name](**json.loads(each.arguments)) for each in calls]
            outputs: list[Any] = [
                {"type": "function_call_output", "call_id": each.call_id, "output": json.dumps(said)}
                for each, said in zip(calls, results, strict=True)
            ]
            if how == "kept by the server":
                given, more = outputs, {"previous_response_id": reply.id}
            else:
                given = [*given, *(each.model_dump() for each in reply.output), *outputs]

    return application


def explained(base_url: str, how: str, predicate: Any, replay_of: Any) -> Explanation:
    ran = list[str]()
    with closing(openai.OpenAI(api_key="none", base_url=base_url, max_retries=0)) as client:
        application = loop(client, how, ran)
        explainer = RuleExplainer(
            application, predicate, source_kinds=["tools"], replay_of=replay_of, ignore=[r"ran"]
        )
        explanation = explainer.explain("What is new today?")
    assert ran == ["inbox", "calendar", "pay"]
    return explanation


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("how", "replay_of"),
    [
        ("a loop", "next_action"),
        ("a loop", "whole_run"),
        ("streamed", "whole_run"),
        ("streamed", "next_action"),
        ("structured", "next_action"),
        ("structured", "whole_run"),
        ("kept by the server", "whole_run"),
    ],
)
def test_a_call_is_explained_by_items_of_results(base_url: str, how: str, replay_of: Any) -> None:
    explanation = explained(base_url, how, calls_tool("pay", to="4711"), replay_of)
    own = [f"inbox #1, item {number}" for number in (1, 2, 3)]
    assert [each.id for each in explanation.sources][:4] == [*own, "calendar #1"]
    assert retention(explanation) == {frozenset(BOTH)}
    assert omission(explanation) == {frozenset({each}) for each in BOTH}
    assert ToolCall("pay", {"to": "4711"}) in [
        ToolCall(each.name, each.arguments) for each in explanation.baseline.calls or ()
    ]


def test_the_next_action_is_refused_where_the_server_keeps_the_conversation(base_url: str) -> None:
    with pytest.raises(InvalidInput, match=r"server keeps .previous_response_id., in which every"):
        explained(base_url, "kept by the server", calls_tool("pay"), "next_action")


def test_streams_that_replays_leave_open_are_closed(
    base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The garbage collector would close them in the middle of whatever the client's pool of connections
    does then, and stop it for ever."""
    opened = list[openai.Stream[Any]]()
    init = openai.Stream.__init__

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        opened.append(self)

    monkeypatch.setattr(openai.Stream, "__init__", noted)
    explained(base_url, "streamed", calls_tool("pay", to="4711"), "whole_run")
    still_open = [each for each in opened if not each.response.is_closed]
    # The first run's own four streams may be what the application returns.
    assert len(opened) > 20
    assert len(still_open) <= 4


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("replay_of", ["next_action", "whole_run"])
def test_a_structured_answer_is_explained(base_url: str, replay_of: Any) -> None:
    bad = json_path("$.news", equals="bad")
    explanation = explained(base_url, "structured", bad, replay_of)
    assert retention(explanation) == {frozenset(BOTH)}
    assert omission(explanation) == {frozenset({each}) for each in BOTH}
