"""What each tracing tool writes of one question: its own file, as text.

An exporter is a function from a framework and questions to ask (name -> ask) to the files (name -> text).
"""

import json
import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

Ask = Callable[[list[Any]], Any]
"""Runs an application once, with these callbacks of LangChain."""
Files = dict[str, str]


def _provider() -> tuple[Any, Any]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    return kept, provider


@contextmanager
def _openinference(framework: str, provider: Any) -> Generator[None, None, None]:
    if framework == "langchain":
        from openinference.instrumentation.langchain import LangChainInstrumentor as Instrumentor
    else:
        from openinference.instrumentation.llama_index import LlamaIndexInstrumentor as Instrumentor
    made = Instrumentor()
    made.instrument(tracer_provider=provider, skip_dep_check=True)
    yield
    made.uninstrument()


def _otlp(spans: Any) -> str:
    """As OpenTelemetry's own exporter into files writes them: a line for each export."""
    from opentelemetry.exporter.otlp.json.file import FileSpanExporter

    written = StringIO()
    FileSpanExporter(stream=written).export(spans)
    return written.getvalue()


def _each(asks: Mapping[str, Ask], kept: Any, write: Callable[[Any], str]) -> Files:
    files: Files = {}
    for name, ask in asks.items():
        kept.clear()
        ask([])
        files[name] = write(kept.get_finished_spans())
    return files


def openinference(framework: str, asks: Mapping[str, Ask]) -> Files:
    kept, provider = _provider()
    with _openinference(framework, provider):
        return _each(asks, kept, _otlp)


def phoenix(framework: str, asks: Mapping[str, Ask]) -> Files:
    """What Phoenix's client gets back from a Phoenix on this machine, which PHOENIX names."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from phoenix.client import Client

    place = os.environ["PHOENIX"]
    kept, provider = _provider()
    sender, client = OTLPSpanExporter(endpoint=f"{place}/v1/traces"), Client(base_url=place)

    def exported(spans: Any) -> str:
        sender.export(spans)
        wanted = f"{spans[0].context.trace_id:032x}"
        found: list[Any] = []
        while len(found) < len(spans):
            found = list(
                client.spans.get_spans(project_identifier="default", trace_ids=[wanted], limit=1000)
            )
        return json.dumps(found)

    with _openinference(framework, provider):
        return _each(asks, kept, exported)


def opentelemetry(framework: str, asks: Mapping[str, Ask]) -> Files:
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor

    kept, provider = _provider()
    LangChainInstrumentor().instrument(tracer_provider=provider)
    return _each(asks, kept, _otlp)


def mlflow(framework: str, asks: Mapping[str, Ask]) -> Files:
    import mlflow as tool

    tool.set_tracking_uri(f"sqlite:///{Path(mkdtemp()) / 'm.db'}")
    (tool.langchain if framework == "langchain" else tool.llama_index).autolog()
    files: Files = {}
    for name, ask in asks.items():
        ask([])
        tool.flush_trace_async_logging()
        trace = tool.get_trace(tool.get_last_active_trace_id())
        files[name] = json.dumps(trace.to_dict(), indent=1)
    return files


def langsmith(framework: str, asks: Mapping[str, Ask]) -> Files:
    """The runs as the client sends them: a list, without a tree."""
    from langchain_core.tracers.langchain import LangChainTracer
    from langsmith import Client

    from tests.integrations.langsmith_server import LangSmith

    files: Files = {}
    for name, ask in asks.items():
        from threading import Thread

        server = LangSmith()
        Thread(target=server.serve_forever, daemon=True).start()
        client = Client(api_url=server.url, api_key="none")
        ask([LangChainTracer(client=client)])
        client.flush()
        files[name] = json.dumps(list(server.runs.values()), indent=1)
        server.shutdown()
        server.server_close()
    return files


def runs(framework: str, asks: Mapping[str, Ask]) -> Files:
    """The runs as LangChain's own collector keeps them: a tree."""
    from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

    files: Files = {}
    for name, ask in asks.items():
        collector = RunCollectorCallbackHandler()
        ask([collector])
        (run,) = collector.traced_runs
        files[name] = json.dumps(_tree(run), indent=1)
    return files


