"""``rag-rules explain --trace``: an incident in a trace, through the application or through a model."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.runs import RagRules, assert_refused, explanation_of
from tests.cli.test_applications import APPLICATION
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer
from tests.traces.cells import CELLS
from tests.traces.test_hostile import FOUND, RUN, renamed, runs

QUESTION = "When was the iron tower built?"
TEXTS = {
    "plaque": "The iron tower was built in 1889.",
    "leaflet": "The iron tower was built in 1900.",
}
PROMPT = "Context: {}\n\n{}\n\nQuestion: " + QUESTION


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The trace of an answer, beside the application that gave it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "traced_tower", raising=False)
    (tmp_path / "traced_tower.py").write_text(APPLICATION)
    documents = [{"page_content": text, "id": name} for name, text in TEXTS.items()]
    file = tmp_path / "trace.json"
    file.write_bytes(
        runs(
            renamed(RUN, inputs={"input": QUESTION}, outputs={"output": "1889"}),
            renamed(FOUND, outputs={"documents": documents}),
            asked("1889"),
        )
    )
    return file


def asked(reply: str) -> dict[str, object]:
    """The request to a model behind the answer."""
    sent = PROMPT.format(*TEXTS.values())
    return {
        **renamed(FOUND, id="m", run_type="llm"),
        "inputs": {"messages": [[{"role": "user", "content": sent}]]},
        "outputs": {"generations": [[{"text": reply}]]},
    }


def test_an_incident_is_replayed_through_the_application(traced: Path, rag_rules: RagRules) -> None:
    told = rag_rules("explain", "--trace", traced, "--app", "traced_tower:chain", "--yes", "--json")
    explanation = explanation_of(told)
    assert explanation.question == QUESTION
    assert [source.id for source in explanation.sources] == list(TEXTS)
    assert [rule.sources for rule in explanation.retention_rules] == [("plaque",)]
    assert f"the trace t in {traced}: '{QUESTION}', with 2 documents: plaque and leaflet" in told.err


def test_the_whole_input_of_the_trace_is_given_to_the_application(
    traced: Path, rag_rules: RagRules
) -> None:
    whole = json.loads(traced.read_text())
    whole[0]["inputs"] = {"input": QUESTION, "language": "English"}
    traced.write_text(json.dumps(whole))
    command = ("explain", "--trace", traced, "--yes", "--json")
    explanation = explanation_of(rag_rules(*command, "--app", "traced_tower:asks_by_key"))
    assert [rule.sources for rule in explanation.retention_rules] == [("plaque",)]
    # What the user says goes first.
    told = rag_rules(*command, "--app", "traced_tower:asks_by_an_odd_key", "--input-key", "the_thing")
    assert explanation_of(told).retention_rules == explanation.retention_rules


def test_texts_that_the_trace_lacks_come_from_a_corpus(traced: Path, rag_rules: RagRules) -> None:
    whole = json.loads(traced.read_text())
    whole[1]["outputs"] = {"documents": [{"id": name, "score": None} for name in TEXTS]}
    traced.write_text(json.dumps(whole))
    command = ("explain", "--trace", traced, "--app", "traced_tower:chain", "--yes", "--json")
    assert_refused(rag_rules(*command), "names documents without their texts: plaque, leaflet")
    lines = [json.dumps({"id": name, "text": text}) for name, text in TEXTS.items()]
    (traced.parent / "corpus.jsonl").write_text("\n".join(lines))
    (traced.parent / "texts_of.py").write_text(f"texts = {TEXTS!r}\nby_id = texts.get\n")
    for corpus in ("corpus.jsonl", "texts_of:texts", "texts_of.py:by_id"):
        explanation = explanation_of(rag_rules(*command, "--corpus", corpus))
        assert [source.text for source in explanation.sources] == list(TEXTS.values())
    told = rag_rules(*command, "--corpus", "texts_of:nothing")
    assert_refused(told, "--corpus: texts_of has no 'nothing'; name an object that it defines")
    assert_refused(rag_rules(*command, "--corpus", "nowhere"), "there is no corpus nowhere")


def test_one_of_several_questions_is_named(rag_rules: RagRules) -> None:
    folder = next(cell.file.parent for cell in CELLS if cell.tracer == "langsmith")
    told = rag_rules("explain", "--trace", folder, "--app", "traced_tower:chain")
    assert_refused(told, "holds 8 questions; name one with --trace-id")


REFUSED = {
    "neither": ((), "--trace needs what answers"),
    "baseline": (("--app", "m:a", "--baseline", "x.json"), "--baseline does not go with --trace"),
    "documents": (("--app", "m:a", "--documents", "x"), "--documents does not go with --trace"),
    "sources": (("--model", "m", "--sources", "x"), "--sources does not go with --trace"),
    "no such trace": (("--app", "traced_tower:chain", "--trace-id", "x"), "holds no trace 'x'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_do_not_go_together_are_refused(
    name: str, traced: Path, rag_rules: RagRules
) -> None:
    more, said = REFUSED[name]
    assert_refused(rag_rules("explain", "--trace", traced, *more), said)


@pytest.mark.parametrize("who", ["--app=traced_tower:chain", "--model=m"])
def test_the_answer_to_another_question_is_not_explained(
    who: str, traced: Path, with_key: RagRules
) -> None:
    told = with_key("explain", "--trace", traced, who, "--question", "Who?", "--yes")
    assert (told.code, told.out) == (2, "")
    assert "has the answer to another question, shown above; leave --question out" in told.err


@pytest.mark.parametrize("option", ["--trace-id", "--corpus"])
def test_options_of_a_trace_need_one(option: str, rag_rules: RagRules) -> None:
    told = rag_rules("explain", "--question", "?", "--sources", "x", option, "y")
    assert_refused(told, f"{option} goes with --trace only")


def test_the_estimate_and_one_rule_take_a_trace(traced: Path, rag_rules: RagRules) -> None:
    own = ("--trace", traced, "--app", "traced_tower:chain")
    assert rag_rules("estimate", *own).code == 0
    verified = rag_rules("verify", *own, "--rule", "plaque", "--kind", "retention", "--yes")
    assert verified.code == 0, verified.err


def tower(body: Body) -> str:
    """Reads the plaque, where it is shown."""
    return "1889" if TEXTS["plaque"] in str(body["messages"]) else "1900"


@pytest.mark.waits
def test_the_recorded_request_is_replayed_through_a_model(traced: Path, with_key: RagRules) -> None:
    with OpenAIServer(tower) as server:
        own = ("--trace", traced, "--model", "some-model", "--base-url", server.base_url)
        told = with_key("explain", *own, "--json")
        sent = {request["messages"][0]["content"] for request in server.requests}
    explanation = explanation_of(told)
    assert [rule.sources for rule in explanation.retention_rules] == [("plaque",)]
    kept: list[list[str]] = [[], ["plaque"], ["leaflet"], ["plaque", "leaflet"]]
    joined = ["\n\n".join(TEXTS[each] for each in ids) for ids in kept]
    assert sent == {f"Context: {each}\n\nQuestion: {QUESTION}" for each in joined}
    assert explanation.warnings == ()


@pytest.mark.waits
def test_a_document_that_the_model_was_not_shown_is_in_no_rule(traced: Path, with_key: RagRules) -> None:
    whole = json.loads(traced.read_text())
    whole[1]["outputs"]["documents"].append({"page_content": "Soup is served at noon.", "id": "menu"})
    traced.write_text(json.dumps(whole))
    with OpenAIServer(tower) as server:
        own = ("--trace", traced, "--model", "some-model", "--base-url", server.base_url)
        told = with_key("explain", *own, "--json")
    assert [source.id for source in explanation_of(told).sources] == ["plaque", "leaflet"]
    assert "menu: not in the request to the model, so in no rule" in told.err


@pytest.mark.waits
def test_answers_to_another_request_are_not_taken_from_a_store(traced: Path, with_key: RagRules) -> None:
    with OpenAIServer(tower) as server:
        own = ("--model", "some-model", "--base-url", server.base_url, "--store", "answers.db")
        first = explanation_of(with_key("explain", "--trace", traced, *own, "--json"))
        again = explanation_of(with_key("explain", "--trace", traced, *own, "--json"))
        whole = json.loads(traced.read_text())
        messages = whole[2]["inputs"]["messages"][0]
        messages[0]["content"] += " Answer in one word."
        traced.write_text(json.dumps(whole))
        other = explanation_of(with_key("explain", "--trace", traced, *own, "--json"))
    assert first.counts.stored == 0
    assert again.counts.stored > 0
    assert other.counts.stored == 0


def test_an_answer_that_came_from_several_requests_is_refused(traced: Path, with_key: RagRules) -> None:
    whole = json.loads(traced.read_text())
    whole.append({**whole[2], "id": "m2"})
    traced.write_text(json.dumps(whole))
    said = f"the trace t in {traced}: '{QUESTION}', with 2 documents: plaque and leaflet"
    told = with_key("explain", "--trace", traced, "--model", "some-model")
    assert_refused(told, "2 requests to models, where one is needed; replay the", before=said)
