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


@pytest.mark.parametrize("scope", ["seen", "retrieved"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape[0].__name__)
def test_what_depends_on_what_is_found_beside_is_made_anew(shape: Any, scope: str) -> None:
    change, is_bad, retained, omitted = shape
    explanation = explained(change, is_bad, awaited=scope == "retrieved", scope=scope)
    assert ids(explanation) == ["a", "b", "d"]
    assert (retention(explanation), omission(explanation)) == (retained, omitted)
    assert all(rule.proved for rule in explanation.rules)
