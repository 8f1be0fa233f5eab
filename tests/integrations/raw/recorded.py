"""A server on this machine that answers as Elasticsearch, OpenSearch and Tavily do, as was recorded."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override

from tests.integrations.known import TEXTS

_INFO = {
    "name": "node",
    "cluster_name": "cluster",
    "cluster_uuid": "9l0LMGQ5Q2qv0Z3mQ0Z3mQ",
    "version": {"number": "9.1.0", "build_flavor": "default", "lucene_version": "10.2.2"},
    "tagline": "You Know, for Search",
}


def hits_of(names: str) -> dict[str, Any]:
    """The body of a search that finds these documents, and has more matches in the index."""
    hits = [
        {
            "_index": "facts",
            "_id": name,
            "_score": 4.0 - place,
            "_source": {"text": TEXTS[name], "url": f"https://example.com/{name}"},
        }
        for place, name in enumerate(names)
    ]
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": 7, "relation": "eq"},
            "max_score": hits[0]["_score"] if hits else None,
            "hits": hits,
        },
    }


def results_of(names: str, answer: str | None = None) -> dict[str, Any]:
    """The body of a web search that finds these documents."""
    results = [
        {
            "url": f"https://example.com/{name}",
            "title": name,
            "content": TEXTS[name],
            "score": 0.9 - place / 10,
            "raw_content": None,
        }
        for place, name in enumerate(names)
    ]
    return {
        "query": "why?",
        "follow_up_questions": None,
        "answer": answer,
        "images": [],
        "results": results,
        "response_time": 0.61,
        "request_id": "d1d2a2a5-6d7c-4c7d-8d7b-3e1f4f6b9a11",
    }


@contextmanager
def recorded_server(requests: list[str]) -> Generator[str]:
    """The URL of a server. ``requests``: is told the path of each request that it answers."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(_INFO)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append(self.path)
            if "_msearch" in self.path:
                searches = len(body.strip().splitlines()) // 2
                self._answer(
                    {"took": 3, "responses": [hits_of(names) for names in ("abd", "cd")[:searches]]}
                )
            elif "_search" in self.path:
                self._answer(hits_of("abcd"))
            else:
                self._answer(results_of("abcd"))

        def _answer(self, told: Any) -> None:
            sent = json.dumps(told).encode()
            self.send_response(200)
            asked = self.headers.get("Accept", "")
            kind = asked if "vnd.elasticsearch" in asked else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
