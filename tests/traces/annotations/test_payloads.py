"""What is written for each tool: its own form, at the places where the trace has the documents."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from rag_rule_explainer import Explanation
from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.traces import ANNOTATED_TOOLS, Annotations, Incident
from rag_rule_explainer.traces.places import DocumentPlace, usual_id
from rag_rule_explainer.traces.reading import traces_in
from tests.traces.annotations.annotated import by_first_two, explained, no_connection
from tests.traces.cells import CELLS, Cell, corpus_of

TOOLS_OF = {
    "openinference": ("phoenix", "otlp"),
    "phoenix": ("phoenix", "otlp"),
    "mlflow": ("mlflow",),
    "langsmith": ("langsmith",),
    "runs": ("langsmith",),
    "langfuse": ("langfuse", "otlp"),
    "langfuse-otel": ("langfuse", "otlp"),
    "opentelemetry": ("otlp",),
}
"""By the tool that recorded a trace, the tools that take annotations of it."""
CASES = [
    (cell, tool)
    for cell in CELLS
    if cell.holds != "no question"
    for tool in TOOLS_OF.get(cell.tracer, ())
]


def incident_of(cell: Cell) -> Incident:
    return Incident.from_trace(cell.file, corpus=None if cell.holds == "texts" else corpus_of(cell))


def placed(tool: str, payload: dict[str, Any]) -> list[tuple[str | None, str]]:
    """The step and the label of each annotation; None for one on the whole trace."""
    if tool == "phoenix":
        both = [each for part in payload.values() for each in part["data"]]
        return [(each["span_id"], each["result"]["label"]) for each in both]
    if tool == "langsmith":
        return [(each["run_id"], each["value"]) for each in payload["feedback"]]
    if tool == "langfuse":
        return [(each.get("observationId"), each["value"]) for each in payload["scores"]]
    if tool == "mlflow":
        said = [each["assessment"] for each in payload["assessments"]]
        return [(each.get("span_id"), each["feedback"]["value"]) for each in said]
    spans = payload["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return [
        (span["parentSpanId"], of_event(event)["gen_ai.evaluation.score.label"])
        for span in spans
        for event in span["events"]
    ]


def said_of(tool: str, place: DocumentPlace, source: str, label: str) -> str:
    """Where a tool has no annotations of documents, they are named."""
    is_of_document = tool == "phoenix" and place.kind in {"retrieval", "rerank"}
    return label if is_of_document else f"{source}: {label}"


def of_event(event: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in event["attributes"]}


def documents_of_steps(cell: Cell) -> dict[str, list[str | None]]:
    """The ids or texts of the documents of each step, as the trace has them."""
    (trace,) = traces_in(cell.file)
    found = {usual_id(span.id): span.documents for span in trace.spans}
    return {step: [each.text or each.id for each in held] for step, held in found.items() if held}


@pytest.mark.spread(fast=12, slow=3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_each_document_has_its_label_where_the_trace_has_the_document(case: tuple[Cell, str]) -> None:
    cell, tool = case
    incident = incident_of(cell)
    made = Annotations(by_first_two(incident), incident, tool)
    json.dumps(made.payload, allow_nan=False)
    first, second = [each.id for each in incident.documents or ()][:2]
    assert incident.traced is not None
    labels = {first: f"needs {second} (proved)", second: f"needs {first} (proved)"}
    # What is in no step of the trace is spoken of beside the answer.
    beside = (DocumentPlace(incident.traced.step, 0, "other"),)
    expected = sorted(
        (place.step, said_of(tool, place, source.id, labels.get(source.id, "not named (proved)")))
        for source in incident.documents or ()
        for place in incident.traced.documents.get(source.id, beside)
    )
    found = [(step or incident.traced.step, label) for step, label in placed(tool, made.payload)]
    answer = (incident.traced.step, "1 retention rule and 2 omission rules (proved)")
    assert sorted(cast("Any", found)) == sorted([*expected, answer])
    assert made.count == len(found)
    # The places are those of the documents, in the file.
    in_file, texts = documents_of_steps(cell), {each.id: each.text for each in incident.documents or ()}
    for source, places in incident.traced.documents.items():
        for place in places:
            held = in_file[place.step][place.position]
            assert held == texts[source] if cell.holds == "texts" else held in {source, held}


def test_phoenix_gets_the_position_of_each_document() -> None:
    cell = next(each for each in CELLS if str(each) == "phoenix-langchain-retriever")
    incident = incident_of(cell)
    payload = Annotations(by_first_two(incident), incident, "phoenix").payload
    documents = payload["document_annotations"]["data"]
    assert [each["document_position"] for each in documents] == [0, 1, 2]
    assert {each["annotator_kind"] for each in documents} == {"CODE"}
    names = [each["metadata"]["document"] for each in documents]
    assert names == [each.id for each in incident.documents or ()]
    assert documents[0]["metadata"]["claim"] == "proved"
    assert "[proved on all 2 subsets]" in documents[0]["result"]["explanation"]


def test_documents_of_a_tool_are_spoken_of_on_its_step() -> None:
    cell = next(each for each in CELLS if str(each) == "phoenix-langchain-agent")
    incident = incident_of(cell)
    payload = Annotations(by_first_two(incident), incident, "phoenix").payload
    assert payload["document_annotations"]["data"] == []
    _, *of_documents = payload["span_annotations"]["data"]
    names = [each["result"]["label"].partition(":")[0] for each in of_documents]
    assert names == [each.id for each in incident.documents or ()]
    # Phoenix keeps one annotation of a name and an identifier for each span.
    assert len({each["identifier"] for each in of_documents}) == len(names)


def test_what_is_undecided_is_an_error_in_mlflow() -> None:
    cell = next(each for each in CELLS if str(each) == "mlflow-langchain-retriever")
    incident = incident_of(cell)
    never_met = explained(incident, lambda kept: False, check_repeatable=False)
    said = [
        each["assessment"]["feedback"]
        for each in Annotations(never_met, incident, "mlflow").payload["assessments"]
    ]
    assert all(set(each) == {"error"} for each in said[1:])
    assert said[1]["error"]["error_code"] == "UNDECIDED"


def test_spans_of_otlp_are_spans_of_opentelemetry() -> None:
    """OpenTelemetry's own messages take them; they have ids as bytes."""
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    cell = next(each for each in CELLS if str(each) == "openinference-langchain-retriever")
    incident = incident_of(cell)
    payload = Annotations(by_first_two(incident), incident, "otlp").payload
    parsed: Any = ParseDict(payload, ExportTraceServiceRequest())
    spans = parsed.resource_spans[0].scope_spans[0].spans
    assert [span.name for span in spans] == ["rag_rules", "rag_rules"]
    assert sum(len(span.events) for span in spans) == 4
    attributes = {each.key: each.value.string_value for each in spans[0].attributes}
    assert attributes["openinference.span.kind"] == "EVALUATOR"
    assert attributes["annotations.0.annotation.annotator_kind"] == "CODE"


