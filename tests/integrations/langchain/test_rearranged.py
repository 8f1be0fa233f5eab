"""Retrievers whose order or numbers depend on what is found beside: rules as a fresh run has them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, TEXTS, ids, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts


class Around(BaseRetriever):
    """A retriever of a user's own around another one."""

    inner: BaseRetriever
    change: Callable[[list[Document]], list[Document]]

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.change(self.inner.invoke(query))


def best_at_both_ends(found: list[Document]) -> list[Document]:
    return [*found[::2], *found[1::2][::-1]]


def numbered(found: list[Document]) -> list[Document]:
    return [Document(f"[{at}] {each.page_content}", id=each.id) for at, each in enumerate(found)]


def ranked(found: list[Document]) -> list[Document]:
    for place, each in enumerate(found):
        each.metadata["place"] = place
    return found


def b_comes_last(prompt: str) -> bool:
    return prompt.rstrip().endswith(TEXTS["b"])


def b_is_second(prompt: str) -> bool:
    return f"[1] {TEXTS['b']}" in prompt


SHAPES = (
    (best_at_both_ends, b_comes_last, sets("ab"), sets("b")),
    (numbered, b_is_second, sets("ab"), sets("a", "b")),
    (ranked, b_is_second, sets("ab"), sets("a", "b")),
)


def _shown(document: Document) -> str:
    place = document.metadata.get("place")
    return document.page_content if place is None else f"[{place}] {document.page_content}"


def explained(change: Any, is_bad: Any, *, awaited: bool = False, **parameters: Any) -> Explanation:
    inner = Counting(documents=facts("abd"))
    outer, model = (
        Around(inner=inner, change=change),
        Telling(says=lambda messages: "bad news" if is_bad(messages[0].text) else "good news"),
    )

    def answer(question: str) -> str:
        return model.invoke("\n".join(map(_shown, outer.invoke(question))) or "none").text

    explainer = RuleExplainer(answer, predicate=BAD, **parameters)
    explanation = asyncio.run(explainer.aexplain("why?")) if awaited else explainer.explain("why?")
    assert len(inner.live) == 1
    return explanation


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("scope", ["seen", "retrieved"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape[0].__name__)
def test_what_depends_on_what_is_found_beside_is_made_anew(shape: Any, scope: str) -> None:
    change, is_bad, retained, omitted = shape
    explanation = explained(change, is_bad, awaited=scope == "retrieved", scope=scope)
    assert ids(explanation) == ["a", "b", "d"]
    assert (retention(explanation), omission(explanation)) == (retained, omitted)
    assert all(rule.proved for rule in explanation.rules)


def shares(found: list[Document]) -> list[Document]:
    """Scores each document by its share of the sum, so that a score depends on what is found beside."""
    for place, each in enumerate(found):
        each.metadata["score"] = (place + 1) / sum(range(len(found) + 1))
    return found


def from_zero_to_one(found: list[Document]) -> list[Document]:
    for place, each in enumerate(found):
        each.metadata["relevance_score"] = place / (len(found) - 1)
    return found


def own(found: list[Document]) -> list[Document]:
    for place, each in enumerate(found):
        each.metadata["score"] = 0.9 - place / 10
    return found


def explained_by(retriever: BaseRetriever, **parameters: Any) -> Explanation:
    model = Telling()

    def answer(question: str) -> str:
        found = retriever.invoke(question)
        return model.invoke("\n".join(each.page_content for each in found) or "nothing").text

    return RuleExplainer(answer, predicate=BAD, miner="exact", **parameters).explain("why?")


class Scoring(Counting):
    """A store that scores what it finds itself, so that no search inside is known."""

    change: Callable[[list[Document]], list[Document]]

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.change(super()._get_relevant_documents(query, run_manager=run_manager))


@pytest.mark.parametrize(("change", "told"), [(shares, True), (from_zero_to_one, True), (own, False)])
def test_scores_that_are_computed_from_each_other_are_noted(change: Any, told: bool) -> None:
    explanation = explained_by(Scoring(documents=facts("abd"), change=change))
    assert retention(explanation) == sets("bd")
    assert any("recorded scores" in note for note in explanation.notes) is told


@pytest.mark.parametrize(("named", "told"), [("outer", True), ("inner", False), ("none", False)])
def test_a_named_retriever_around_others_is_served_as_recorded_with_a_note(
    named: str, told: bool
) -> None:
    inner = Counting(documents=facts("abd"))
    outer = Around(inner=inner, change=best_at_both_ends)
    parameters = {"outer": [outer], "inner": [inner], "none": []}[named]
    explanation = explained_by(outer, **({"retrievers": parameters} if parameters else {}))
    assert retention(explanation) == sets("bd")
    assert any("named in retrievers=" in note for note in explanation.notes) is told
