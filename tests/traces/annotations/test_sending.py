"""What the tools' own clients send, of the tools whose clients all tests have; see also test_servers."""

import gzip
import json
import logging
import os
import socket
from typing import Any
from uuid import UUID

import pytest

from rag_rule_explainer.errors import MissingExtra, NotSent
from rag_rule_explainer.traces import Annotations
from rag_rule_explainer.traces.annotations import tools
from tests.traces.annotations.annotated import by_first_two
from tests.traces.annotations.taking import taking
from tests.traces.annotations.test_payloads import incident_of
from tests.traces.cells import CELLS


def annotations(tracer: str, tool: str) -> Annotations:
    incident = incident_of(next(each for each in CELLS if each.tracer == tracer))
    return Annotations(by_first_two(incident), incident, tool)


def langsmith(place: str) -> Any:
    from langsmith import Client

    return Client(api_url=place, api_key="none", auto_batch_tracing=False)


def test_langsmith_gets_feedback_in_its_own_form() -> None:
    from langsmith.schemas import FeedbackCreate

    taken: dict[UUID, FeedbackCreate] = {}

    def take(path: str, body: bytes) -> tuple[int, Any]:
        assert path == "/feedback"
        feedback = FeedbackCreate.model_validate_json(body)
        taken[feedback.id] = feedback
        return 200, {}

    made = annotations("langsmith", "langsmith")
    with taking(take) as place:
        assert made.send(langsmith(place)) == 4
        assert made.send(langsmith(place)) == 4
    # Sent again, they replace those of before.
    assert len(taken) == 4
    answer, amber, *_ = taken.values()
    assert answer.key == "rag_rules"
    assert answer.value == "1 retention rule and 2 omission rules (proved)"
    assert amber.value == "amber: needs basalt.md (proved)"
    assert "[proved on all 2 subsets]" in str(amber.comment)
    written = {each["id"]: each["run_id"] for each in made.payload["feedback"]}
    assert written == {str(each.id): str(each.run_id) for each in taken.values()}
    assert str((amber.feedback_source.metadata or {})["claim"]) == "proved"


def test_otlp_gets_spans_below_those_of_the_trace() -> None:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    taken: list[Any] = []

    def take(path: str, body: bytes) -> tuple[int, Any]:
        assert path == "/v1/traces"
        plain = gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
        taken.append(ExportTraceServiceRequest.FromString(plain))
        return 200, {}

    made = annotations("openinference", "otlp")
    with taking(take) as place:
        assert made.send(OTLPSpanExporter(endpoint=f"{place}/v1/traces")) == 4
    (request,) = taken
    sent = request.resource_spans[0].scope_spans[0].spans
    written = made.payload["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ids = [(each.trace_id.hex(), each.span_id.hex(), each.parent_span_id.hex()) for each in sent]
    assert ids == [(each["traceId"], each["spanId"], each["parentSpanId"]) for each in written]
    for span, own in zip(sent, written, strict=True):
        assert len(span.events) == len(own["events"])
        attributes = {each.key: each.value.string_value for each in span.attributes}
        assert attributes == {each["key"]: each["value"]["stringValue"] for each in own["attributes"]}


def test_a_tool_that_refuses_is_said_with_its_reason_and_what_was_sent_before() -> None:
    replies = iter([(200, {}), (200, {})])

    def take(path: str, body: bytes) -> tuple[int, Any]:
        return next(replies, (422, {"detail": "\x1b[31mno such run"}))

    made = annotations("langsmith", "langsmith")
    with taking(take) as place, pytest.raises(NotSent, match=r"2 were sent before.*no such run") as told:
        made.send(langsmith(place))
    assert "\x1b" not in str(told.value)
    assert str(told.value).endswith("More: rag-rules help NotSent")


def test_no_client_prints_a_traceback_beside_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python prints what nobody takes of a log. The test runner takes all, so this log ends before it."""
    printed, log = list[str](), logging.getLogger("langsmith")
    last = logging.Handler()
    monkeypatch.setattr(last, "emit", lambda record: printed.append(record.getMessage()))
    monkeypatch.setattr(logging, "lastResort", last)
    monkeypatch.setattr(log, "propagate", False)
    with taking(lambda path, body: (422, {"detail": "no such run"})) as place, pytest.raises(NotSent):
        annotations("langsmith", "langsmith").send(langsmith(place))
    assert printed == []
    assert log.handlers == []


def test_a_tool_that_is_not_there_is_said_to_be_so() -> None:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}/v1/traces"
    with pytest.raises(NotSent, match="OTLP"):
        annotations("openinference", "otlp").send(OTLPSpanExporter(endpoint=endpoint, timeout=1))


@pytest.mark.parametrize(("tracer", "tool"), [("langsmith", "langsmith"), ("openinference", "otlp")])
@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_is_not_followed_and_is_no_success(
    tracer: str, tool: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = list[str]()

    def kept(path: str, body: bytes) -> tuple[int, Any]:
        elsewhere.append(path)
        return 200, {}

    with taking(kept, "/") as other, taking(lambda path, body: (status, {}), other) as place:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", place)
        monkeypatch.setenv("LANGSMITH_API_KEY", "secret")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", place)
        with pytest.raises(NotSent, match=r"redirects to|did not take the spans"):
            annotations(tracer, tool).send()
    assert elsewhere == []


class Rejecting:
    """What Langfuse's client is where the API rejects one score of a batch."""

    def __init__(self) -> None:
        self.api = self.scores = self
        self.asked: list[Any] = []

    def create(self, *, request: Any) -> Any:
        self.asked.append(json.loads(json.dumps(request)))
        self.rejected, self.errors = 1, [type("", (), {"message": "no such trace"})()]
        return self


def test_scores_that_langfuse_rejects_are_told_of() -> None:
    client = Rejecting()
    with pytest.raises(NotSent, match="langfuse rejected 1 scores: no such trace"):
        annotations("langfuse", "langfuse").send(client)
    assert len(client.asked[0]) == 4


class AskedForRedirects:
    """What of MLflow is asked before annotations are sent. It keeps whether redirects are followed."""

    def __init__(self) -> None:
        self.followed: list[str | None] = []

    def get_trace(self, _: str) -> Any:
        self.followed.append(os.environ.get("MLFLOW_ALLOW_HTTP_REDIRECTS"))
        raise ConnectionError("302")


@pytest.mark.parametrize(("own", "seen"), [(None, "false"), ("true", "true")])
def test_mlflow_follows_redirects_only_if_the_user_says_so(
    own: str | None, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_ALLOW_HTTP_REDIRECTS", raising=False)
    if own is not None:
        monkeypatch.setenv("MLFLOW_ALLOW_HTTP_REDIRECTS", own)
    client = AskedForRedirects()
    with pytest.raises(NotSent, match="302"):
        annotations("mlflow", "mlflow").send(client)
    assert client.followed == [seen]
    assert os.environ.get("MLFLOW_ALLOW_HTTP_REDIRECTS") == own


def test_a_client_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"mlflow needs its own client: pip install mlflow"):
        annotations("mlflow", "mlflow").send()
