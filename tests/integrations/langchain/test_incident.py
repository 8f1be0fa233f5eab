"""Incidents from a log, documents that are added, and input that cannot be explained as it is."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, InvalidInput, TooManySources
from tests.integrations.known import BAD, TEXTS, ids, log_of, omission, retention, sets
from tests.integrations.langchain.chains import Counting, Scripted
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.shapes import joined, model, retriever_of


def app_over(retriever: Any, answers: Any = None) -> Any:
    def answer(question: str) -> str:
        found = joined(retriever.invoke(question))
        return answers(found) if answers else model().invoke(found or "nothing").text

    return RunnableLambda(answer)


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("awaiting", [False, True])
def test_an_incident_that_was_logged_as_json_has_the_rules_of_the_live_run(awaiting: bool) -> None:
    retriever = retriever_of()
    explainer = RuleExplainer(app_over(retriever), predicate=BAD)
    live = explainer.explain("why?")
    incident = log_of(live)
    brought: dict[str, Any] = {"documents": incident["documents"], "baseline": incident["answer"]}
    if awaiting:
        again = asyncio.run(explainer.aexplain(incident["question"], **brought))
    else:
        again = explainer.explain(incident["question"], **brought)
    assert again.rules == live.rules
    assert again.warnings == ()
    assert (again.baseline.text, again.counts.baseline) == ("bad news", 1)
    assert retriever.live == ["why?"]


def test_that_the_application_answers_otherwise_by_now_is_said_first() -> None:
    explainer = RuleExplainer(app_over(retriever_of("abc")), predicate=BAD)
    ways: list[dict[str, Any]] = [{}, {"documents": facts("abc")}]
    for brought in ways:
        explanation = explainer.explain("why?", baseline="bad news, as it was", **brought)
        (warning,) = explanation.warnings
        assert "holds for 'bad news, as it was' and does not hold for 'good news'" in warning
        assert str(explanation).startswith("WARNING: the logged answer is not")
        assert explanation.retention_rules == ()


def test_a_logged_output_is_read_as_the_applications_own() -> None:
    app = app_over(retriever_of()) | (lambda text: {"answer": text})
    explanation = RuleExplainer(app, predicate=BAD).explain("why?", baseline={"answer": "bad news"})
    assert explanation.baseline.text == "bad news"
    assert is_the_truth(explanation)
    with pytest.raises(InvalidInput, match="answer_of"):
        RuleExplainer(app).explain("why?", baseline={"nothing": 1})


def test_documents_that_are_added_are_returned_by_every_retrieval() -> None:
    retriever = retriever_of("abc")
    explainer = RuleExplainer(app_over(retriever), predicate=BAD)
    assert explainer.explain("why?").baseline.text == "good news"
    explanation = explainer.explain("why?", add_documents=[{"id": "poison", "text": TEXTS["d"]}])
    assert explanation.baseline.text == "bad news"
    assert retention(explanation) == {frozenset({"b", "poison"})}
    assert retriever.live == ["why?", "why?"]
    assert len(retriever.invoke("afterwards")) == 3


def test_pinned_documents_are_always_delivered_and_in_no_rule() -> None:
    explainer = RuleExplainer(app_over(retriever_of()), predicate=BAD)
    ways: list[dict[str, Any]] = [{}, {"documents": facts("abcd")}]
    for brought in ways:
        explanation = explainer.explain("why?", pinned=["d"], **brought)
        assert (retention(explanation), omission(explanation)) == (sets("b"), sets("b"))
        assert all("d" in (probe.answers[0].delivered or ()) for probe in explanation.probes)
        assert [source.id for source in explanation.sources if source.pinned] == ["d"]
    with pytest.raises(InvalidInput, match="'nobody', which is no source"):
        explainer.explain("why?", pinned=["nobody"])
    with pytest.raises(InvalidInput, match="give a list of ids"):
        explainer.explain("why?", pinned="d")


def test_ids_that_are_random_at_every_call_do_not_matter() -> None:
    def script(query: str) -> list[Document]:
        return [Document(id=str(uuid4()), page_content=TEXTS[name]) for name in "abcd"]

    retriever = Scripted(script=script)

    def twice(question: str) -> str:
        found = {each.page_content: each for q in ("one", "two") for each in retriever.invoke(q)}
        return model().invoke(joined(list(found.values())) or "nothing").text

    def anew(question: str) -> str:
        first = retriever.invoke(question)
        again = retriever.invoke(f"more of {len(first)}") if len(first) < 4 else first
        return model().invoke(joined(again) or "nothing").text

    for app, parameters in ((twice, {}), (anew, {"on_new_query": "filter"})):
        # Options of all kinds.
        explanation = RuleExplainer(app, predicate=BAD, **parameters).explain("?")  # type: ignore[arg-type]
        named = {source.text: source.id for source in explanation.sources}
        assert len(named) == len(explanation.sources) == 4
        assert retention(explanation) == {frozenset({named[TEXTS["b"]], named[TEXTS["d"]]})}
        assert explanation.complete


def test_duplicates_within_one_retrieval_are_two_sources_by_id_and_one_without() -> None:
    double = [*facts("ab"), Document(id="b2", page_content=TEXTS["b"]), *facts("d")]
    explanation = RuleExplainer(app_over(Counting(documents=double)), predicate=BAD).explain("?")
    assert ids(explanation) == ["a", "b", "b2", "d"]
    assert retention(explanation) == sets("bd", ["b2", "d"])
    assert omission(explanation) == sets(["b", "b2"], "d")
    nameless = [document.model_copy(update={"id": None}) for document in double]
    explanation = RuleExplainer(app_over(Counting(documents=nameless)), predicate=BAD).explain("?")
    assert len(explanation.sources) == 3
    assert explanation.complete


def test_scores_in_metadata_make_no_new_document() -> None:
    calls: list[str] = []

    def script(query: str) -> list[Document]:
        calls.append(query)
        return [
            Document(
                page_content=TEXTS[n],
                metadata={"source": f"{n}.txt", "score": len(calls), "bm25": len(calls) / 7},
            )
            for n in "abcd"
        ]

    retriever = Scripted(script=script)

    def app(question: str) -> str:
        found = [*retriever.invoke("one"), *retriever.invoke("two")]
        return model().invoke(joined(found) or "nothing").text

    explanation = RuleExplainer(app, predicate=BAD).explain("?")
    assert ids(explanation) == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert retention(explanation) == sets(["b.txt", "d.txt"])


def test_two_hundred_documents_are_too_many_for_an_exact_search_which_says_so_with_a_way_out() -> None:
    many = [Document(id=f"d{n}", page_content=f"{TEXTS['a']} Copy {n} of many.") for n in range(200)]
    with pytest.raises(TooManySources, match=r"200 sources have 2\^200 subsets.*miner='sampled'"):
        RuleExplainer(app_over(Counting(documents=many)), predicate=BAD, miner="exact").explain("?")


def test_a_chain_that_raises_on_some_subsets_is_explained_without_them() -> None:
    def answers(found: str) -> str:
        if TEXTS["c"] not in found:
            raise KeyError("c")
        return model().invoke(found).text

    explanation = RuleExplainer(app_over(retriever_of(), answers), predicate=BAD).explain("?")
    assert not explanation.complete
    assert all("KeyError" in each.reason for each in explanation.unresolved)
    assert retention(explanation) == sets("bcd")
    assert explanation.retention_rules[0].evidence == "proved on all 2 subsets; perhaps not minimal"
    assert omission(explanation) == sets()


def test_an_output_that_cannot_be_read_names_what_reads_it() -> None:
    app = app_over(retriever_of()) | (lambda text: object())
    with pytest.raises(InvalidInput, match="answer_of"):
        RuleExplainer(app).explain("?")