REFUSED: dict[str, tuple[Callable[[Incident, Explanation], object], str]] = {
    "tool": (
        lambda i, e: Annotations(e, i, "nagios"),
        r"'nagios' takes no annotations; give one of phoenix",
    ),
    "ids": (
        lambda i, e: Annotations(e, i, "langsmith"),
        r"langsmith has no trace or step with the id '0000",
    ),
    "no trace": (
        lambda i, e: Annotations(e, Incident(i.answer, i.question, i.documents), "phoenix"),
        "not read from a trace",
    ),
    "answer": (
        lambda i, e: Annotations(
            by_first_two(Incident("another", i.question, i.documents)), i, "phoenix"
        ),
        "has another answer than the explanation",
    ),
    "question": (
        lambda i, e: Annotations(e.model_copy(update={"question": "Another?"}), i, "phoenix"),
        "has another question than the explanation",
    ),
    "text": (
        lambda i, e: Annotations(
            e.model_copy(update={"sources": tuple(_with_text(each) for each in e.sources)}), i, "phoenix"
        ),
        "has another text of amber than the explanation",
    ),
    "documents": (
        lambda i, e: Annotations(
            e.model_copy(update={"sources": tuple(_with_id(each) for each in e.sources)}), i, "phoenix"
        ),
        "has none of the documents of the explanation",
    ),
}


