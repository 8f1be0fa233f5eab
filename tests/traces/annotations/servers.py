"""Phoenix and MLflow on this machine, each with a trace of the story; ``make annotations`` has both."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.traces.annotations.story import KNEE, application
from tests.traces.making.write import phoenix_running, wait_for


def trace_in_phoenix(place: str, folder: Path) -> Path:
    """Asks the question under OpenInference, and returns the trace as Phoenix's client exports it."""
    from openinference.instrumentation.langchain import LangChainInstrumentor
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from phoenix.client import Client

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=f"{place}/v1/traces")))
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider, skip_dep_check=True)
    application().invoke(KNEE.question)
    instrumentor.uninstrument()
    spans: list[Any] = []
    # The spans come one by one; the outermost comes last.
    while not any(span["parent_id"] is None for span in spans):
        time.sleep(0.2)
        spans = list(Client(base_url=place).spans.get_spans(project_identifier="default", limit=1000))
    file = folder / "phoenix-trace.json"
    file.write_text(json.dumps(spans))
    return file


@contextmanager
def phoenix_with_trace(folder: Path) -> Generator[tuple[str, Path]]:
    """Yields the address of a Phoenix, and the file with its trace."""
    with phoenix_running(folder) as place:
        yield place, trace_in_phoenix(place, folder)


@contextmanager
def mlflow_with_trace(folder: Path) -> Generator[tuple[str, Path]]:
    """Yields the address of an MLflow, and the file with its trace, as ``to_dict`` writes it."""
    import mlflow

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = f"http://127.0.0.1:{port}"
    command = [
        *(str(Path(sys.executable).parent / "mlflow"), "server", "--workers", "1"),
        *("--host", "127.0.0.1", "--port", str(port), "--backend-store-uri", f"sqlite:///{folder}/m.db"),
    ]
    quiet = {
        **os.environ,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
        # It would start a dozen processes for jobs.
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    with (folder / "log").open("w") as log:
        # In a group of its own: the server is several processes.
        server = subprocess.Popen(
            command, cwd=folder, env=quiet, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_for(f"{place}/health")
            mlflow.set_tracking_uri(place)
            mlflow.langchain.autolog()
            application().invoke(KNEE.question)
            mlflow.langchain.autolog(disable=True)
            mlflow.flush_trace_async_logging()
            trace = mlflow.get_trace(mlflow.get_last_active_trace_id())
            file = folder / "mlflow-trace.json"
            file.write_text(json.dumps(trace.to_dict()))
            yield place, file
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(30)
