"""Explains with spans exported into memory, and prints them. Run as a program: a process has one provider
of spans for all its life.

Its argument: ``explained``; ``threads``, for replays that give work to threads; ``dead``, for an
exporter at whose endpoint nobody listens; or ``beside``, for such a one beside one that works.
"""

import json
import socket
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from typing_extensions import override

from rag_rule_explainer import Explainer, Noise, Source

SOURCES = [Source("memo", "..."), Source("mail", "...")]


def replay(_: str, shown: Sequence[Source]) -> str:
    with trace.get_tracer("the application's").start_as_current_span("model"):
        if not shown:
            raise ValueError("nothing to read")
        return "postponed" if len(shown) == 2 else "on Friday"


def noted(name: str) -> None:
    with trace.get_tracer("the application's").start_as_current_span(name):
        pass


OPEN = ThreadPoolExecutor(1)


def in_threads(_: str, shown: Sequence[Source]) -> str:
    OPEN.submit(noted, "open pool").result()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(noted, "pool").result()
    thread = threading.Thread(target=noted, args=("thread",))
    thread.start()
    thread.join()
    return "postponed" if len(shown) == 2 else "on Friday"


def of_threads(exporter: InMemorySpanExporter) -> dict[str, Any]:
    as_they_were = threading.Thread.start, ThreadPoolExecutor.submit
    told: dict[str, Any] = {}
    for name, traces in {"told": True, "silent": False}.items():
        explainer = Explainer(in_threads, trace_replays=traces)
        told[name] = {"id": explainer.explain("when?", SOURCES).id, "spans": printed(exporter)}
    OPEN.submit(noted, "afterwards").result()
    alike = (threading.Thread.start, ThreadPoolExecutor.submit) == as_they_were
    return {**told, "afterwards": printed(exporter), "alike": alike}


def printed(exporter: InMemorySpanExporter) -> list[dict[str, Any]]:
    """The spans so far, of which it forgets."""
    found = exporter.get_finished_spans()
    names = {each.context.span_id: each.name for each in found if each.context is not None}
    exporter.clear()
    return [
        {
            "name": each.name,
            "inside": None if each.parent is None else names[each.parent.span_id],
            "trace": each.context.trace_id if each.context is not None else 0,
            "id": f"{each.context.span_id:016x}" if each.context is not None else "",
            **dict(each.attributes or {}),
        }
        for each in found
    ]


class Sending(OTLPSpanExporter):
    """An exporter that notes what it is given to send."""

    sent: ClassVar[list[str]] = []

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.sent.extend(each.name for each in spans)
        return super().export(spans)


def main(way: str) -> dict[str, Any]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    if way != "dead":
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    if way in {"dead", "beside"}:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            endpoint = f"http://127.0.0.1:{free.getsockname()[1]}/v1/traces"
        provider.add_span_processor(BatchSpanProcessor(Sending(endpoint=endpoint, timeout=1)))
        explanation = Explainer(replay, retries=0).explain("when?", SOURCES)
        provider.force_flush()
        told = {"endpoint": endpoint, "notes": explanation.notes, "sent": Sending.sent}
        return {**told, "spans": printed(exporter), "replays": explanation.counts.replays}
    if way == "threads":
        return of_threads(exporter)
    told: dict[str, Any] = {}
    for name, explainer in {
        "once": Explainer(replay, retries=0),
        "voted": Explainer(replay, retries=0, noise=Noise(samples=3)),
        "silent": Explainer(replay, retries=0, trace_replays=False),
    }.items():
        explanation = explainer.explain("when?", SOURCES)
        told[name] = {
            "id": explanation.id,
            "replays": explanation.counts.replays,
            "spans": printed(exporter),
        }
    with trace.get_tracer("the application's").start_as_current_span("other", attributes={"mine": 1}):
        pass
    return {**told, "outside": {"spans": printed(exporter)}}


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout)