def test_documents_that_were_not_explained_are_not_said_to_be_hidden() -> None:
    """What was proved beside some documents may be false beside others."""
    incident = incident_of(next(each for each in CELLS if each.tracer == "phoenix"))
    documents = list(incident.documents or ())
    fewer = by_first_two(replace(incident, documents=tuple(documents[:2])))
    with pytest.raises(InvalidInput, match=f"that the explanation lacks, {documents[2].id}; name"):
        Annotations(fewer, incident, "phoenix")
    assert incident.request is not None
    hidden = replace(incident.request, hidden=tuple(each.id for each in documents[2:]))
    payload = Annotations(fewer, replace(incident, request=hidden), "phoenix").payload
    labels = [each["result"]["label"] for each in payload["document_annotations"]["data"]]
    assert labels[2:] == ["not shown"] * len(documents[2:])


def _with_text(source: Any) -> Any:
    return replace(source, text="another")


def _with_id(source: Any) -> Any:
    return replace(source, id=f"{source.id}2")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_of_this_trace_is_refused(name: str) -> None:
    act, said = REFUSED[name]
    incident = incident_of(next(each for each in CELLS if each.tracer == "phoenix"))
    with pytest.raises(InvalidInput, match=said):
        act(incident, by_first_two(incident))


def test_nothing_is_sent_by_writing_a_file(tmp_path: Path) -> None:
    with no_connection() as tried:
        for cell, tool in {tool: (cell, tool) for cell, tool in CASES}.values():
            incident = incident_of(cell)
            made = Annotations(by_first_two(incident), incident, tool)
            file = made.write(tmp_path)
            assert file.name.startswith(f"{tool}-")
            assert json.loads(file.read_text()) == made.payload
    assert tried == []
    assert len(list(tmp_path.iterdir())) == len(ANNOTATED_TOOLS)


def test_the_same_notes_have_the_same_ids_and_those_of_another_condition_others() -> None:
    incident = incident_of(next(each for each in CELLS if each.tracer == "langsmith"))

    def ids(answered: Explanation) -> set[str]:
        return {each["id"] for each in Annotations(answered, incident, "langsmith").payload["feedback"]}

    once, again = (ids(by_first_two(incident)) for _ in range(2))
    assert once == again
    assert len(once) == 4
    other = by_first_two(incident).model_copy(
        update={"predicates": dict.fromkeys(by_first_two(incident).predicates, "another")}
    )
    assert not once & ids(other)


def test_phoenix_keeps_the_annotations_of_two_conditions_of_one_document() -> None:
    incident = incident_of(next(each for each in CELLS if str(each) == "phoenix-langchain-retriever"))
    answered = by_first_two(incident)

    def names(*conditions: str) -> list[str]:
        changed = answered.model_copy(update={"predicates": dict(zip(RuleKind, conditions, strict=True))})
        payload = Annotations(changed, incident, "phoenix").payload
        assert not any("identifier" in each for each in payload["document_annotations"]["data"])
        return [each["name"] for each in payload["document_annotations"]["data"]]

    once, again = (names("the answer contains 'HASH'", "the answer does not") for _ in range(2))
    other, hostile = names("the answer contains 'hash'", "the answer does not"), names('\x1b[<"%', "…")
    assert once == again
    assert len({*once, *other, *hostile}) == 3
    assert once[0].startswith("rag_rules_contains_hash_")
    assert all(re.fullmatch(r"rag_rules_[a-z0-9_]{8,80}", each) for each in (*once, *other, *hostile))
