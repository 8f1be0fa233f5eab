"""Applications that retrieve afresh: through both frameworks, and through none."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_rag_rule_explainer import RuleExplainer as LangChainExplainer
from plain_rag_rule_explainer import RuleExplainer, gate
from typing_extensions import override

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.errors import NoBackfill
from tests.fixing.applications import (
    BAD,
    FIVE,
    QUESTION,
    SHARED,
    TEXTS,
    WITHOUT_K,
    asking,
    chain,
    direction,
)


def shown(recheck: Any, place: int) -> tuple[str, ...]:
    return tuple(source.id for source in recheck.rounds[place].explanation.sources)


@pytest.mark.spread(fast=4, slow=2)
@pytest.mark.parametrize("name", FIVE)
def test_what_fills_the_gap_is_found_and_left_out_too(name: str) -> None:
    explainer = FIVE[name]()
    before = explainer.explain(QUESTION)
    assert [fix.sources for fix in before.fixes()] == [("D1", "D2"), ("D1", "D3")]
    recheck = explainer.recheck(QUESTION, before=before)
    assert [each.outcome for each in recheck.rounds] == ["back", "gone"]
    assert shown(recheck, 0) == ("D3", "D4", "D5", "D6", "D7")
    assert recheck.rounds[0].through == ("D7",)
    assert recheck.rounds[0].promoted == ("D6", "D7")
    assert shown(recheck, 1) == ("D3", "D4", "D5", "D6", "D8")
    assert recheck.left_out == ("D1", "D2", "D7")
    assert recheck.is_gone
    assert recheck.last.lasting is not None
    assert recheck.last.lasting.proved
    assert not recheck.notes
    assert not recheck.why_ended


@pytest.mark.spread(fast=4, slow=2)
@pytest.mark.parametrize("name", FIVE)
def test_it_is_the_same_on_the_callers_loop(name: str) -> None:
    recheck = asyncio.run(FIVE[name]().arecheck(QUESTION, exclude=["D1", "D2"], rounds=1))
    assert recheck.outcome == "back"
    assert shown(recheck, 0) == ("D3", "D4", "D5", "D6", "D7")
    assert recheck.why_ended == "1 round was made; rounds= allows more"


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("name", ["a retriever of a store", "an index", "a plain function"])
def test_a_text_is_replaced_where_it_stood_and_others_are_added(name: str) -> None:
    added: Any = {"id": "X", "text": "fact 30: nothing is known of number 30 and of its friends"}
    recheck = FIVE[name]().recheck(
        QUESTION, exclude=["D1"], replace={"D3": "fact 33: all is well with number 33 now"}, add=[added]
    )
    assert recheck.is_gone
    assert shown(recheck, 0) == ("D2", "D3", "D4", "D5", "D6", "X")
    texts = {source.id: source.text for source in recheck.last.explanation.sources}
    assert texts["D3"].startswith("fact 33")
    assert any("not ranked anew" in note for note in recheck.notes)
    assert any("added documents stand after" in note for note in recheck.notes)
    assert "without D1, with D3 rewritten, with 1 added" in str(recheck)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("name", WITHOUT_K)
def test_where_k_cannot_be_read_it_says_so_with_the_way_out(name: str) -> None:
    explainer = WITHOUT_K[name]()
    with pytest.raises(
        NoBackfill, match="Give the search a parameter k, or the retriever an attribute k"
    ):
        explainer.recheck(QUESTION)
    # Nothing has to come in the place of what is replaced, so k is not needed.
    replaced = explainer.recheck(QUESTION, replace={"D1": "fact 31: well", "D2": "fact 32: well"})
    assert replaced.is_gone


def test_where_the_first_fix_is_not_enough_another_rule_is_named() -> None:
    recheck = FIVE["a plain function"]().recheck(QUESTION, exclude=["D4"], rounds=1)
    assert recheck.outcome == "same rule"
    assert recheck.last.through[0] == "D1"
    assert recheck.is_gone is False
    assert "still there through D1" in str(recheck)
    assert "by no new rule" in str(recheck)


def test_what_nothing_finds_is_noted() -> None:
    explainer = FIVE["a plain function"]()
    recheck = explainer.recheck(QUESTION, exclude=["D1", "D2", "D12"], rounds=1)
    assert any("no search found 'D12'" in note for note in recheck.notes)
    # The search was asked for three more, and no more than five are shown.
    assert shown(recheck, 0) == ("D3", "D4", "D5", "D6", "D7")


def test_a_result_that_cannot_be_filled_up_is_noted() -> None:
    """All but four are left out, and the search has a k of five."""
    recheck = FIVE["a plain function"]().recheck(QUESTION, exclude=[*list(TEXTS)[4:], "D1"], rounds=1)
    assert shown(recheck, 0) == ("D2", "D3", "D4")
    assert any("asked for more results (k=" in note for note in recheck.notes)


def test_a_store_is_left_as_it_was() -> None:
    FIVE["a retriever of a store"]().recheck(QUESTION)
    assert [each.id for each in SHARED.similarity_search("?", k=20)] == list(TEXTS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"exclude": []}, "nothing is left out, replaced or added"),
        ({"exclude": "D1"}, "give a list of ids of sources"),
        ({"exclude": [1]}, "exclude has 1"),
        ({"replace": {"D77": "new"}}, "'D77', which is no source"),
        ({"replace": {"D1": " "}}, "give the new text"),
        ({"exclude": ["D1"], "replace": {"D1": "new"}}, "in exclude and in replace"),
        ({"rounds": 0}, "rounds is 0"),
        ({"before": "text"}, "pass what explain"),
    ],
)
def test_bad_input_says_what_to_give(options: dict[str, Any], said: str) -> None:
    for name in ("a plain function", "a retriever with k"):
        with pytest.raises(InvalidInput, match=said):
            FIVE[name]().recheck(QUESTION, **options)


def test_a_keyword_that_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="exclude"):
        FIVE["a plain function"]().recheck(QUESTION, excluded=["D1"])


def test_an_explanation_of_another_question_is_refused() -> None:
    explainer = FIVE["a plain function"]()
    before = explainer.explain("Another question?")
    with pytest.raises(InvalidInput, match="before is about another question"):
        explainer.recheck(QUESTION, before=before)


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("name", ["a retriever with k", "an index", "a plain function"])
def test_where_nothing_is_retrieved_any_more_the_answer_to_nothing_counts(name: str) -> None:
    recheck = FIVE[name]().recheck(QUESTION, exclude=list(TEXTS))
    assert recheck.is_gone
    assert recheck.last.explanation is None
    assert recheck.last.answer == ("Empty Response" if name == "an index" else "good news")
    assert "nothing is retrieved any more" in str(recheck)


@pytest.mark.slow
def test_a_raw_client_is_asked_for_more() -> None:
    """Chroma's own client, whose responses are lists of lists."""
    chromadb: Any = pytest.importorskip("chromadb")
    # All clients of a process share their settings and collections.
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    collection = chromadb.EphemeralClient(settings).create_collection("rechecked")
    embeddings = [direction(text) for text in TEXTS.values()]
    collection.add(ids=list(TEXTS), documents=list(TEXTS.values()), embeddings=embeddings)
    query = gate(collection.query)

    def search(question: str) -> Any:
        return query(query_embeddings=[direction(question)], n_results=5)["documents"][0]

    recheck = RuleExplainer(asking(search), BAD, concurrency=1).recheck(QUESTION)
    assert [each.outcome for each in recheck.rounds] == ["back", "gone"]
    assert shown(recheck, 1) == ("D3", "D4", "D5", "D6", "D8")


