"""OpenAI's Responses API on this machine: replies that end in every way that it knows."""

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override

STATUSES = {
    "completed": ("completed", None),
    "max_output_tokens": ("incomplete", "max_output_tokens"),
    "content_filter": ("incomplete", "content_filter"),
    "cancelled": ("cancelled", None),
    "in_progress": ("in_progress", None),
    "refusal": ("completed", None),
    "function_call": ("completed", None),
    "empty": ("completed", None),
    "half": ("in_progress", None),
}
"""The status and the reason of a reply, by how it ends."""
ENDS = tuple(STATUSES)[1:]
Says = Callable[[str], tuple[str, str]]
"""Text and end of the reply to a prompt."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    """Connections that may wait; beyond the usual five, one waits for seconds or minutes."""


@contextmanager
def responses_server(says: Says) -> Generator[str]:
    """The base URL of a server that answers ``POST /v1/responses``, streamed where it is asked to."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text, end = says(json.dumps(body["input"], ensure_ascii=False))
            events = _events(text, end) if body.get("stream") else None
            if events is None:
                kind, content = "application/json", json.dumps(_response(text, end))
            else:
                kind = "text/event-stream"
                content = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
            sent = content.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(sent)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(sent)
            self.close_connection = True

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _item(text: str, end: str) -> dict[str, Any]:
    if end == "function_call":
        call = {"type": "function_call", "id": "fc_1", "call_id": "1", "name": "look", "arguments": "{}"}
        return {**call, "status": "completed"}
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    if end == "refusal":
        part = {"type": "refusal", "refusal": "I cannot help with that."}
    content = [] if end == "empty" else [part]
    status = "completed" if STATUSES[end][0] == "completed" else "incomplete"
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": content}


def _response(text: str, end: str) -> dict[str, Any]:
    status, reason = STATUSES[end]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "incomplete_details": reason and {"reason": reason},
        "error": None,
        "output": [_item(text, end)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 3,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 5,
        },
    }


def _events(text: str, end: str) -> list[dict[str, Any]]:
    item, created = _item(text, end), {**_response("", "in_progress"), "output": []}
    begun = {**item, "content": []} if "content" in item else {**item, "arguments": ""}
    place = {"output_index": 0, "item_id": item["id"], "content_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": created},
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
    ]
    if end == "refusal":
        said = "I cannot help with that."
        events += [
            {"type": "response.refusal.delta", "delta": said, **place},
            {"type": "response.refusal.done", "refusal": said, **place},
        ]
    elif end == "function_call":
        events += [
            {"type": "response.function_call_arguments.delta", "delta": "{}", **place},
            {"type": "response.function_call_arguments.done", "arguments": "{}", **place},
        ]
    elif end != "empty":
        events += [
            {"type": "response.output_text.delta", "delta": piece, "logprobs": [], **place}
            for piece in (text[: len(text) // 2], text[len(text) // 2 :])
        ]
    if end not in ("half", "in_progress"):
        last = "response.incomplete" if STATUSES[end][0] != "completed" else "response.completed"
        done = {"type": "response.output_item.done", "output_index": 0, "item": item}
        events += [done, {"type": last, "response": _response(text, end)}]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]
