"""What a replay sends by a tracer that nobody knew of before: the application brings it itself."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from langsmith import Client, traceable, tracing_context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_rule_explainer.probing.tracing import endpoints, spans
from rag_rule_explainer.probing.tracing.marks import TracedExplanation, TracedReplay, being_traced
from rag_rule_explainer.probing.tracing.sending import checked
from rag_rule_explainer.probing.tracing.traced import marked
from tests.integrations.exported import Exported, attributes
from tests.integrations.langsmith_server import closed_port, langsmith, mute


@contextmanager
def replaying(*, shown: bool = True) -> Generator[TracedReplay, None, None]:
    replay = TracedExplanation(replays=shown).replay(["a"], "replay")
    with checked(), being_traced(replay), marked(replay):
        yield replay


@traceable(name="own")
def own(given: str) -> str:
    return given


def sent_by(client: Client) -> None:
    with tracing_context(enabled=True, client=client):
        own("?")


def test_a_client_whose_endpoint_is_dead_is_sent_nothing_and_asked_once() -> None:
    client = Client(api_url=f"http://127.0.0.1:{closed_port()}", api_key="none", auto_batch_tracing=False)
    with replaying() as replay:
        sent_by(client)  # it would raise
        sent_by(client)
    (note,) = replay.explanation.notes
    assert note.startswith(f"{client.api_url}/info gave no answer within 2 seconds")
    client.close()


@pytest.mark.parametrize("shown", [True, False])
def test_a_client_whose_endpoint_answers_is_sent_what_is_shown(shown: bool) -> None:
    with langsmith() as (server, client):
        with replaying(shown=shown) as replay:
            sent_by(client)
        client.flush()
        assert server.roots == (["own"] if shown else [])
        sent_by(client)  # outside of replays all is as it was
        client.flush()
        assert server.roots.count("own") == 1 + shown
    assert replay.explanation.notes == []


def test_of_several_services_those_that_answer_are_sent_everything() -> None:
    dead = f"http://127.0.0.1:{closed_port()}"
    with langsmith() as (server, client):
        replicas: Any = [{"api_url": url, "auth": {"api_key": "none"}} for url in (server.url, dead)]
        with replaying() as replay, tracing_context(enabled=True, client=client, replicas=replicas):
            own("?")
        client.flush()
        assert [run["name"] for run in server.runs.values()] == ["own"]
    assert [note.split()[0] for note in replay.explanation.notes] == [f"{dead}/info"]


@pytest.mark.parametrize("shown", [True, False])
def test_spans_of_a_provider_that_nobody_knows_are_marked_or_silenced(shown: bool) -> None:
    exported = Exported()
    tracer = exported.provider.get_tracer("the application's")
    with replaying(shown=shown) as replay:
        tracer.start_span("own").end()
    told = [attributes(each)["rag_rule_explanation"] for each in exported.named("own")]
    assert told == ([replay.explanation.id] if shown else [])
    tracer.start_span("after").end()
    (after,) = exported.named("after")
    assert attributes(after) == {}


def test_a_provider_whose_exporter_is_dead_records_no_span() -> None:
    provider, endpoint = TracerProvider(), f"http://127.0.0.1:{closed_port()}/v1/traces"
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    with replaying() as replay:
        assert not provider.get_tracer("the application's").start_span("own").is_recording()
    assert [note.split()[0] for note in replay.explanation.notes] == [endpoint]
    provider.shutdown()


def test_of_several_exporters_those_that_answer_receive_every_span() -> None:
    exported, unheard = Exported(), InMemorySpanExporter()
    endpoint = f"http://127.0.0.1:{closed_port()}/v1/traces"
    unheard._endpoint = endpoint  # pyright: ignore[reportAttributeAccessIssue] -- as exporters of OTLP keep it
    exported.provider.add_span_processor(SimpleSpanProcessor(unheard))
    tracer = exported.provider.get_tracer("the application's")
    with replaying() as replay:
        tracer.start_span("own").end()
    assert [attributes(each)["rag_rule_explanation"] for each in exported.named("own")]
    assert unheard.get_finished_spans() == ()
    assert [note.split()[0] for note in replay.explanation.notes] == [endpoint]
    tracer.start_span("after").end()
    assert [each.name for each in unheard.get_finished_spans()] == ["after"]


def test_an_explanation_has_its_root_where_one_of_two_exporters_answers() -> None:
    exported, unheard = Exported(), InMemorySpanExporter()
    unheard._endpoint = f"http://127.0.0.1:{closed_port()}/v1/traces"  # pyright: ignore[reportAttributeAccessIssue] -- as exporters of OTLP keep it
    exported.provider.add_span_processor(SimpleSpanProcessor(unheard))
    tracer = exported.provider.get_tracer("the application's")
    assert spans.why_all_dead([tracer]) == ""
    spans.started("root", {}, tracer).span.end()
    assert len(exported.named("root")) == 1
    assert unheard.get_finished_spans() == ()


def test_a_grpc_endpoint_has_to_answer_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    assert endpoints.why_not(f"127.0.0.1:{closed_port()}")
    monkeypatch.setattr(endpoints, "ANSWERS_WITHIN", 0.01)
    with mute() as (endpoint, _):
        assert endpoints.why_not(endpoint.removeprefix("http://"))
    assert endpoints.why_not("unix:/run/collector") == ""


def test_one_that_stays_dead_is_asked_ever_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every explanation that took longer than a minute waited for it once more."""
    monkeypatch.setattr(endpoints, "ANSWERS_WITHIN", 0.01)
    known: dict[str, tuple[float, bool, float]] = {}
    monkeypatch.setattr(endpoints, "_known", known)
    minutes = range(1, 200)
    asked = set[float]()
    with mute() as (endpoint, _):
        for minute in minutes:  # one explanation in each
            monkeypatch.setattr(
                endpoints, "time", SimpleNamespace(monotonic=lambda now=minute: now * 61.0)
            )
            assert endpoints.why_not(endpoint)
            asked.add(known[endpoint][0])
        assert len(asked) == 9
        assert endpoints.why_not(endpoint, anew=True)
        assert known[endpoint] == (minutes[-1] * 61.0, False, 3600.0)
    with langsmith() as (server, _):
        known[server.url] = (1.0, False, 3600.0)
        monkeypatch.setattr(endpoints, "ANSWERS_WITHIN", 60.0)
        assert endpoints.why_not(server.url) == ""
        assert known[server.url][1:] == (True, 60.0)


@pytest.mark.waits
def test_a_grpc_endpoint_that_answers_or_hangs_up_is_there() -> None:
    for reply in (b"\0\0\0\4\0\0\0\0\0", b""):
        with socket.create_server(("127.0.0.1", 0)) as listening, answering(listening, reply):
            assert endpoints.why_not(f"127.0.0.1:{listening.getsockname()[1]}", anew=True) == ""


@contextmanager
def answering(listening: socket.socket, reply: bytes) -> Generator[None, None, None]:
    def answer() -> None:
        with listening.accept()[0] as connection:
            connection.recv(1)
            connection.sendall(reply)

    thread = Thread(target=answer)
    thread.start()
    yield
    thread.join()