class _Blog(BaseRetriever):
    """Its documents have no ids, and three of them have one name."""

    k: int = 5

    @override
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        named = {name: "blog" if name in {"D1", "D2", "D7"} else name for name in TEXTS}
        found = [
            Document(page_content=text, metadata={"source": named[name]}) for name, text in TEXTS.items()
        ]
        return found[: self.k]


def test_a_replaced_or_added_document_without_an_id_can_be_left_out_again() -> None:
    """The explanation of a round has no text that the round leaves out."""

    @gate
    def search(_query: str, k: int = 5) -> list[str]:
        return list(TEXTS.values())[:k]

    explainer = RuleExplainer(asking(search), BAD, concurrency=1)
    before = explainer.explain(QUESTION)
    first = before.sources[0].id
    bad = "fact 1: is bad again"
    changes: Any = ({"replace": {first: bad}}, {"exclude": [first], "add": [bad]})
    for change in changes:
        recheck = explainer.recheck(QUESTION, before=before, **change, rounds=4)
        assert recheck.rounds[0].outcome == "back"
        assert recheck.is_gone
        for each in recheck.rounds[1:]:
            assert each.explanation is not None
            assert bad not in {source.text for source in each.explanation.sources}


def test_documents_of_one_name_are_told_apart_in_all_rounds() -> None:
    """An id such as blog#7134 stands where two have the name; where one is left, it is blog."""
    explainer = LangChainExplainer(chain(_Blog()), BAD, concurrency=1)
    before = explainer.explain(QUESTION)
    one, other = (source.id for source in before.sources[:2])
    assert one.startswith("blog#")
    recheck = explainer.recheck(QUESTION, before=before, exclude=[one])
    assert [each.outcome for each in recheck.rounds] == ["same rule", "back", "gone"]
    assert recheck.left_out == (one, other, "blog")


