"""Traces that are malformed, or made to harm: each ends in one error that says what to do."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.errors import InvalidInput, NotInTrace
from rag_rule_explainer.traces import Incident, reading

RUN: dict[str, Any] = {
    "id": "r",
    "trace_id": "t",
    "run_type": "chain",
    "name": "chain",
    "inputs": {"input": "why?"},
    "outputs": {"output": "because"},
}
FOUND: dict[str, Any] = {
    "id": "f",
    "trace_id": "t",
    "parent_run_id": "r",
    "run_type": "retriever",
    "name": "search",
    "inputs": {"query": "why?"},
    "outputs": {"documents": [{"page_content": "a text", "id": "a", "metadata": {}}]},
}


def runs(*given: Any) -> bytes:
    return json.dumps(list(given)).encode()


def otlp(**attributes: Any) -> bytes:
    span = {
        "traceId": "t",
        "spanId": "s",
        "name": "s",
        "startTimeUnixNano": "1",
        "attributes": [
            {"key": key.replace("__", "."), "value": value} for key, value in attributes.items()
        ],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def nested(depth: int, opened: str = "[", closed: str = "]") -> str:
    return opened * depth + closed * depth


def renamed(run: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**run, **fields}


MALFORMED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b" \n \n", "is empty"),
    "half": (runs(RUN)[:-9], "not valid JSON"),
    "two halves": (b'{"a": 1}\n{"b": ', "not valid JSON"),
    "text": (b"hello", "not valid JSON"),
    "number": (b"7", "has a number where a span was to be"),
    "string": (b'"x"', "has a string where a span was to be"),
    "numbers": (b"[1, 2]", "has a number where a span was to be"),
    "not UTF-8": (b'[{"id": "\xff\xfe"}]', "not valid JSON"),
    "UTF-16": ('{"id": "r"}'.encode("utf-16"), "UTF-16"),
    "gzip": (b"\x1f\x8b\x08rest", "compressed with gzip"),
    "zip": (b"PK\x03\x04rest", "zip file"),
    "Parquet": (b"PAR1rest", "Parquet"),
    "SQLite": (b"SQLite format 3\x00", "database of a tracing tool"),
    "nothing known": (b'{"a": 1}', "holds no trace of an application"),
    "nested lists": (f'{{"id": {nested(100_000)}}}'.encode(), "levels deep"),
    "nested objects": (('{"a":' * 50_000 + "1" + "}" * 50_000).encode(), "levels deep"),
    "nested containers": (('{"spans":[' * 50_000 + "]}" * 50_000).encode(), "levels deep"),
    "nested outermost lists": (nested(100_000).encode(), "levels deep"),
    "very many values": (b'[{"id": [' + b"[]," * 600_000 + b"1]}]", "a record of more than"),
    "a text of 40 MB": (b'[{"id": "' + b"x" * (40 << 20) + b'"}]', "a record of more than"),
    "a huge number": (b'[{"id": 1e9999999}]', "not valid JSON|holds no trace"),
    "NaN": (b'[{"id": NaN}]', "not valid JSON"),
    "two spans of one id": (
        runs(RUN, renamed(FOUND, id="r")),
        "the id r is that of another span",
    ),
    "own parent": (runs(renamed(RUN, parent_run_id="r"), FOUND), "its own ancestor"),
    "parents in a circle": (
        runs(RUN, renamed(FOUND, parent_run_id="g"), renamed(FOUND, id="g", parent_run_id="f")),
        "its own ancestor",
    ),
    "no trace id": (
        otlp(openinference__span__kind={"stringValue": "LLM"}).replace(b'"traceId": "t", ', b""),
        "names no trace",
    ),
    "an id that is a number": (runs(renamed(RUN, id=7)), "holds no trace of an application"),
    "no documents": (runs(RUN), "holds no documents"),
    "documents that are a text": (
        runs(RUN, renamed(FOUND, outputs={"documents": "many"})),
        "holds no documents",
    ),
    "documents that are numbers": (
        runs(RUN, renamed(FOUND, outputs={"documents": [1, 2]})),
        "holds no documents",
    ),
    "documents of which one is no document": (
        runs(RUN, renamed(FOUND, outputs={"documents": [{"page_content": "a"}, {"x": 1}]})),
        "holds no documents",
    ),
    "a document whose text is a list": (
        runs(RUN, renamed(FOUND, outputs={"documents": [{"page_content": ["a"]}]})),
        "holds no documents",
    ),
    "no answer": (runs(renamed(RUN, outputs=None), FOUND), "holds no answer"),
    "two answers": (
        runs(renamed(RUN, outputs={"output": "yes", "response": "no"}), FOUND),
        "holds no answer",
    ),
    "outputs that are a list of numbers": (runs(renamed(RUN, outputs=[1, 2]), FOUND), "holds no answer"),
    "no question": (
        runs(renamed(RUN, inputs={}), renamed(FOUND, inputs={})),
        "holds no question",
    ),
    "attributes that are no list": (
        b'{"traceId": "t", "spanId": "s", "attributes": 7}',
        "holds no trace of an application",
    ),
    "attributes that are numbers": (
        b'{"traceId": "t", "spanId": "s", "attributes": [1, {"key": 2}]}',
        "holds no question",
    ),
    "a document of number one billion": (
        otlp(
            openinference__span__kind={"stringValue": "RETRIEVER"},
            retrieval__documents__999999999__document__content={"stringValue": "x"},
        ),
        "holds no",
    ),
    "a name of a thousand dots": (
        otlp(**{"a" + "__a" * 1000: {"stringValue": "x"}}),
        "holds no question",
    ),
    "attributes that are both a value and a group": (
        otlp(
            openinference__span__kind={"stringValue": "RETRIEVER"},
            retrieval__documents={"stringValue": "x"},
            retrieval__documents__0__document__content={"stringValue": "x"},
        ),
        "holds no",
    ),
    "a bomb inside a text": (
        otlp(
            openinference__span__kind={"stringValue": "CHAIN"},
            input__value={"stringValue": nested(100_000)},
            output__value={"stringValue": nested(100_000, '{"a":', "}")},
        ),
        "holds no",
    ),
    "messages inside of messages": (
        runs(
            renamed(
                RUN,
                inputs=json.loads('{"message":' * 60 + '{"role": "user"}' + "}" * 60),
                outputs={"output": "x"},
            )
        ),
        "holds no question",
    ),
}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("name", MALFORMED)
def test_each_malformed_trace_ends_in_one_error(name: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    content, said = MALFORMED[name]
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match=said) as refused:
        Incident.from_trace(file)
    assert len(str(refused.value)) < 1000


def test_a_stream_is_refused_before_it_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InvalidInput, match=r"pipe.json is a stream, .* save it in a file first"):
        Incident.from_trace(tmp_path / "pipe.json")


def test_a_score_of_hundreds_of_digits_is_no_score(tmp_path: Path) -> None:
    found = json.dumps(FOUND).replace('"id": "a"', f'"id": "a", "score": 1{"0" * 400}')
    (tmp_path / "trace.jsonl").write_text(f"{json.dumps(RUN)}\n{found}\n")
    documents = Incident.from_trace(tmp_path / "trace.jsonl").documents or ()
    assert [each.metadata for each in documents] == [{}]


def test_there_are_more_than_thirty_of_them() -> None:
    assert len(MALFORMED) > 30


def test_a_path_that_is_not_there_and_a_folder_without_traces_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no"):
        Incident.from_trace(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match=r"holds no \.json"):
        Incident.from_trace(tmp_path)


def test_a_span_that_was_sent_twice_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(runs(RUN, FOUND, RUN, FOUND))
    assert Incident.from_trace(file).answer == "because"


@pytest.mark.parametrize("marks", ["\ufeff", ""])
@pytest.mark.parametrize("lines", [True, False])
def test_a_byte_order_mark_and_lines_are_read(marks: str, lines: bool, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    written = (
        f"{json.dumps(RUN)}\r\n\r\n{json.dumps(FOUND)}" if lines else json.dumps([RUN, FOUND], indent=2)
    )
    file.write_text(marks + written, encoding="utf-8")
    assert Incident.from_trace(file).answer == "because"


def test_objects_one_after_the_other_over_several_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text("\n".join(json.dumps(each, indent=2) for each in (RUN, FOUND)))
    assert Incident.from_trace(file).answer == "because"


def test_a_long_line_is_read_as_others_are(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    long = renamed(FOUND, outputs={"documents": [{"page_content": "x" * 3_000_000, "id": "a"}]})
    file.write_text("\n".join(json.dumps(each) for each in (RUN, long)))
    (found,) = list(Incident.from_trace(file).documents or ())
    assert len(found.text) == 3_000_000


READING = """
import resource, sys
from rag_rule_explainer.traces import Incident
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(Incident.from_trace(sys.argv[1], trace_id="t7").question)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def large(file: Path, megabytes: int, opened: str, between: str, closed: str) -> None:
    """Many traces of 10 kB each, of which one spans its runs over the whole file."""
    text = "x" * 10_000
    with file.open("w") as writing:
        writing.write(opened)
        for number in range(megabytes * 100):
            name = f"t{number}"
            outputs = {"documents": [{"page_content": f"{text} {number}", "id": "a"}]}
            mine = renamed(
                FOUND, trace_id=name, id=f"f{number}", parent_run_id=f"r{number}", outputs=outputs
            )
            run = renamed(RUN, trace_id=name, id=f"r{number}", inputs={"input": f"question {number}"})
            writing.write(f"{json.dumps(mine)}{between}{json.dumps(run)}")
            writing.write(between if number < megabytes * 100 - 1 else closed)


