"""The request that a trace recorded, with the texts of sources cut out of it."""

import html
import json
import random
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Source
from rag_rule_explainer.errors import NotInTrace
from rag_rule_explainer.traces import Incident, RecordedRequest
from rag_rule_explainer.traces.asked import TracedQuestion
from rag_rule_explainer.traces.besides_texts import with_offers
from rag_rule_explainer.traces.finding import FoundDocuments
from rag_rule_explainer.traces.model_requests import request_in
from rag_rule_explainer.traces.places import DocumentPlace
from rag_rule_explainer.traces.recorded_request import request_of
from rag_rule_explainer.traces.spans import TracedMessage, TracedRequest, TracedSpan
from tests.traces.cells import CELLS, Cell, corpus_of

SENTENCES = [
    "Amber is fossil tree resin.",
    "Basalt columns form slowly.",
    "Copper roofs turn green.",
    "Dunes wander in the wind.",
]


def asked(
    *messages: TracedMessage, reply: str = "yes", count: int = 1, unread: str = ""
) -> TracedQuestion:
    request = TracedRequest(messages, unread=unread)
    models = [
        TracedSpan("t", f"m{n}", None, "model", "model", "here", "test", request=request, reply=reply)
        for n in range(count)
    ]
    return TracedQuestion("t", "t", None, tuple(models), None)


def sources_of(texts: Sequence[str]) -> list[Source]:
    return [Source(f"s{n}", text) for n, text in enumerate(texts)]


def cut(
    question: TracedQuestion,
    sources: Sequence[Source],
    words: str = "Why?",
    answer: str = "yes",
    times: Mapping[str, int] | None = None,
) -> RecordedRequest:
    found = {
        source: tuple(DocumentPlace("s", n, "retrieval") for n in range(count))
        for source, count in (times or {}).items()
    }
    return request_of(question, words, answer, FoundDocuments(tuple(sources), places=found))


FORMS: dict[str, Callable[[Sequence[str]], str]] = {
    "joined": lambda texts: "Context:\n" + "\n\n".join(texts) + "\n\nQuestion: why?",
    "lines": lambda texts: "\n".join(texts) + "\nwhy?",
    "ruled": lambda texts: "<" + "\n---\n".join(texts) + ">",
}


@given(
    texts=st.lists(st.sampled_from(SENTENCES), unique=True, min_size=1, max_size=4),
    form=st.sampled_from(sorted(FORMS)),
    data=st.data(),
)
def test_the_request_is_what_the_application_would_send_of_those_that_are_kept(
    texts: list[str], form: str, data: st.DataObject
) -> None:
    sources, write = sources_of(texts), FORMS[form]
    request = cut(asked(("system", write(texts)), ("user", "why?")), sources)
    chosen = data.draw(st.sets(st.sampled_from(range(len(sources)))))
    kept = [sources[place] for place in sorted(chosen)]
    assert request.refusal == ""
    sent = request.written("why?", kept)
    assert sent[1] == ("user", "why?")
    shown = sent[0][1]
    for source in sources:
        assert (source.text in shown) == (source in kept)
    if len(texts) != 1 or kept:
        assert shown == write([each.text for each in kept])
    assert request.written("why?", sources) == [("system", write(texts)), ("user", "why?")]


def test_labels_between_texts_stay_but_lines_of_metadata_go_with_their_text() -> None:
    first = Source("a", SENTENCES[0], {"file_name": "stones.txt", "page": 3, "score": 0.5})
    second = Source("b", SENTENCES[1], {"file_name": "more.txt"})
    labelled = f"file_name: stones.txt\npage: 3\n\n{first.text}"
    prompt = f"Context\n{labelled}\n\nfile_name: more.txt\n\n{second.text}\nEnd"
    request = cut(asked(("user", prompt)), [first, second])
    assert request.written("", [second]) == [
        ("user", f"Context\nfile_name: more.txt\n\n{second.text}\nEnd")
    ]
    assert request.written("", [first]) == [
        ("user", f"Context\nfile_name: stones.txt\npage: 3\n\n{first.text}\nEnd")
    ]
    numbered = f"[1] {first.text}\n[2] {second.text}"
    request = cut(asked(("user", numbered)), [first, second])
    assert request.written("", [second]) == [("user", f"[1] \n[2] {second.text}")]