def _tree(run: Any) -> dict[str, Any]:
    """What the client's ``read_run(load_child_runs=True)`` has: each run with those inside of it."""
    own = json.loads(run.model_dump_json())
    return {**own, "child_runs": [_tree(each) for each in run.child_runs]}


def langfuse(framework: str, asks: Mapping[str, Ask]) -> Files:
    """Observations in the form of the API, made of what the SDK sends to it. The API's own class checks
    them: no Langfuse runs on this machine."""
    return _langfuse(asks, _observed)


def langfuse_otel(framework: str, asks: Mapping[str, Ask]) -> Files:
    """The spans that Langfuse's SDK sends, as OpenTelemetry writes them."""
    return _langfuse(asks, _otlp)


def _langfuse(asks: Mapping[str, Ask], write: Callable[[Any], str]) -> Files:
    from langfuse import Langfuse
    from langfuse.langchain import CallbackHandler

    kept, provider = _provider()
    client = Langfuse(
        public_key="pk-lf-1",
        secret_key="sk-lf-1",  # noqa: S106 -- it sends to nobody
        base_url="http://127.0.0.1:9",
        tracer_provider=provider,
        span_exporter=kept,
    )
    files: Files = {}
    for name, ask in asks.items():
        kept.clear()
        ask([CallbackHandler()])
        client.flush()
        files[name] = write(kept.get_finished_spans())
    return files


def _observed(spans: Any) -> str:
    from langfuse.api.commons.types import ObservationV2

    found: list[dict[str, Any]] = []
    for span in spans:
        said, own = dict(span.attributes), "langfuse.observation."
        found.append(
            {
                "id": f"{span.context.span_id:016x}",
                "traceId": f"{span.context.trace_id:032x}",
                "startTime": _moment(span.start_time),
                "endTime": _moment(span.end_time),
                "projectId": "project",
                "parentObservationId": span.parent and f"{span.parent.span_id:016x}",
                "type": str(said.get(f"{own}type", "span")).upper(),
                "name": span.name,
                "input": said.get(f"{own}input"),
                "output": said.get(f"{own}output"),
                "sessionId": said.get("session.id"),
                "providedModelName": said.get(f"{own}model.name"),
            }
        )
    for each in found:
        ObservationV2(**{re.sub("([A-Z])", r"_\1", key).lower(): value for key, value in each.items()})
    return json.dumps({"data": found, "meta": {}}, indent=1)


def _moment(nanoseconds: int) -> str:
    from datetime import datetime, timezone

    return datetime.fromtimestamp(nanoseconds / 1e9, timezone.utc).isoformat()


def events(framework: str, asks: Mapping[str, Ask]) -> Files:
    """LlamaIndex's own events, a line each, as its documentation has a handler write them."""
    from llama_index.core.instrumentation import get_dispatcher
    from llama_index.core.instrumentation.event_handlers import BaseEventHandler

    lines: list[str] = []

    class Writing(BaseEventHandler):
        @classmethod
        def class_name(cls) -> str:
            return "Writing"

        def handle(self, event: Any, **_: Any) -> Any:
            lines.append(json.dumps(event.model_dump(mode="json")))

    get_dispatcher().add_event_handler(Writing())
    files: Files = {}
    for name, ask in asks.items():
        lines.clear()
        ask([])
        files[name] = "".join(f"{line}\n" for line in lines)
    return files


EXPORTERS: dict[str, tuple[Callable[[str, Mapping[str, Ask]], Files], tuple[str, ...], str]] = {
    "openinference": (openinference, ("langchain", "llama_index"), "jsonl"),
    "phoenix": (phoenix, ("langchain", "llama_index"), "json"),
    "opentelemetry": (opentelemetry, ("langchain",), "jsonl"),
    "mlflow": (mlflow, ("langchain", "llama_index"), "json"),
    "langsmith": (langsmith, ("langchain",), "json"),
    "runs": (runs, ("langchain",), "json"),
    "langfuse": (langfuse, ("langchain",), "json"),
    "langfuse-otel": (langfuse_otel, ("langchain",), "jsonl"),
    "events": (events, ("llama_index",), "jsonl"),
}
"""By name: what makes the files, of which frameworks, and how the names of the files end."""
