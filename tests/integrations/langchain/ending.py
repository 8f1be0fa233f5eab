"""A process that traces to an endpoint where nobody answers: bare, or explained. Run as a module."""

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.integrations.langsmith_server import closed_port, mute

TRACERS = ("LangSmith", "OTLP")
HOW = ("explain", "stream", "auto")
DEAF = ("mute", "refusing")
_READY = "ready"


class Ended(NamedTuple):
    """A process has ended, or was ended because it was still there after ``seconds``.

    ``seconds``: since all was imported. ``connections``: how many were made to the endpoint. ``said``: on
    standard error.
    """

    seconds: float
    by_itself: bool
    connections: int
    said: str


@contextmanager
def deaf(kind: str) -> Generator[tuple[str, list[Any]], None, None]:
    """The address of an endpoint that takes requests and never answers, or that refuses them, and the
    connections made to it."""
    if kind == "mute":
        with mute() as (url, connected):
            yield url, connected
    else:
        yield f"http://127.0.0.1:{closed_port()}", []


def ended(how: str, tracer: str, kind: str, most: float) -> Ended:
    """Runs the process: ``how`` is "bare", or one of HOW. ``most``: the seconds after which it is
    ended."""
    with deaf(kind) as (url, connected):
        of_langsmith = {
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_API_KEY": "none",
            "LANGSMITH_ENDPOINT": url,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, how, tracer, url],
            env={**os.environ, **(of_langsmith if tracer == "LangSmith" else {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == f"{_READY}\n"
        started = time.monotonic()
        try:
            said = process.communicate(timeout=most)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[1]
        assert process.returncode <= 0, said
        took = time.monotonic() - started
        return Ended(took, process.returncode == 0, len(connected), said)


def _trace_by_otlp(url: str) -> None:
    from openinference.instrumentation.langchain import LangChainInstrumentor
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{url}/v1/traces")))
    trace.set_tracer_provider(provider)
    LangChainInstrumentor().instrument(tracer_provider=provider, skip_dep_check=True)


def _main(how: str, tracer: str, url: str) -> None:
    from langchain_rag_rule_explainer import RuleExplainer, RuleExplanationHandler

    from tests.integrations.known import BAD
    from tests.integrations.langchain.chains import bad_with, retriever_of

    if tracer == "OTLP":
        _trace_by_otlp(url)
    chain = retriever_of("ab") | bad_with("b")
    print(_READY, flush=True)
    if how == "bare":
        chain.invoke("?")
    elif how == "auto":
        handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD), auto=True)
        chain.invoke("?", {"callbacks": [handler]})
        assert len(handler.explanations) == 1
    elif how == "stream":
        *_, last = RuleExplainer(chain, predicate=BAD).stream("?")
        assert "explanation" in dir(last)
    else:
        assert RuleExplainer(chain, predicate=BAD).explain("?").rules


if __name__ == "__main__":
    _main(*sys.argv[1:])
