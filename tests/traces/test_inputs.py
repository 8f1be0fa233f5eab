"""Questions and answers as users and tracers write them: in quotes, as arguments of functions, several at
once, and cut within an emoji."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.errors import InvalidInput, NotInTrace
from rag_rule_explainer.traces import Incident
from tests.traces.test_hostile import FOUND, RUN, renamed, runs
from tests.traces.test_nested_searches import listed, searched, span

QUOTED = '"HER2 positive"'


def observed(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    """An observation of Langfuse."""
    time = f"2026-01-01T00:00:0{number}Z"
    return {"id": f"o{number}", "traceId": "t", "type": kind, "name": "o", "startTime": time, **fields}


DOCUMENTS = [{"page_content": "a text", "id": "a"}]
SEARCH = observed("RETRIEVER", 2, parentObservationId="o1", input="another query", output=DOCUMENTS)


def langfuse(given: Any, made: Any = "because") -> bytes:
    return runs(observed("SPAN", 1, input=given, output=made), SEARCH)


def langsmith(given: Any, made: Any = "because") -> bytes:
    return runs(renamed(RUN, inputs={"input": given}, outputs={"output": made}), FOUND)


def openinference(given: str, made: str = "because") -> bytes:
    root = span(1, None, "CHAIN", input__value=given, output__value=made)
    return runs(root, searched(2, 1, "a"))


def mlflow(given: Any, made: Any = "because") -> bytes:
    def own(number: int, kind: str, given: Any, made: Any) -> dict[str, Any]:
        said = {"spanType": kind, "spanInputs": given, "spanOutputs": made, "traceRequestId": "tr-1"}
        attributes = {f"mlflow.{key}": json.dumps(value) for key, value in said.items()}
        parent = {"parent_span_id": "1"} if number > 1 else {}
        return {"trace_id": "t", "span_id": str(number), "attributes": attributes, **parent}

    spans = [own(1, "CHAIN", given, made), own(2, "RETRIEVER", "why?", DOCUMENTS)]
    return json.dumps({"info": {"trace_id": "tr-1"}, "data": {"spans": spans}}).encode()


READ: dict[str, tuple[bytes, str, str]] = {
    **{
        f"in quotes, {write.__name__}": (write(QUOTED, '"because"'), QUOTED, '"because"')
        for write in (langfuse, langsmith, openinference, mlflow)
    },
    "an argument beside a language": (
        langfuse({"args": ["Why do dunes wander?"], "kwargs": {"lang": "en"}}),
        "Why do dunes wander?",
        "because",
    ),
    "a named argument": (
        langfuse({"args": ["en"], "kwargs": {"question": "Why do dunes wander?"}}),
        "Why do dunes wander?",
        "because",
    ),
    "the only argument": (langfuse({"args": [], "kwargs": {"topic": "dunes"}}), "dunes", "because"),
    "an id is no question": (langfuse({"user_id": "u7"}), "another query", "because"),
    "what begins like an object": (
        langsmith("Config(debug=True) does what?", "Config(debug=True) is what you need."),
        "Config(debug=True) does what?",
        "Config(debug=True) is what you need.",
    ),
    "half an emoji": (mlflow({"question": "Why \ud83d"}), "Why \ud83d", "because"),
    "half an emoji in a line": (
        b"\n".join(json.dumps(each).encode() for each in json.loads(langsmith("Why \ud83d"))),
        "Why \ud83d",
        "because",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_question_and_answer_are_what_the_application_got_and_gave(name: str, tmp_path: Path) -> None:
    written, question, answer = READ[name]
    file = tmp_path / "trace.jsonl"
    file.write_bytes(written)
    incident = Incident.from_trace(file)
    assert (incident.question, incident.answer) == (question, answer)


def of_batch(*, with_steps: bool) -> list[dict[str, Any]]:
    """The runs of a step that got two questions at once."""
    root = renamed(RUN, inputs={"input": ["one?", "two?"]}, outputs={"output": ["1", "2"]})
    several = [root]
    for name, question, answer in (("c1", "one?", "1"), ("c2", "two?", "2")):
        own = {"inputs": {"input": question}, "outputs": {"output": answer}}
        several += [renamed(RUN, id=name, parent_run_id="r", **own)] if with_steps else []
        documents = {"documents": [{"page_content": f"the text for {name}", "id": name}]}
        parent = name if with_steps else "r"
        several.append(renamed(FOUND, id=f"f{name}", parent_run_id=parent, outputs=documents))
    return several


def test_several_questions_in_one_step_are_told_apart_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(runs(*of_batch(with_steps=True)))
    with pytest.raises(InvalidInput, match=r"holds 2 questions; .*: c1 \('one\?'\), c2 \('two\?'\)"):
        Incident.from_trace(file)
    second = Incident.from_trace(file, trace_id="c2")
    assert (second.question, second.answer) == ("two?", "2")
    assert [each.id for each in second.documents or ()] == ["c2"]
    file.write_bytes(runs(*of_batch(with_steps=False)))
    with pytest.raises(NotInTrace, match="of several inputs at once"):
        Incident.from_trace(file)


def test_each_question_of_a_trace_has_its_own_conversation(tmp_path: Path) -> None:
    several = [span(1, None, "CHAIN")]
    for number, session in ((2, "first"), (4, "second")):
        said = {"input__value": f"question {number}", "output__value": f"answer {number}"}
        several.append(span(number, 1, "CHAIN", **said))
        documents = listed("retrieval", f"d{number}")
        several.append(span(number + 1, number, "RETRIEVER", session__id=session, **documents))
    file = tmp_path / "trace.json"
    file.write_bytes(runs(*several))
    incident = Incident.from_trace(file, trace_id=f"{4:016x}")
    assert (incident.question, incident.session, incident.history) == ("question 4", "second", ())


@pytest.mark.parametrize("path", [None, 5, b"trace.json", ["trace.json"]])
def test_what_is_no_path_is_told_to_be_none(path: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="give the path of a file or of a folder"):
        Incident.from_trace(path)
    with pytest.raises(InvalidInput, match="give the path of a file or of a folder"):
        list(Incident.each_in_trace(path))
    with pytest.raises(InvalidInput, match="give the id of a trace as a str"):
        Incident.from_trace(tmp_path, trace_id=5)  # pyright: ignore[reportArgumentType] -- a mistake