class _Fused(BaseRetriever):
    """Its k is a constant of reciprocal rank fusion, and it refuses to return more than ``most``."""

    k: int = 60
    top_k: int = 5
    most: int = 20

    @override
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        if self.top_k > self.most:
            raise ValueError(f"at most {self.most} documents")
        found = [Document(id=name, page_content=text) for name, text in TEXTS.items()]
        return found[: self.top_k]


def test_of_several_numbers_the_one_that_it_returned_is_its_k() -> None:
    explainer = LangChainExplainer(chain(_Fused()), BAD, concurrency=1)
    recheck = explainer.recheck(QUESTION)
    assert [each.outcome for each in recheck.rounds] == ["back", "gone"]
    assert not recheck.notes


def test_a_search_that_refuses_to_return_more_is_named() -> None:
    explainer = LangChainExplainer(chain(_Fused(most=6)), BAD, concurrency=1)
    said = r"a _Fused .* failed when it was asked for more \(top_k=7\): ValueError: at most 6 documents"
    with pytest.raises(NoBackfill, match=said):
        explainer.recheck(QUESTION)


class Sections(BaseRetriever):
    """All its documents are named after one section of a page."""

    k: int = 1

    @override
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        metadata = {"source": "https://example.com/page#news"}
        return [Document(page_content=text, metadata=metadata) for text in TEXTS.values()][: self.k]


def test_the_address_of_a_section_is_a_name_as_any_other() -> None:
    """The second document has a name of its own only while the first one is there too."""
    recheck = LangChainExplainer(chain(Sections()), BAD, concurrency=1).recheck(QUESTION, rounds=1)
    assert recheck.is_gone
    # There is a last one.
    assert [source.text for source in recheck.last.explanation.sources] == [TEXTS["D2"]]  # pyright: ignore[reportOptionalMemberAccess]


def test_the_beginning_of_an_id_names_no_document() -> None:
    class Chunks(BaseRetriever):
        k: int = 5

        @override
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
            found = enumerate(TEXTS.values())
            return [Document(id=f"handbook#{n}", page_content=text) for n, text in found][: self.k]

    explainer = LangChainExplainer(chain(Chunks()), BAD, concurrency=1)
    recheck = explainer.recheck(QUESTION, exclude=["handbook"], rounds=1)
    assert recheck.outcome == "same rule"
    assert any("no search found 'handbook'" in note for note in recheck.notes)
