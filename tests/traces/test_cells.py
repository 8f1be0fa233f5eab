"""What is read in traces that the real packages write, beside what a recording of the run captures."""

import json
from importlib import import_module
from typing import Any

import pytest

from rag_rule_explainer import Source
from rag_rule_explainer.errors import NotInTrace
from rag_rule_explainer.traces import Annotations, Incident
from tests.integrations.known import BAD
from tests.traces.annotations.test_payloads import TOOLS_OF
from tests.traces.cells import CELLS, FIXTURES, Cell, corpus_of

WITH_TEXTS = [cell for cell in CELLS if cell.holds == "texts"]
WITHOUT = [cell for cell in CELLS if cell.holds in {"no texts", "no documents"}]
READ = [*WITH_TEXTS, *WITHOUT]


def read(incident: Incident) -> dict[str, Any]:
    sources = [[each.id, each.text] for each in incident.documents or ()]
    return {"question": incident.question, "answer": incident.answer, "sources": sources}


def captured(cell: Cell) -> dict[str, Any]:
    return {key: cell.truth[key] for key in ("question", "answer", "sources")}


def test_every_cell_has_a_trace_and_every_trace_is_in_a_cell() -> None:
    listed = {cell.file for cell in CELLS}
    assert listed == {file for file in FIXTURES.glob("*/*") if file.is_file()}


@pytest.mark.parametrize("cell", WITH_TEXTS, ids=str)
def test_what_the_trace_holds_is_what_a_recording_of_the_run_captures(cell: Cell) -> None:
    assert read(Incident.from_trace(cell.file)) == captured(cell)


@pytest.mark.parametrize("cell", WITHOUT, ids=str)
def test_where_the_texts_are_missing_it_is_said_where_they_were_looked_for(cell: Cell) -> None:
    with pytest.raises(NotInTrace) as refused:
        Incident.from_trace(cell.file)
    said = str(refused.value)
    assert "looked at the" in said
    assert "--corpus" in said
    assert said.endswith("More: rag-rules help NotInTrace")


@pytest.mark.parametrize("cell", WITHOUT, ids=str)
def test_with_the_texts_in_a_corpus_it_is_what_a_recording_of_the_run_captures(cell: Cell) -> None:
    incident = Incident.from_trace(cell.file, corpus=corpus_of(cell))
    assert read(incident) == captured(cell)
    assert any("corpus" in note for note in incident.notes)


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.holds == "no question"], ids=str)
def test_where_the_question_is_missing_it_is_said_where_it_was_looked_for(cell: Cell) -> None:
    for corpus in (None, corpus_of(cell)):
        with pytest.raises(NotInTrace, match=r"no question .* looked at the input of"):
            Incident.from_trace(cell.file, corpus=corpus)


def documents(incident: Incident) -> list[Source]:
    return list(incident.documents or ())


def test_metadata_scores_model_and_conversation_are_read() -> None:
    by_shape = {cell.shape: cell.file for cell in CELLS if cell.tracer == "phoenix"}
    index = {cell.shape: cell.file for cell in CELLS if str(cell).startswith("phoenix-llama")}
    chain = {cell.shape: cell.file for cell in CELLS if str(cell).startswith("phoenix-langchain")}
    assert set(by_shape) == set(index) == set(chain)
    found = Incident.from_trace(index["retriever"])
    amber, basalt, _ = documents(found)
    assert amber.metadata == {"file_name": "stones.txt", "page": 3, "score": 1.0}
    assert basalt.metadata == {"score": 0.5}
    assert found.model == "telling"
    assert Incident.from_trace(chain["chat"]).history == (
        ("user", "Do you know stones?"),
        ("assistant", "I know a few."),
    )
    amber, *_ = documents(Incident.from_trace(chain["retriever"]))
    assert amber.metadata == {"source": "stones.txt", "page": 3}


def said_of(explanation: Any) -> dict[str, Any]:
    return {
        "retention": sorted(sorted(rule.sources) for rule in explanation.retention_rules),
        "omission": sorted(sorted(rule.sources) for rule in explanation.omission_rules),
    }


def rules(cell: Cell) -> dict[str, Any]:
    """Those of the live run, with ids in order: found in the same search, they come in any order."""
    return {key: cell.truth[key] for key in ("retention", "omission")}


# LlamaIndex looks through the fields of its agents, of which Pydantic warns.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.spread(fast=12, slow=3)
@pytest.mark.parametrize("cell", READ, ids=str)
def test_an_incident_has_the_rules_of_the_live_run(cell: Cell) -> None:
    integration = import_module(f"{cell.framework}_rag_rule_explainer")
    asked = import_module(f"tests.traces.making.of_{cell.framework}").SHAPES[cell.shape]()
    corpus = None if cell.holds == "texts" else corpus_of(cell)
    incident = Incident.from_trace(cell.file, corpus=corpus)
    explanation = integration.RuleExplainer(asked.application, predicate=BAD).explain(
        asked.given, documents=list(incident.documents or ()), baseline=incident.answer
    )
    assert said_of(explanation) == rules(cell)
    assert explanation.warnings == ()
    for tool in TOOLS_OF.get(cell.tracer, ()):
        # What the application was served are the documents of the trace, so that they can be annotated.
        assert Annotations(explanation, incident, tool).count >= 2


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("cell", READ, ids=str)
def test_the_recorded_request_has_the_rules_of_the_live_run(cell: Cell) -> None:
    from langchain_rag_rule_explainer import chat_replay

    from rag_rule_explainer import Explainer
    from tests.integrations.langchain.models import Telling

    corpus = None if cell.holds == "texts" else corpus_of(cell)
    incident = Incident.from_trace(cell.file, corpus=corpus)
    request, documents = incident.request, incident.documents or ()
    assert request is not None
    if not cell.asks_once:
        with pytest.raises(NotInTrace, match=r"2 requests to models|results of tools"):
            request.shown(documents)
        return
    model = Telling()
    replay = chat_replay(model, messages=request.written)
    explainer = Explainer(replay, predicate=BAD, miner="exhaustive")
    explanation = explainer.explain(incident.question or "", request.shown(documents), incident.answer)
    assert said_of(explanation) == rules(cell)
    assert explanation.warnings == ()
    assert all(probe.answers[0].text in {"bad news", "good news"} for probe in explanation.probes)


def test_the_versions_that_made_the_traces_are_named() -> None:
    versions = json.loads((FIXTURES / "versions.json").read_text())
    assert {"mlflow", "langfuse", "langsmith", "arize-phoenix"} <= set(versions)
