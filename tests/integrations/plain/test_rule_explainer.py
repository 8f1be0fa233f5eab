"""What is asked of an application without a framework, and what is no such application."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from langchain_core.runnables import RunnableLambda
from plain_rag_rule_explainer import RuleExplainer, gate, offline_client, tool
from plain_rag_rule_explainer.reading import answer_in, question_in
from pydantic import BaseModel

from rag_rule_explainer import (
    Answer,
    BaselineFailed,
    InvalidInput,
    NoSourcesCaptured,
    ProgressReport,
    Source,
    contains,
)
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, ids, log_of
from tests.integrations.plain.models import Models
from tests.integrations.plain.zoo.shapes import Index, chat, live, shown


def application_of(models: Models, index: Index) -> Callable[[str], str]:
    return lambda question: chat(models, shown(index.search(question), question))


def test_a_rule_is_verified(models: Models) -> None:
    explainer = RuleExplainer(application_of(models, Index()), predicate=BAD)
    assert explainer.verify(["b", "d"], "retention", "why?").holds
    assert not explainer.verify(["b"], "retention", "why?").holds
    with pytest.raises(InvalidInput, match="no source"):
        explainer.verify(["z"], "retention", "why?")


async def test_a_rule_is_verified_on_the_callers_loop(models: Models) -> None:
    explainer = RuleExplainer(application_of(models, Index()), predicate=BAD)
    assert (await explainer.averify(["d"], "omission", "why?")).holds


def test_an_estimate_stops_before_the_model_is_asked(models: Models) -> None:
    index, asked = Index(), list[str]()

    def application(question: str) -> str:
        content = shown(index.search(question))
        asked.append(chat(models, content))
        return asked[-1]

    estimate = RuleExplainer(application, predicate=BAD).estimate("why?")
    assert (estimate.sources, index.searches, asked) == (4, 1, [])
    assert estimate.best.replays <= estimate.worst.replays


def test_progress_is_told(models: Models) -> None:
    reports: list[ProgressReport] = []
    explainer = RuleExplainer(application_of(models, Index()), predicate=BAD, progress=reports.append)
    explanation = explainer.explain("why?")
    assert reports[-1].done
    assert reports[-1].probes == len(explanation.probes)


def test_documents_are_served_as_they_are_brought(models: Models) -> None:
    index = Index("ac")
    explainer = RuleExplainer(application_of(models, index), predicate=BAD)
    logged = log_of(RuleExplainer(application_of(models, Index()), predicate=BAD).explain("why?"))
    assert blames_b_and_d(explainer.explain("why?", documents=logged["documents"]))
    assert index.searches == 0
    added = [{"id": name, "text": TEXTS[name]} for name in "bd"]
    assert blames_b_and_d(explainer.explain("why?", add_documents=added, pinned=["a"]))
    with pytest.raises(InvalidInput, match="twice"):
        explainer.explain("why?", documents=[*added, *added])


def test_documents_become_what_the_search_returns(models: Models) -> None:
    @dataclass(frozen=True)
    class Hit:
        id: str
        text: str

    @gate(item_of=lambda source: Hit(source.id, source.text))
    def search(query: str) -> list[Hit]:
        return [Hit(name, TEXTS[name]) for name in "ac"]

    def application(question: str) -> str:
        return chat(models, "\n".join(hit.text for hit in search(question)))

    brought = [Source(name, TEXTS[name]) for name in "bd"]
    explainer = RuleExplainer(application, predicate=BAD)
    assert blames_b_and_d(explainer.explain("why?", documents=brought))
    explanation = explainer.explain("why?", add_documents=brought)
    assert blames_b_and_d(explanation)
    assert sorted(ids(explanation)) == list("abcd")


def test_added_texts_are_texts_where_the_search_returns_texts(models: Models) -> None:
    for found in (lambda _: [TEXTS["a"], TEXTS["b"]], lambda _: TEXTS["b"]):
        search = gate(found)

        def application(question: str, search: Any = search) -> str:
            said = search(question)
            return chat(models, said if isinstance(said, str) else "\n".join(said))

        brought = [{"id": "d", "text": TEXTS["d"]}]
        explanation = RuleExplainer(application, predicate=BAD).explain("why?", add_documents=brought)
        (rule,) = explanation.retention_rules
        told = {source.id: source.text for source in explanation.sources}
        assert {told[each] for each in rule.sources} == {TEXTS["b"], TEXTS["d"]}


def test_what_is_no_application() -> None:
    class App:
        def __init__(self, index: Index) -> None:
            self.index = index

    made: Any = [
        (7, "an int, which cannot be asked"),
        (App, "the class App, which cannot be asked"),
        (
            lambda first, second: "x",
            "a lambda cannot be called with one input alone; pass a ",
        ),
        (RunnableLambda(str), "a framework's; explain it with langchain_rag_rule_explainer"),
    ]
    for application, said in made:
        with pytest.raises(InvalidInput, match=said):
            RuleExplainer(application)
    with pytest.raises(InvalidInput, match="made a str; let it return a function"):
        RuleExplainer(lambda: "x").explain("why?")


def test_what_is_no_tool() -> None:
    with pytest.raises(InvalidInput, match="tool is 'search'; give a function"):
        tool("search")  # type: ignore[type-var] -- a mistake, on purpose


def offline(says: Callable[[Any], Any], **asked: Any) -> str:
    client, search = offline_client(), Index("bd").search

    def application(question: str) -> Any:
        found = "\n\n".join(f"<source>\n{each['text']}\n</source>" for each in search(question))
        messages: Any = [{"role": "user", "content": f"{found}\n\nQuestion: {question}"}]
        return says(client.chat.completions.create(model="m", messages=messages, **asked))

    return RuleExplainer(application).explain("Why do dunes wander?").baseline.text


def test_the_offline_client_streams_and_a_message_is_an_answer() -> None:
    whole = offline(lambda reply: reply.choices[0].message.content)
    assert len(whole.split()) > 2
    assert offline(lambda reply: reply.choices[0].message) == whole
    assert offline(lambda reply: reply, stream=True) == whole


def test_what_answers_nothing_says_what_to_do(models: Models) -> None:
    with pytest.raises(NoSourcesCaptured, match=r"Put each search into gate\(\.\.\.\)"):
        RuleExplainer(lambda question: chat(models, question)).explain("why?")
    nothing = gate(lambda query: [])
    with pytest.raises(NoSourcesCaptured, match="found nothing for this input"):
        RuleExplainer(lambda question: chat(models, str(nothing(question)) + "!")).explain("why?")
    with pytest.raises(BaselineFailed, match="returned a function in place of an answer"):
        RuleExplainer(lambda question: lambda: Index().search(question)).explain("why?")


def test_what_cannot_be_gated() -> None:
    for search, said in (
        (7, "an int cannot be gated"),
        (Index, "gate was given the class Index; pass an instance"),
    ):
        with pytest.raises(InvalidInput, match=said):
            gate(search)  # type: ignore[call-overload] -- a mistake, on purpose


def test_a_gate_changes_nothing_outside_of_explanations() -> None:
    class Store:
        @gate
        def search(self, query: str) -> list[str]:
            """Finds it."""
            return [query]

        @staticmethod
        @gate
        def other(query: str) -> list[str]:
            return [query]

    assert Store().search("x") == Store.search(Store(), "x") == Store.other("x") == ["x"]
    assert (Store.search.__doc__, Store().search.__name__) == ("Finds it.", "search")


@dataclass
class Outcome:
    answer: str
    sources: list[str]


class Found(NamedTuple):
    documents: list[str]
    answer: str


class Reply(BaseModel):
    text: str
    sources: list[str]


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("x", "x"),
        (("x", ["a document"]), "x"),
        ({"result": "x", "sources": ["a"]}, "x"),
        (Outcome("x", ["a"]), "x"),
        ({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]}, "x"),
        (Answer("x"), "x"),
        (Found(["a document", "another"], "x"), "x"),
        (Reply(text="x", sources=["a"]), "x"),
        ({"content": ["a document", "another"], "result": "x"}, "x"),
    ],
)
def test_an_answer_is_read_out_of_what_applications_return(output: Any, answer: str) -> None:
    assert answer_in(output).text == answer


def test_what_has_no_answer_and_no_question_is_told() -> None:
    with pytest.raises(InvalidInput, match="answer_of="):
        answer_in(object())
    # The list may hold what was found.
    for found in ((["a", "b"], "x"), {"content": ["a", "b"], "reply": "x"}):
        with pytest.raises(InvalidInput, match="answer_of="):
            answer_in(found)
    with pytest.raises(InvalidInput, match="question_of="):
        question_in(object())
    assert question_in({"input": [{"role": "user", "content": "why?"}]}) == "why?"


def test_an_explainer_inside_an_application_is_refused(models: Models) -> None:
    index = Index("bd")
    inner = RuleExplainer(application_of(models, index), predicate=BAD)

    def outer(question: str) -> str:
        return str(inner.explain(question))

    with pytest.raises(InvalidInput, match=r"put the application it wraps \(\.application\)"):
        RuleExplainer(outer, predicate=contains("x")).explain("why?")
    assert live(index)() == 0