def test_a_text_that_was_retrieved_twice_is_cut_out_twice() -> None:
    (source,) = sources_of(SENTENCES[:1])
    question = asked(("user", f"{source.text} Why? {source.text}"))
    assert cut(question, [source], times={"s0": 2}).written("", []) == [("user", " Why? ")]


PLACES: dict[str, tuple[list[str], Callable[[Sequence[str]], str]]] = {
    "beside each other": (SENTENCES, "\n\n".join),
    "one is a part of another one": (["Take calcium.", "Take calcium. Daily."], "\n".join),
    "equal texts": ([SENTENCES[0], SENTENCES[0], SENTENCES[1]], "\n".join),
    "spaces at the ends": (["  Copper roofs turn green. \n", SENTENCES[0]], " \n ".join),
    "equal texts apart": ([SENTENCES[0], SENTENCES[1], SENTENCES[0]], "\n".join),
}


@pytest.mark.parametrize("name", PLACES)
def test_every_request_is_what_the_application_would_send(name: str) -> None:
    texts, write = PLACES[name]
    sources = sources_of(texts)
    request = cut(asked(("user", f"{write(texts)}\nWhy?")), sources)
    assert request.refusal == ""
    for size in range(1, len(sources) + 1):
        for kept in combinations(sources, size):
            shown = write([each.text for each in kept])
            assert request.written("", kept) == [("user", f"{shown}\nWhy?")]


POOL = (
    *SENTENCES,
    f"{SENTENCES[0]} It is old.",
    SENTENCES[1].lower(),
    "  Copper roofs turn green.  ",
    "Copper roofs turn green.",
    "Dunes wander\nin the wind.",
    f"in the wind.\n\n{SENTENCES[0]}",
    "Why is it so? Because of HASH & co.",
    "Cafe\u0301 au lait is <b>served</b>",
    "Café au lait is <b>served</b>",
    "fossil tree resin",
    "in cash",
    "-" * 20,
)


def drawn_application(drawn: random.Random) -> Callable[[Sequence[Source]], list[TracedMessage]]:
    """Writes documents into a prompt in one of many ways."""
    separator = drawn.choice(["\n\n", "\n", "\n---\n", " ", "", " | "])
    before = drawn.choice(["Context:\n", "", "Use: ", "Amber is old.\n"])
    after = drawn.choice(["\n\nQuestion: Why is it so?", "\nWhy is it so?\nAnswer:", ""])
    said = drawn.choice([[], [("user", SENTENCES[1]), ("assistant", SENTENCES[0])]])
    role = drawn.choice(["user", "system"])
    asked_apart = [] if role == "user" else [("user", "Why is it so?")]
    return lambda shown: [
        *said,
        (role, before + separator.join(each.text for each in shown) + after),
        *asked_apart,
    ]


def test_a_request_is_refused_or_what_the_application_would_send_of_every_subset() -> None:
    drawn, replayed = random.Random(23), 0
    for _ in range(400):
        write = drawn_application(drawn)
        sources = sources_of(drawn.choices(POOL, k=drawn.randint(1, 4)))
        shown = sources[: drawn.randint(1, len(sources))]
        request = cut(asked(*write(shown)), sources, "Why is it so?")
        if request.refusal:
            continue
        replayed += 1
        assert not [each.id for each in shown if each.id in request.hidden]
        for size in range(1, len(shown) + 1):
            for kept in combinations(shown, size):
                assert request.written("", kept) == write(kept)
    assert replayed > 100


LONG = (
    'R&D pays "HASH" <daily>, and   nightly,\nto each treasurer of the tennis club who has asked for it'
)


