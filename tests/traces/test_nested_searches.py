"""Searches and rerankers inside of each other: what the outermost one returned is what the application
got, also if this is less than what was found inside, or nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.errors import NotInTrace
from rag_rule_explainer.traces import Incident
from tests.traces.cells import CELLS
from tests.traces.test_hostile import FOUND, RUN, renamed, runs

TRACE = "0" * 31 + "1"


def found(number: int, parent: str, *ids: str) -> dict[str, Any]:
    documents = [{"page_content": f"the text of {each}", "id": each} for each in ids]
    time = f"2026-01-01T00:00:0{number}"
    fields = {"outputs": {"documents": documents}, "start_time": time, "parent_run_id": parent}
    return renamed(FOUND, id=f"f{number}", **fields)


def span(number: int, parent: int | None, kind: str, **attributes: str) -> dict[str, Any]:
    """A span of OpenInference. ``attributes``: their names have "__" for "."."""
    said = {"openinference.span.kind": kind, **attributes}
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": kind.lower(),
        "startTimeUnixNano": str(number),
        "attributes": [
            {"key": key.replace("__", "."), "value": {"stringValue": value}}
            for key, value in said.items()
        ],
    }


def listed(prefix: str, *ids: str) -> dict[str, str]:
    return {
        f"{prefix}.documents.{place}.document.{key}": value
        for place, each in enumerate(ids)
        for key, value in {"id": each, "content": f"the text of {each}"}.items()
    }


def reranked(number: int, parent: int, given: str, kept: str) -> dict[str, Any]:
    several = {**_named("input", given), **_named("output", kept)}
    return span(number, parent, "RERANKER", **several)


def _named(end: str, ids: str) -> dict[str, str]:
    return {
        key.replace(".documents", f".{end}_documents", 1): value
        for key, value in listed("reranker", *ids).items()
    }


ROOT = span(1, None, "CHAIN", input__value="why?", output__value="because")


def searched(number: int, parent: int, ids: str) -> dict[str, Any]:
    return span(number, parent, "RETRIEVER", **listed("retrieval", *ids))


NESTED: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "a search that returned nothing": ([RUN, found(1, "r"), found(2, "f1", "a", "b")], []),
    "a search that returned less": ([RUN, found(1, "r", "b"), found(2, "f1", "a", "b")], ["b"]),
    "one search that returned nothing, and another one": (
        [RUN, found(1, "r"), found(2, "f1", "a"), found(3, "r", "c")],
        ["c"],
    ),
    "a reranker that kept nothing": ([ROOT, searched(2, 1, "ab"), reranked(3, 1, "ab", "")], []),
    "a reranker of one of two searches that kept nothing": (
        [ROOT, searched(2, 1, "ab"), searched(3, 1, "c"), reranked(4, 1, "ab", "")],
        ["c"],
    ),
    "a reranker inside of a search": ([ROOT, searched(2, 1, "b"), reranked(3, 2, "ab", "ba")], ["b"]),
    "a reranker inside of another one": (
        [ROOT, searched(2, 1, "abc"), reranked(3, 1, "abc", "c"), reranked(4, 3, "abc", "cba")],
        ["c"],
    ),
    "a reranker that kept nothing of what it was not said to get": (
        [ROOT, searched(2, 1, "ab"), span(3, 1, "RERANKER", output__value="[]")],
        [],
    ),
    "a reranker of which nothing is recorded": (
        [ROOT, searched(2, 1, "ab"), span(3, 1, "RERANKER")],
        ["a", "b"],
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_the_outermost_search_says_what_the_application_got(name: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    written, ids = NESTED[name]
    file.write_bytes(runs(*written))
    if not ids:
        with pytest.raises(NotInTrace, match="holds no documents"):
            Incident.from_trace(file)
        return
    assert [each.id for each in Incident.from_trace(file).documents or ()] == ids


def test_a_batch_of_which_a_reranker_keeps_nothing_is_no_document_in_events_either(
    tmp_path: Path,
) -> None:
    (cell,) = [cell.file for cell in CELLS if str(cell) == "events-llama_index-reranker"]
    lines = [json.loads(each) for each in cell.read_text().splitlines()]
    place = next(n for n, each in enumerate(lines) if each.get("class_name") == "RetrievalEndEvent")
    first = lines[place]["nodes"][0]
    dropped = json.loads(json.dumps(first).replace(first["node"]["id_"], "dropped"))
    dropped["node"]["text"] = "The text of a second search, of which the reranker kept nothing."
    second = [
        {**each, "nodes": [dropped], "span_id": "Other.retrieve-1", "id_": f"other-{n}"}
        for n, each in enumerate(lines[place - 1 : place + 1])
    ]
    for each in lines:
        if each.get("class_name") == "ReRankStartEvent":
            each["nodes"].append(dropped)
    second[0].pop("nodes")
    file = tmp_path / "events.jsonl"
    several = [*lines[: place + 1], *second, *lines[place + 1 :]]
    file.write_text("\n".join(json.dumps(each) for each in several))
    ids = [each.id for each in Incident.from_trace(file).documents or ()]
    assert ids == [each.id for each in Incident.from_trace(cell).documents or ()]


def test_messages_that_a_tool_returns_are_no_documents(tmp_path: Path) -> None:
    message = {"type": "human", "content": "what the user said before", "id": "m1"}
    tool = renamed(FOUND, run_type="tool", outputs={"output": [message]})
    file = tmp_path / "trace.json"
    file.write_bytes(runs(RUN, tool))
    with pytest.raises(NotInTrace, match="holds no documents"):
        Incident.from_trace(file)