FORMS = {"lines": ("", "\n", "\n"), "list": ("[", ",\n", "]"), "export": ('{"runs": [', ",", "]}")}


def check_flat(file: Path, megabytes: int, form: str, most: int) -> None:
    large(file, megabytes, *FORMS[form])
    ran = subprocess.run(
        [sys.executable, "-c", READING, str(file)], capture_output=True, text=True, check=True
    )
    question, grown = ran.stdout.splitlines()
    assert question == "question 7"
    assert int(grown) < most


@pytest.mark.waits
@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("form", FORMS)
def test_a_large_file_takes_no_more_memory_than_a_trace(form: str, tmp_path: Path) -> None:
    check_flat(tmp_path / "large.json", 24, form, 12)


@pytest.mark.waits
@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("form", FORMS)
def test_a_gigabyte_takes_no_more_memory_than_a_trace(form: str, tmp_path: Path) -> None:
    check_flat(tmp_path / "large.json", 1024, form, 60)


def test_traces_that_are_mixed_over_a_whole_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGEST_TRACE", 1000)
    file = tmp_path / "trace.json"
    several = [
        renamed(RUN, trace_id=f"t{n}", id=f"{half}{n}", inputs={"input": "x" * 300})
        for half in "ab"
        for n in range(50)
    ]
    file.write_bytes(runs(*several))
    with pytest.raises(InvalidInput, match="traces are mixed"):
        Incident.from_trace(file)


def test_a_trace_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_TRACE", 1000)
    file = tmp_path / "trace.json"
    file.write_bytes(runs(renamed(RUN, inputs={"input": "x" * 2000}), FOUND))
    with pytest.raises(InvalidInput, match="export the question alone"):
        Incident.from_trace(file)


def test_nobody_is_asked_over_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    file = tmp_path / "trace.json"
    file.write_bytes(runs(RUN, FOUND))
    assert Incident.from_trace(file).answer == "because"
    file.write_bytes(runs(RUN))
    with pytest.raises(NotInTrace):
        Incident.from_trace(file)
