"""Files and folders with several questions, conversations, and questions that share a trace."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.errors import InvalidInput, NotInTrace
from rag_rule_explainer.traces import Incident, conversations
from rag_rule_explainer.traces.asked import TracedQuestion, questions_in
from rag_rule_explainer.traces.finding import documents_of
from rag_rule_explainer.traces.reading import SpansOfTrace, traces_in
from rag_rule_explainer.traces.spans import TracedDocument, TracedKind, TracedSpan
from rag_rule_explainer.traces.times import sortable_time
from tests.traces.cells import CELLS
from tests.traces.test_hostile import FOUND, RUN, otlp, renamed, runs


def asked(number: int, session: str | None = None, **fields: Any) -> list[dict[str, Any]]:
    """The runs of one question."""
    extra = {"metadata": {"session_id": session}} if session else {}
    own = {"trace_id": f"t{number}", "start_time": f"2026-01-01T00:00:{number:02}"}
    run = renamed(
        RUN,
        id=f"r{number}",
        inputs={"input": f"question {number}"},
        outputs={"output": f"answer {number}"},
        extra=extra,
        **own,
        **fields,
    )
    return [renamed(FOUND, id=f"f{number}", parent_run_id=f"r{number}", **own), run]


def test_of_several_questions_one_has_to_be_named(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(runs(*asked(1), *asked(2), *asked(3)))
    with pytest.raises(InvalidInput) as refused:
        Incident.from_trace(file)
    assert str(refused.value) == (
        f"{file} holds 3 questions; name one with --trace-id: t1 ('question 1'), t2 ('question 2'), "
        "t3 ('question 3')"
    )
    assert Incident.from_trace(file, trace_id="t2").answer == "answer 2"
    # The id of its step is as good.
    assert Incident.from_trace(file, trace_id="r3").answer == "answer 3"
    with pytest.raises(InvalidInput, match=r"holds no trace 't9'; its 3 questions are t1 "):
        Incident.from_trace(file, trace_id="t9")


def test_the_list_of_questions_ends_and_shows_no_control_characters(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    several = [each for n in range(30) for each in asked(n)]
    several[1]["inputs"] = {"input": "\x1b[31mred" + "x" * 500}
    file.write_bytes(runs(*several))
    with pytest.raises(InvalidInput) as refused:
        Incident.from_trace(file)
    said = str(refused.value)
    assert "holds 30 questions" in said
    assert said.endswith(", …")
    assert "\x1b" not in said
    assert len(said) < 800


def test_each_question_of_a_file_or_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(runs(*asked(1), *asked(2)))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.jsonl").write_bytes(b"\n".join(json.dumps(each).encode() for each in asked(3)))
    (tmp_path / "notes.txt").write_text("nothing")
    answers = [each.answer for each in Incident.each_in_trace(tmp_path)]
    assert answers == ["answer 1", "answer 2", "answer 3"]
    assert Incident.from_trace(tmp_path, trace_id="t3").question == "question 3"


def test_the_spans_of_one_trace_may_be_in_several_files(tmp_path: Path) -> None:
    found, run = asked(1)
    (tmp_path / "a.json").write_bytes(runs(found))
    (tmp_path / "b.json").write_bytes(runs(run))
    incident = Incident.from_trace(tmp_path)
    assert [each.id for each in incident.documents or ()] == ["a"]


def test_a_question_that_cannot_be_read_is_told_of_or_raised(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(runs(*asked(1), *asked(2)[1:], *asked(3)))
    told: list[NotInTrace] = []
    answers = [each.answer for each in Incident.each_in_trace(file, on_unread=told.append)]
    assert answers == ["answer 1", "answer 3"]
    (error,) = told
    assert "the trace t2 holds no documents" in str(error)
    with pytest.raises(NotInTrace, match="t2"):
        list(Incident.each_in_trace(file))


def test_earlier_questions_of_the_conversation_are_its_history(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    # The file is not in the order of the conversation, and has other conversations.
    mixed = [*asked(3, "mine"), *asked(1, "mine"), *asked(2, "another"), *asked(4, "mine"), *asked(5)]
    file.write_bytes(runs(*mixed))
    incident = Incident.from_trace(file, trace_id="t3")
    assert incident.session == "mine"
    assert incident.history == (("user", "question 1"), ("assistant", "answer 1"))
    last = Incident.from_trace(file, trace_id="t4")
    assert [text for _, text in last.history] == ["question 1", "answer 1", "question 3", "answer 3"]
    assert Incident.from_trace(file, trace_id="t5").history == ()
    with pytest.raises(InvalidInput, match=r"t1 \('question 1', of the conversation mine\)"):
        Incident.from_trace(file)


def test_conversations_are_read_once_for_all_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, read = tmp_path / "trace.json", list[Path]()

    def counted(path: Path) -> Iterator[SpansOfTrace]:
        read.append(path)
        return traces_in(path)

    monkeypatch.setattr(conversations, "traces_in", counted)
    file.write_bytes(runs(*(run for number in range(1, 5) for run in asked(number, "s"))))
    found = list(Incident.each_in_trace(file))
    assert [len(each.history) for each in found] == [0, 2, 4, 6]
    assert read == [file]


def test_questions_that_share_a_trace_are_named_by_their_steps(tmp_path: Path) -> None:
    """A server or a notebook may put a span of its own around several questions."""
    file = tmp_path / "trace.json"
    around = renamed(RUN, id="server", trace_id="t", inputs=None, outputs=None)
    several = [
        renamed(each, trace_id="t", **({} if "parent_run_id" in each else {"parent_run_id": "server"}))
        for n in (1, 2)
        for each in asked(n)
    ]
    file.write_bytes(runs(around, *several))
    with pytest.raises(
        InvalidInput, match=r"holds 2 questions.* r1 \('question 1'\), r2 \('question 2'\)"
    ):
        Incident.from_trace(file)
    assert Incident.from_trace(file, trace_id="r2").answer == "answer 2"
    with pytest.raises(InvalidInput, match="holds 2 questions"):
        Incident.from_trace(file, trace_id="t")
    file.write_bytes(runs(around, *several[:2]))
    assert Incident.from_trace(file).answer == "answer 1"


def test_a_parent_that_was_not_exported_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    found, run = asked(1)
    file.write_bytes(runs(found, renamed(run, parent_run_id="a web server's")))
    assert Incident.from_trace(file).answer == "answer 1"


def test_steps_that_were_not_exported_inside_of_a_trace_are_told_of(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    found, run = asked(1)
    other = renamed(found, id="other", parent_run_id="lost")
    for several in ((run, renamed(found, parent_run_id="lost")), (run, found, other)):
        file.write_bytes(runs(*several))
        assert Incident.from_trace(file).notes[-1].startswith("steps are missing in the trace")
    file.write_bytes(runs(run, found))
    assert Incident.from_trace(file).notes == ()


def test_what_a_reranker_keeps_nothing_of_is_no_document() -> None:
    first, second = TracedDocument("one", "a"), TracedDocument("two", "b")

    def step(name: str, kind: TracedKind, **fields: Any) -> TracedSpan:
        return TracedSpan("t", name, None, kind, name, "here", "test", start=name, **fields)

    spans = (
        step("1", "retrieval", documents=(first,)),
        step("2", "retrieval", documents=(second,)),
        step("3", "rerank", documents=(first,), given=(first, second)),
    )
    found = documents_of(TracedQuestion("t", "t", None, spans, None), None)
    assert [each.id for each in found.sources] == ["a"]


TEXTS_OF_ANSWERS = (
    '{"answer": "calcium", "sources": ["guide"]}',
    '["yes", "no"]',
    '"yes"',
    "Calcium(Ca) is what they take",
)


@pytest.mark.parametrize("text", TEXTS_OF_ANSWERS)
def test_an_answer_is_its_whole_text_whatever_it_looks_like(tmp_path: Path, text: str) -> None:
    file = tmp_path / "trace.json"
    found, run = asked(1)
    model = renamed(
        found,
        id="m",
        run_type="llm",
        inputs={
            "messages": [[{"role": "user", "content": found["outputs"]["documents"][0]["page_content"]}]]
        },
        outputs={"generations": [[{"text": text}]]},
    )
    file.write_bytes(runs(renamed(run, outputs={"output": text}), found, model))
    incident = Incident.from_trace(file)
    assert incident.answer == text
    assert incident.request is not None
    # It is also the model's reply.
    assert "not the reply of the model" not in incident.request.refusal
    file.write_bytes(otlp(input__value={"stringValue": "why?"}, output__value={"stringValue": text}))
    (trace,) = traces_in(file)
    (question,) = questions_in(trace)
    assert question.answer()[0] == text


TIMES = ["09:00:01+00:00", "10:30:02+01:30", "09:00:03Z", "09:00:03.5Z", "09:00:03.500001Z"]


def test_documents_stand_in_the_order_of_the_times_whatever_their_form(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    several = [
        renamed(
            FOUND,
            id=f"f{n}",
            start_time=f"2026-01-01T{time}",
            outputs={"documents": [{"page_content": f"text {n}", "id": f"d{n}"}]},
        )
        for n, time in enumerate(TIMES)
    ]
    file.write_bytes(runs(RUN, *reversed(several)))
    found = Incident.from_trace(file).documents or ()
    assert [each.id for each in found] == [f"d{n}" for n in range(len(TIMES))]
    # What is no time stays as it is.
    for written in ("", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "20260101T000000Zabc"):
        assert sortable_time(written) == written


def test_the_traces_of_every_cell_can_be_read_from_one_folder() -> None:
    cells = [cell for cell in CELLS if cell.tracer == "mlflow"]
    left: list[NotInTrace] = []
    read = list(Incident.each_in_trace(cells[0].file.parent, on_unread=left.append))
    assert len(read) == sum(cell.holds == "texts" for cell in cells)
    assert len(left) == sum(cell.holds != "texts" for cell in cells)
    assert {each.answer for each in read} == {"bad news"}


def test_events_of_several_questions_in_one_file_are_told_apart(tmp_path: Path) -> None:
    (events,) = [cell.file for cell in CELLS if str(cell) == "events-llama_index-retriever"]
    (chat,) = [cell.file for cell in CELLS if str(cell) == "events-llama_index-chat"]
    file = tmp_path / "events.jsonl"
    file.write_text(events.read_text() + chat.read_text() + events.read_text())
    with pytest.raises(InvalidInput, match=r"holds 3 questions.* question 1 \("):
        Incident.from_trace(file)
    assert Incident.from_trace(file, trace_id="question 2").answer == "bad news"


def test_events_of_questions_at_the_same_time_are_refused(tmp_path: Path) -> None:
    (cell,) = [cell.file for cell in CELLS if str(cell) == "events-llama_index-retriever"]
    lines = cell.read_text().splitlines()
    other = [
        line.replace("Why do dunes", "Where do dunes").replace("query-", "query-other-") for line in lines
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("\n".join([lines[0], other[0], *lines[1:], *other[1:]]))
    with pytest.raises(InvalidInput, match="a query begins inside of another one"):
        Incident.from_trace(file)


def chat(name: str, question: str, other: str) -> list[dict[str, Any]]:
    """The events of a question to a chat engine, of which the first document is another one."""
    (cell,) = [cell.file for cell in CELLS if str(cell) == "events-llama_index-chat"]
    written = cell.read_text().replace("Why do dunes and basalt look as they do?", question)
    written = written.replace('"amber"', json.dumps(other)).replace("Amber is", f"{other.title()} is")
    records = [json.loads(line) for line in written.splitlines()]
    return [
        {**each, "id_": f"{name} {each['id_']}", "span_id": f"{name} {each['span_id']}"}
        for each in records
    ]


ONE, TWO = chat("one", "What is amber?", "amber"), chat("two", "What is jade?", "jade")
MIXED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "both have searched before one is answered": (
        [*ONE[:2], *TWO[:2], *ONE[2:], *TWO[2:]],
        "found for 'What is jade\\?', so they may be those of another question",
    ),
    "both search at the same time": (
        [ONE[0], TWO[0], ONE[1], TWO[1], *ONE[2:], *TWO[2:]],
        "begins inside",
    ),
    "both are answered at the same time": ([*ONE[:3], *TWO[:3], *ONE[3:], *TWO[3:]], "begins inside"),
    "one fails after its search": ([*ONE[:2], *TWO], "found for 'What is amber\\?'"),
    "one fails in its search": ([*ONE[:1], *TWO], "begins inside"),
    "one fails when it is answered": ([*ONE[:4], *TWO], "begins inside"),
}


@pytest.mark.parametrize("name", MIXED)
def test_events_that_may_be_of_several_questions_are_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    events, said = MIXED[name]
    file.write_text("\n".join(map(json.dumps, events)))
    for wanted in ("question 1", "question 2"):
        with pytest.raises(InvalidInput, match=f"{said}.* write the events of each question"):
            Incident.from_trace(file, trace_id=wanted)


def test_questions_to_a_chat_engine_one_after_the_other_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text("\n".join(map(json.dumps, [*ONE, *TWO])))
    second = Incident.from_trace(file, trace_id="question 2")
    assert second.question == "What is jade?"
    assert [each.id for each in second.documents or ()] == ["jade", "basalt", "dunes"]


def test_searches_of_langsmith_stand_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    """LangSmith orders runs by their branches of the tree."""
    times = {"f1": ("b1", "00:00:09"), "f2": ("b2", "00:00:02")}
    branches = [
        renamed(RUN, id=each, parent_run_id="r", inputs={"x": 1}, outputs={"y": 1})
        for each in ("b1", "b2")
    ]
    found = [
        renamed(
            FOUND,
            id=name,
            parent_run_id=branch,
            start_time=f"2026-01-01T{time}",
            dotted_order=f"20260101T000000000000Zr.20260101T00000{branch[1]}000000Z{branch}",
            outputs={"documents": [{"page_content": f"the text of {name}", "id": name}]},
        )
        for name, (branch, time) in times.items()
    ]
    file = tmp_path / "trace.json"
    file.write_bytes(runs(RUN, *branches, *found))
    assert [each.id for each in Incident.from_trace(file).documents or ()] == ["f2", "f1"]