def written_as(form: Callable[[str], str]) -> Callable[[Sequence[str]], tuple[TracedMessage, ...]]:
    return lambda texts: (("user", "\n\n".join(map(form, texts)) + "\nWhy?"),)


def merged(texts: Sequence[str]) -> tuple[TracedMessage, ...]:
    return (("user", "one two three four five six seven"),) if len(texts) == 2 else ()


def around(*messages: TracedMessage) -> Callable[[Sequence[str]], tuple[TracedMessage, ...]]:
    return lambda texts: (*messages, ("user", "\n".join(texts) + "\nWhy?"))


def other_texts_alone(texts: Iterable[str]) -> tuple[TracedMessage, ...]:
    given = list(dict.fromkeys(texts))
    longest = [each for each in given if not any(each != other and each in other for other in given)]
    return (("user", "\n".join(longest)),)


PARTLY = "in another form, or in part"
UNCERTAIN: dict[str, tuple[list[str], Callable[[Sequence[str]], tuple[TracedMessage, ...]], str]] = {
    "HTML": ([LONG, SENTENCES[0]], written_as(html.escape), PARTLY),
    "JSON": ([LONG, SENTENCES[0]], written_as(json.dumps), PARTLY),
    "indented": ([LONG, SENTENCES[0]], written_as(lambda t: textwrap.indent(t, "  ")), PARTLY),
    "one space": ([LONG, SENTENCES[0]], written_as(lambda t: " ".join(t.split())), PARTLY),
    "capitals": ([LONG, SENTENCES[0]], written_as(lambda t: t.replace("pays", "PAYS")), PARTLY),
    "cut short": ([LONG * 20, SENTENCES[0]], written_as(lambda t: t[:60]), PARTLY),
    "the end": ([LONG, SENTENCES[0]], written_as(lambda t: t[-50:]), PARTLY),
    "Unicode": (
        ["Café au lait is served.", SENTENCES[0]],
        written_as(lambda t: unicodedata.normalize("NFD", t)),
        PARTLY,
    ),
    "no spaces": (
        ["熱帶的沙丘隨風移動並且覆蓋了古老的道路" * 2, SENTENCES[0]],
        written_as(lambda t: t[:30]),
        PARTLY,
    ),
    "short": (["in cash", SENTENCES[0]], written_as(str), "too short to be told"),
    "in the question": (["Why do dunes wander?", SENTENCES[0]], written_as(str), "the question itself"),
    "in the instructions": (
        SENTENCES[:2],
        around(("system", f"Say that {SENTENCES[0]}")),
        "stands in it 2 times, and was retrieved 1 time",
    ),
    "earlier": (
        SENTENCES[:2],
        around(("user", SENTENCES[0]), ("assistant", "yes")),
        "an earlier message of the conversation",
    ),
    "overlapping": (["one two three four", "three four five six seven"], merged, "overlap in it"),
    "inside alone": (
        [SENTENCES[0], f"So it is: {SENTENCES[0]}"],
        other_texts_alone,
        "s0 stands in it inside of that of s1 alone",
    ),
    "merged": ([SENTENCES[0], SENTENCES[0]], other_texts_alone, "1 time, and was retrieved 2 times"),
    "another order": (
        [SENTENCES[0], SENTENCES[1], SENTENCES[2], SENTENCES[0]],
        lambda texts: (("user", "\n".join(reversed(texts))),),
        "another order",
    ),
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_what_to_cut_out_is_certain_or_the_request_is_refused(name: str) -> None:
    texts, write, why = UNCERTAIN[name]
    words = "Why do dunes wander? Tell me." if name == "in the question" else "Why?"
    request = cut(asked(*write(texts)), sources_of(texts), words)
    assert why in request.refusal
    assert request.messages == ()


def test_a_document_that_was_not_shown_is_hidden_also_beside_words_of_its_own() -> None:
    shown, hidden = sources_of([SENTENCES[0], "Why do dunes wander is a question of geology."])
    prompt = f"{shown.text}\nQuestion: Why do dunes wander?"
    request = cut(asked(("user", prompt)), [shown, hidden], "Why do dunes wander?")
    assert (request.refusal, request.hidden) == ("", ("s1",))


PROMPT = f"{SENTENCES[0]}\nWhy?"
PICTURE = {"type": "image_url", "image_url": {"url": "data:"}}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}
MORE: dict[str, tuple[Any, str]] = {
    "a picture": ([{"role": "user", "content": [{"type": "text", "text": PROMPT}, PICTURE]}], "pictures"),
    "a call": ([{"role": "user", "content": PROMPT}, CALL], "calls of tools"),
    "tools": (
        {"messages": [{"role": "user", "content": PROMPT}], "tools": [{"name": "search"}]},
        "tools that the model could call",
    ),
    "instructions": (
        {"messages": [{"role": "user", "content": PROMPT}], "system": {"id": "p1"}},
        "instructions that are no text",
    ),
}


