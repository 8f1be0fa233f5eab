"""Texts of documents that a trace only names, from a corpus in any form."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Source
from rag_rule_explainer.errors import InvalidInput, NotInTrace
from rag_rule_explainer.traces import CorpusLike, Incident
from tests.traces.test_hostile import FOUND, RUN, renamed, runs

TEXTS = {"a": "the text of the first", "b": "the text of the second"}
NAMED = [{"id": "b", "score": 0.5}, {"id": "a", "score": 0.25}]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """It names its documents, and nothing more."""
    file = tmp_path / "trace.json"
    file.write_bytes(runs(RUN, renamed(FOUND, outputs={"documents": NAMED})))
    return file


def in_folder(folder: Path) -> Path:
    corpus = folder / "corpus"
    corpus.mkdir()
    for name, text in TEXTS.items():
        (corpus / f"{name}.txt").write_text(text)
    return corpus


def in_lines(folder: Path) -> Path:
    file = folder / "corpus.jsonl"
    file.write_text(
        "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in TEXTS.items())
    )
    return file


def in_list(folder: Path) -> str:
    file = folder / "corpus.json"
    file.write_text(json.dumps([{"id": name, "page_content": text} for name, text in TEXTS.items()]))
    return str(file)


FORMS: dict[str, Callable[[Path], CorpusLike]] = {
    "folder": in_folder,
    "lines": in_lines,
    "list": in_list,
    "dict": lambda _: TEXTS,
    "sources": lambda _: [Source(name, text) for name, text in TEXTS.items()],
    "dicts": lambda _: [{"id": name, "text": text} for name, text in TEXTS.items()],
    "function": lambda _: TEXTS.get,
}


@pytest.mark.parametrize("form", FORMS)
def test_texts_are_found_by_id_in_any_form(form: str, trace: Path, tmp_path: Path) -> None:
    incident = Incident.from_trace(trace, corpus=FORMS[form](tmp_path))
    found = incident.documents or ()
    assert [(each.id, each.text) for each in found] == [("b", TEXTS["b"]), ("a", TEXTS["a"])]
    assert [each.metadata["score"] for each in found] == [0.5, 0.25]


def failing(_: str) -> str:
    raise KeyError("gone")


REFUSED: dict[str, tuple[Any, str]] = {
    "none": (None, r"names documents without their texts: b, a; give them with --corpus"),
    "one missing": ({"a": "x"}, "has no text for b"),
    "function that knows none": (lambda _: None, "has no text for b, a"),
    "function that fails": (failing, "failed failed for the id 'b'|failing failed for the id 'b'"),
    "function of numbers": (lambda _: 7, "has an int for a document"),
    "number": (7, "corpus is an int"),
    "two texts": ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "stands for two different texts"),
    "no such file": ("nowhere.jsonl", "there is no corpus"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_corpus_that_does_not_do_is_refused_by_name(name: str, trace: Path) -> None:
    corpus, said = REFUSED[name]
    with pytest.raises(InvalidInput, match=said):
        Incident.from_trace(trace, corpus=corpus)


def test_a_corpus_that_is_a_stream_is_refused_before_it_is_waited_for(
    trace: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(InvalidInput, match=r"pipe\.jsonl is a stream, and may be read twice"):
        Incident.from_trace(trace, corpus=tmp_path / "pipe.jsonl")


def test_lines_that_are_no_documents_are_named(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text('{"id": "a", "text": "x"}\n{"id": "b"}\n')
    with pytest.raises(InvalidInput, match="record 2 is no document"):
        Incident.from_trace(trace, corpus=file)


def asked(prompt: str, *earlier: tuple[str, str]) -> bytes:
    """A trace of a search that no tracer knows: its texts are in the prompt alone."""
    messages = [{"role": role, "content": text} for role, text in (*earlier, ("user", prompt))]
    model = {
        **renamed(FOUND, id="m", run_type="llm"),
        "inputs": {"messages": [messages]},
        "outputs": {"generations": [[{"text": "because"}]]},
    }
    return runs(RUN, model)


def test_texts_that_stand_in_the_request_are_found_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(asked(f"{TEXTS['b']}, which is long\n\n{TEXTS['a']}\n\nwhy?"))
    corpus = {**TEXTS, "longer": f"{TEXTS['b']}, which is long", "other": "a text that is not there"}
    incident = Incident.from_trace(file, corpus=corpus)
    # The second text stands there only as a part of a longer one.
    assert [each.id for each in incident.documents or ()] == ["longer", "a"]
    assert "stand in the request to the model" in incident.notes[0]
    with pytest.raises(NotInTrace, match="no text of corpus stands in a request"):
        Incident.from_trace(file, corpus={"x": "a text that is not there"})
    with pytest.raises(InvalidInput, match="function from ids to texts"):
        Incident.from_trace(file, corpus=TEXTS.get)


def test_a_text_that_stands_in_the_question_was_not_retrieved(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    words = "Is it true that dunes wander in the wind?"
    prompt = f"{TEXTS['a']}\n\n{words}"
    file.write_bytes(
        asked(prompt).replace(b'"input": "why?"', json.dumps({"input": words})[1:-1].encode())
    )
    incident = Incident.from_trace(file, corpus={**TEXTS, "d": "dunes wander in the wind"})
    assert incident.question == words
    assert [each.id for each in incident.documents or ()] == ["a"]


def test_a_text_that_stands_in_an_earlier_message_was_not_retrieved(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(asked(f"{TEXTS['a']}\n\nwhy?", ("user", TEXTS["b"]), ("assistant", "yes")))
    incident = Incident.from_trace(file, corpus=TEXTS)
    assert [each.id for each in incident.documents or ()] == ["a"]


def test_a_file_that_is_no_corpus_is_told_what_one_is(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "corpus.csv"
    file.write_text("id,text\na,A text")
    with pytest.raises(InvalidInput, match=r"the corpus .* is not valid JSON.*; give lines like"):
        Incident.from_trace(trace, corpus=file)


def test_a_text_inside_of_another_one_is_found_where_it_stands_alone(tmp_path: Path) -> None:
    texts = {"long": "Amber is fossil tree resin.", "short": "fossil tree resin."}
    for sent, ids in {
        "\n".join(texts.values()): ["long", "short"],
        texts["long"]: ["long"],
        "\n".join([texts["short"], texts["long"]]): ["short", "long"],
    }.items():
        request = renamed(FOUND, run_type="llm", inputs={"messages": [{"role": "user", "content": sent}]})
        (tmp_path / "trace.json").write_bytes(runs(RUN, request))
        incident = Incident.from_trace(tmp_path / "trace.json", corpus=texts)
        assert [each.id for each in incident.documents or ()] == ids


def test_short_texts_are_not_looked_for(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(asked("why?"))
    with pytest.raises(NotInTrace):
        Incident.from_trace(file, corpus={"x": "why?"})
