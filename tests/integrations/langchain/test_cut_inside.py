"""Retrievers and gated searches that return only some of what searches inside them found."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from langchain_rag_rule_explainer import RuleExplainer, gate
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, TEXTS, ids, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts

Search = Callable[[str], list[Document]]


class Keeping(BaseDocumentCompressor):
    """Lets through the best few, or those of these names; shortened to so many words."""

    most: int = 9
    names: str = "abcd"
    words: int = 99

    @override
    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        if self.words < 99:
            shorter = (" ".join(each.page_content.split()[: self.words]) for each in documents)
            pairs = zip(shorter, documents, strict=True)
            return [Document(text, metadata=each.metadata) for text, each in pairs][: self.most]
        return [each for each in documents if each.id and each.id in self.names][: self.most]


class Reranked(BaseRetriever):
    """A retriever of a user's own around another one."""

    inner: BaseRetriever
    most: int = 2

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.inner.invoke(query)[: self.most]


def compressed(**settings: Any) -> tuple[Search, Counting]:
    inner = Counting(documents=facts("abcd"))
    outer = ContextualCompressionRetriever(base_compressor=Keeping(**settings), base_retriever=inner)
    return outer.invoke, inner


def of_a_users_class() -> tuple[Search, Counting]:
    inner = Counting(documents=facts("abcd"))
    return Reranked(inner=inner).invoke, inner


def in_two_storeys() -> tuple[Search, Counting]:
    """The outer retriever drops nothing; the one inside it does."""
    inner = Counting(documents=facts("abcd"))
    return EnsembleRetriever(retrievers=[Reranked(inner=inner)], weights=[1]).invoke, inner


def of_a_gate() -> tuple[Search, Counting]:
    inner = Counting(documents=facts("abcd"))
    return gate(lambda query: inner.invoke(query)[:2]), inner


def twins() -> tuple[Search, Counting]:
    """A filter of duplicates: the second b is shown once the first one is left out."""
    twin = Document(TEXTS["b"], id="other")
    inner = Counting(documents=[*facts("ab"), twin])

    def distinct(query: str) -> list[Document]:
        return list({each.page_content: each for each in reversed(inner.invoke(query))}.values())[::-1]

    class Distinct(Reranked):
        @override
        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun
        ) -> list[Document]:
            return distinct(query)

    return Distinct(inner=inner).invoke, inner


def chunks_of_summaries() -> tuple[Search, Counting]:
    """The documents found inside only say which others are returned, so none of them moves up."""
    inner = Counting(documents=[Document("A summary of amber and basalt in two chunks.", id="s")])
    chunks = Counting(documents=facts("bd"))

    class Chunks(Reranked):
        @override
        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun
        ) -> list[Document]:
            return list(chunks.documents) if inner.invoke(query) else []

    return Chunks(inner=inner).invoke, inner


def explained(search: Search, *, awaited: bool = False, **parameters: Any) -> Explanation:
    model = Telling()

    def answer(question: str) -> str:
        return model.invoke("\n".join(each.page_content for each in search(question)) or "nothing").text

    settings: dict[str, Any] = {"predicate": BAD, **parameters}
    explainer = RuleExplainer(answer, **settings)
    return asyncio.run(explainer.aexplain("why?")) if awaited else explainer.explain("why?")


CUTTING = [lambda: compressed(most=2), of_a_users_class, in_two_storeys]
NAMES = ["compressed", "of a user's class", "in two storeys"]


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("made", CUTTING, ids=NAMES)
def test_what_a_search_cut_takes_the_proof_away_if_it_moves_up(made: Any, awaited: bool) -> None:
    search, inner = made()
    explanation = explained(search, awaited=awaited)
    assert ids(explanation) == ["a", "b"]
    assert explanation.rules
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert explanation.warnings[0].startswith("if sources are left out, the model is shown others")
    assert "c and d when" in explanation.warnings[0]
    assert not explanation.complete
    # The replay that tries it serves the inner search from the record.
    assert len(inner.live) == 1


@pytest.mark.parametrize("made", CUTTING, ids=NAMES)
def test_the_way_out_gives_the_rules_of_the_application(made: Any) -> None:
    search, inner = made()
    explanation = explained(search, scope="retrieved")
    assert ids(explanation) == ["a", "b", "c", "d"]
    assert (retention(explanation), omission(explanation)) == (set(), sets("b", "d"))
    assert all(rule.proved for rule in explanation.rules)
    assert len(inner.live) == 1


@pytest.mark.parametrize("settings", [{"names": "bd"}, {"words": 9}], ids=["a filter", "an extract"])
def test_what_does_not_move_up_takes_no_proof_away(settings: Any) -> None:
    explanation = explained(compressed(**settings)[0], predicate=BAD if "names" in settings else None)
    assert explanation.rules
    assert all(rule.proved for rule in explanation.rules)
    assert not explanation.warnings


def test_what_a_user_gates_is_what_rules_are_about() -> None:
    """The user says with the gate that the sources are what the function returns."""
    search, inner = of_a_gate()
    explanation = explained(search)
    assert ids(explanation) == ["a", "b"]
    assert all(rule.proved for rule in explanation.rules)
    assert not [each for each in explanation.warnings if "is shown others" in each]
    assert len(inner.live) == 1


def test_a_twin_that_takes_the_place_of_what_was_left_out_is_noticed() -> None:
    explanation = explained(twins()[0], predicate=None)
    assert ids(explanation) == ["a", "b"]
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert "because a duplicate took its place" in explanation.warnings[0]


def test_replays_try_it_and_none_where_nothing_was_cut() -> None:
    counts = [explained(compressed(names=names)[0]).counts for names in ("bd", "abcd")]
    assert [each.repeat_check - more for each, more in zip(counts, (3, 0), strict=True)] == [3, 3]


@pytest.mark.parametrize("scope", ["seen", "retrieved"])
def test_documents_that_only_lead_to_others_are_not_in_the_way(scope: str) -> None:
    explanation = explained(chunks_of_summaries()[0], scope=scope)
    assert (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))
    assert all(rule.proved for rule in explanation.rules)
    assert not explanation.warnings