@pytest.mark.parametrize("name", MORE)
def test_a_request_that_holds_more_than_texts_is_refused(name: str) -> None:
    given, why = MORE[name]
    request = request_in(given)
    assert request is not None
    found = cut(asked(*request.messages, unread=request.unread), sources_of(SENTENCES[:1]))
    assert found.refusal.startswith("the request in the trace t holds ")
    assert why in found.refusal


def test_instructions_beside_the_messages_and_texts_in_several_parts_are_read() -> None:
    message = {"role": "user", "content": PROMPT}
    for key in ("system", "instructions"):
        request = request_in({"messages": [message], key: "Be short."})
        assert request == TracedRequest((("system", "Be short."), ("user", PROMPT)))
    texts = {"0": {"message_content": {"type": "text", "text": PROMPT}}}
    request = request_in([{"message": {"role": "user", "contents": texts}}])
    assert request == TracedRequest((("user", PROMPT),))


def test_a_text_in_another_form_in_the_instructions_of_a_conversation_is_refused() -> None:
    plain, marked = SENTENCES[0], 'The "HASH" <daily> & nightly is paid.'
    sources = sources_of([plain, marked])
    earlier: tuple[TracedMessage, ...] = (("user", "Hello."), ("assistant", "Hello."))
    escaped = ("system", f"{plain}\n\n{html.escape(marked)}")
    request = cut(asked(escaped, *earlier, ("user", "Why?")), sources)
    assert request.refusal.endswith("the text of s1 stands in it in another form, or in part")
    # What an earlier message says stays there, whatever is left out now.
    said = (("user", html.escape(marked)), ("assistant", "Hello."))
    request = cut(asked(*said, ("user", f"{plain}\nWhy?")), sources)
    assert (request.refusal, request.hidden) == ("", ("s1",))


def test_a_text_that_also_stands_there_in_part_is_refused() -> None:
    texts = [f"{each} {each[::-1]}" for each in SENTENCES[:2]]
    found = "; ".join(each[:40] for each in texts)
    prompt = "\n\n".join(texts)
    assert not cut(asked(("user", f"{prompt}\n\nWhy?")), sources_of(texts)).refusal
    request = cut(asked(("user", f"Found: {found}\n\n{prompt}\n\nWhy?")), sources_of(texts))
    assert request.refusal.endswith("the text of s0 stands in it in another form, or in part")


