"""The request that a trace recorded, with the texts of sources cut out of it."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Source
from rag_rule_explainer.errors import NotInTrace
from rag_rule_explainer.traces import RecordedRequest
from rag_rule_explainer.traces.asked import TracedQuestion
from rag_rule_explainer.traces.recorded_request import request_of
from rag_rule_explainer.traces.spans import TracedMessage, TracedRequest, TracedSpan

SENTENCES = [
    "Amber is fossil tree resin.",
    "Basalt columns form slowly.",
    "Copper roofs turn green.",
    "Dunes wander in the wind.",
]


def asked(*messages: TracedMessage, reply: str = "yes", count: int = 1) -> TracedQuestion:
    request = TracedRequest(messages)
    models = [
        TracedSpan("t", f"m{n}", None, "model", "model", "here", "test", request=request, reply=reply)
        for n in range(count)
    ]
    return TracedQuestion("t", "t", None, tuple(models), None)


def sources_of(texts: Sequence[str]) -> list[Source]:
    return [Source(f"s{n}", text) for n, text in enumerate(texts)]


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
    request = request_of(asked(("system", write(texts)), ("user", "why?")), "yes", sources)
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
    request = request_of(asked(("user", prompt)), "yes", [first, second])
    assert request.written("", [second]) == [
        ("user", f"Context\nfile_name: more.txt\n\n{second.text}\nEnd")
    ]
    assert request.written("", [first]) == [
        ("user", f"Context\nfile_name: stones.txt\npage: 3\n\n{first.text}\nEnd")
    ]
    numbered = f"[1] {first.text}\n[2] {second.text}"
    request = request_of(asked(("user", numbered)), "yes", [first, second])
    assert request.written("", [second]) == [("user", f"[1] \n[2] {second.text}")]


def test_a_text_that_stands_there_twice_is_cut_out_twice() -> None:
    (source,) = sources_of(SENTENCES[:1])
    request = request_of(asked(("user", f"{source.text} Why? {source.text}")), "yes", [source])
    assert source.text not in request.written("", [])[0][1]


def test_a_text_inside_of_another_one_belongs_to_the_longer_one() -> None:
    longer, inside = sources_of([f"It is said: {SENTENCES[0]} So it is.", SENTENCES[0]])
    request = request_of(asked(("user", f"{longer.text}\n\nWhy?")), "yes", [longer, inside])
    assert request.hidden == (inside.id,)
    assert request.shown([longer, inside]) == (longer,)


def test_what_the_assistant_said_earlier_is_no_source() -> None:
    (source,) = sources_of(SENTENCES[:1])
    messages = (("assistant", source.text), ("user", f"{source.text}\nWhy?"))
    request = request_of(asked(*messages), "yes", [source])
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
    request = request_of(question, answer, sources)
    with pytest.raises(NotInTrace, match=f"{said}.*replay the application with --app"):
        request.shown(sources)


def test_a_request_compares_by_what_it_holds() -> None:
    assert RecordedRequest() == RecordedRequest()