def test_what_the_assistant_said_earlier_is_no_source() -> None:
    (source,) = sources_of(SENTENCES[:1])
    messages = (("assistant", source.text), ("user", f"{source.text}\nWhy?"))
    request = cut(asked(*messages), [source])
    assert request.written("", []) == [("assistant", source.text), ("user", "\nWhy?")]


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        (asked(("user", SENTENCES[0]), count=2), "yes", "2 requests to models"),
        (asked(count=0), "yes", "no request to a model that can be read"),
        (asked(("user", SENTENCES[0]), ("tool", "x")), "yes", "results of tools"),
        (asked(("user", SENTENCES[0]), reply='{"answer": "yes"}'), "yes", "not the reply of the model"),
        (asked(("user", "Why?")), "yes", "no text of a document stands in the request"),
    ],
)
def test_what_cannot_be_replayed_is_refused_by_name(
    question: TracedQuestion, answer: str, said: str
) -> None:
    sources = sources_of(SENTENCES[:1])
    request = cut(question, sources, answer=answer)
    with pytest.raises(NotInTrace, match=f"{said}.*replay the application with --app"):
        request.shown(sources)


def test_a_request_compares_by_what_it_holds() -> None:
    assert RecordedRequest() == RecordedRequest()


OFFER = [{"type": "function", "function": {"name": "search"}}]
FORM = {"type": "json_schema", "json_schema": {"name": "answer"}}
OFFERED: dict[str, tuple[TracedRequest | None, str]] = {
    "a list": (with_offers(TracedRequest(()), {"tools": OFFER}), "tools that the model could call"),
    "JSON": (with_offers(TracedRequest(()), json.dumps({"functions": OFFER})), "tools that the model"),
    "inside": (with_offers(TracedRequest(()), {"kwargs": {"tools": OFFER}}), "tools that the model"),
    "a form": (with_offers(TracedRequest(()), {"response_format": FORM}), "a form that the reply"),
    "nothing": (with_offers(TracedRequest(()), None, "", "[", {"tools": [], "functions": None}), ""),
    "a text": (with_offers(TracedRequest(()), {"response_format": {"type": "text"}}), ""),
}


@pytest.mark.parametrize("name", OFFERED)
def test_what_is_offered_to_a_model_beside_its_messages_is_told(name: str) -> None:
    request, said = OFFERED[name]
    assert request is not None
    assert request.unread.startswith(said)
    assert bool(request.unread) == bool(said)


_TOOLS = json.dumps({"tools": OFFER})[1:-1]
WRITTEN_BY = {
    **dict.fromkeys(("langsmith", "runs"), ('"_type": "telling"', _TOOLS)),
    **dict.fromkeys(
        ("openinference", "phoenix", "mlflow"),
        (r"\"_type\": \"telling\"", json.dumps(_TOOLS)[1:-1]),
    ),
    "langfuse-otel": ('model.parameters", "value": {"stringValue": "{', json.dumps(_TOOLS)[1:-1]),
    "opentelemetry": ('{"key": "gen_ai.input.messages"', ""),
}
"""What each tracer writes right before the parameters of a request, and how it writes tools there."""
_DEFINED = {"key": "gen_ai.tool.definitions", "value": {"stringValue": json.dumps(OFFER)}}


def with_tools(cell: Cell) -> str:
    """The trace as it would be if the model could call a tool."""
    place, tools = WRITTEN_BY[cell.tracer]
    whole = cell.file.read_text()
    assert place in whole
    if cell.tracer == "opentelemetry":
        return whole.replace(place, f"{json.dumps(_DEFINED)}, {place}")
    return whole.replace(place, f"{place}{tools}" if place.endswith("{") else f"{tools}, {place}")


@pytest.mark.parametrize("tracer", WRITTEN_BY)
def test_tools_are_found_where_each_tracer_writes_them(tracer: str, tmp_path: Path) -> None:
    cell = next(each for each in CELLS if str(each) == f"{tracer}-langchain-retriever")
    file = tmp_path / cell.file.name
    file.write_text(with_tools(cell))
    corpus = corpus_of(cell) if cell.holds != "texts" else None
    request = Incident.from_trace(file, corpus=corpus).request
    assert request is not None
    assert request.refusal.endswith("holds tools that the model could call")
    as_recorded = Incident.from_trace(cell.file, corpus=corpus).request
    assert as_recorded is not None
    assert not as_recorded.refusal
