"""Responses that list results beside a single text: those of known clients are taken apart, all others
are refused, and none is taken for one document."""

from copy import deepcopy
from json import dumps, loads
from types import SimpleNamespace
from typing import Any

import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.errors import UntrueReplay
from rag_rule_explainer.instrumentation.clients import Client, ItemsOf, faiss, meilisearch, pinecone
from rag_rule_explainer.instrumentation.clients.recognising import recognised
from rag_rule_explainer.instrumentation.searches.items import ItemReading
from rag_rule_explainer.instrumentation.searches.of_functions import FunctionShape

HITS = [{"id": 1, "title": "one", "content": "first"}, {"id": 2, "title": "two", "content": "second"}]
MATCHES: list[dict[str, Any]] = [
    {"id": "a", "score": 0.9, "values": [], "metadata": {"text": "first", "page": 3}},
    {"id": "b", "score": 0.8, "values": [], "metadata": {"text": "second", "page": 4}},
]
FOUND = {"hits": HITS, "query": "q", "estimatedTotalHits": 7, "facetDistribution": {"tag": {"x": 2}}}
SEVERAL = {"results": [{"indexUid": "i", **FOUND}, {"indexUid": "j", "hits": HITS[:1], "query": "r"}]}
SPACE: dict[str, Any] = {"matches": MATCHES, "namespace": "", "usage": {"read_units": 5}}


@pytest.mark.parametrize(
    ("response", "client", "told"),
    [
        (SPACE, pinecone, [("first", "a"), ("second", "b")]),
        (
            SimpleNamespace(
                matches=[SimpleNamespace(**each) for each in MATCHES], namespace="", usage=None
            ),
            pinecone,
            [("first", "a"), ("second", "b")],
        ),
        ({"matches": [], "namespace": ""}, pinecone, []),
        (FOUND, meilisearch, [("first", "1"), ("second", "2")]),
        ({"hits": [], "query": "q"}, meilisearch, []),
        (SEVERAL, meilisearch, [("first", "1"), ("second", "2"), ("first", "1")]),
    ],
)
def test_results_of_pinecone_and_meilisearch(response: Any, client: Client, told: Any) -> None:
    before = deepcopy(response)
    assert recognised(response) is client
    found = FunctionShape().found(response)
    assert [(each.text.text, each.text.id) for each in found] == told
    form = FunctionShape().form(response)
    assert FunctionShape().result(found, form) == before
    assert FunctionShape().found(FunctionShape().result(found[1:], form)) == found[1:]
    assert response == before


def test_what_counts_the_hits_of_meilisearch_tells_of_no_omitted_one() -> None:
    found, form = FunctionShape().found(FOUND), FunctionShape().form(FOUND)
    made = FunctionShape().result(found[:1], form)
    assert made["estimatedTotalHits"] == 6
    with pytest.raises(UntrueReplay, match="facetDistribution"):
        made["facetDistribution"].items()


@pytest.mark.parametrize(
    "response",
    [
        {"records": HITS, "summary": "one, then two"},
        {"records": HITS, "tags": ["x"]},
        {"records": [], "namespace": "n", "summary": "nothing"},
        {"web": {"results": HITS}, "videos": {"results": HITS}},
        {"found": HITS, "text": "the query"},
        {"query": "q", "keywords": ["first", "second"]},
        {"query": "q", "data": {"vectors": [0.5, 0.25]}},
    ],
)
def test_a_dict_that_lists_results_is_no_document(response: Any) -> None:
    """It was one source, and its rules were proved."""
    with pytest.raises(InvalidInput, match=r"returned a dict, and it is not known.*items_of="):
        FunctionShape().found(response)


def test_a_list_of_dicts_that_list_results_is_no_list_of_documents() -> None:
    with pytest.raises(InvalidInput, match="text_of="):
        FunctionShape().found([{"records": HITS, "namespace": "n"}])


@pytest.mark.parametrize(
    "document",
    [
        {"id": "a", "text": "first", "tags": []},
        {"passage_text": "first", "tags": ["x"]},
        {"text": "first", "metadata": {"links": [{"to": "b"}]}},
    ],
)
def test_a_single_document_is_one(document: Any) -> None:
    assert [each.text.text for each in FunctionShape().found(document)] == ["first"]


def test_a_response_that_faiss_does_not_know_is_told_in_short() -> None:
    texts = [f"the secret text number {number}" for number in range(5000)]
    with pytest.raises(InvalidInput, match="does not know") as refused:
        ItemReading(faiss(texts)).parts((1, 2))
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    ("items_of", "told"),
    [
        (
            ItemsOf(lambda found: "\n".join(found["texts"]), lambda found, kept: {"texts": kept}),
            r"take_apart.*returned a str; have it return a list of items",
        ),
        (
            ItemsOf(lambda found: found, lambda found, kept: {"texts": kept}),
            r"take_apart.*returned a dict; have it return a list of items",
        ),
        (
            ItemsOf(lambda found: found["texts"], lambda found, kept: {"texts": [*kept, "more"]}),
            r"put_together.*with 1 of the 2 items, and take_apart finds 2",
        ),
        (
            ItemsOf(lambda found: found["texts"], lambda found, kept: found),
            r"put_together.*with 1 of the 2 items, and take_apart finds 2",
        ),
    ],
)
def test_functions_that_do_not_fit_each_other_are_refused_at_once(items_of: Any, told: str) -> None:
    """Replays showed single letters, or what they omit, and the message spoke of shared state."""
    with pytest.raises(InvalidInput, match=told):
        ItemReading(items_of).parts({"texts": ["first", "second"]})


LISTINGS: list[dict[str, Any]] = [
    {"web": {"results": HITS, "total": 2}, "type": "search"},
    {"records": HITS, "namespace": ""},
    {"hits": HITS, "total": 2, "query": "q"},
    {"query": "q", "passages": ["first", "second"], "count": 2},
]


def texts_in(response: Any) -> list[str]:
    return [each.text.text for each in FunctionShape().found(response)]


@pytest.mark.parametrize("response", LISTINGS)
def test_a_dict_with_one_list_of_results_is_taken_apart(response: dict[str, Any]) -> None:
    before, form = deepcopy(response), FunctionShape().form(response)
    found = FunctionShape().found(response)
    assert texts_in(response) == ["first", "second"]
    assert FunctionShape().result(found, form) == response == before
    made = FunctionShape().result(found[1:], form)
    assert texts_in(made) == ["second"]
    assert {made.get("total"), made.get("count")} <= {None, 1}
    assert made.keys() == response.keys()
    assert "first" not in str(FunctionShape().result([], form))


def mcp(text: str, structured: Any) -> Any:
    block = SimpleNamespace(type="text", text=text)
    return SimpleNamespace(content=[block], structuredContent=structured, isError=False)


def nothing(value: Any) -> Any:
    return None


def as_result(value: Any) -> Any:
    return {"result": value}


def same(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    "value", [*LISTINGS, HITS], ids=["nested", "records", "hits", "passages", "list"]
)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("structure", [nothing, as_result, same])
def test_json_of_several_results_is_written_again_with_fewer(
    value: Any, indent: int | None, structure: Any
) -> None:
    if isinstance(value, list) and structure is same:
        return  # structured content is always an object
    response = mcp(dumps(value, indent=indent), structure(value))
    found, form = FunctionShape().found(response), FunctionShape().form(response)
    assert [each.text.text for each in found] == ["first", "second"]
    whole = FunctionShape().result(found, form)
    assert (whole.content[0].text, whole.structuredContent) == (
        response.content[0].text,
        structure(value),
    )
    made = FunctionShape().result(found[1:], form)
    assert "second" in made.content[0].text
    assert "first" not in made.content[0].text + str(made.structuredContent)
    assert texts_in(made) == ["second"]
    if made.structuredContent is not None:
        told = loads(made.content[0].text)
        assert made.structuredContent == structure(told)
    none = FunctionShape().result([], form)
    assert "first" not in str(none)


def test_a_search_that_returns_json_text_is_taken_apart() -> None:
    response = dumps({"results": [{"content": "first"}, {"content": "zwölf"}]}, ensure_ascii=False)
    found, form = FunctionShape().found(response), FunctionShape().form(response)
    assert [each.text.text for each in found] == ["first", "zwölf"]
    assert FunctionShape().result(found[1:], form) == '{"results": [{"content": "zwölf"}]}'


@pytest.mark.parametrize(
    "text",
    [
        dumps(HITS)[:-1] + " ]",
        dumps({"hits": HITS, "advice": "take the first"}),
        '{"a": {"passages": ["x"]}, "b": 1.5}',
    ],
)
@pytest.mark.parametrize("structured", [None, {"result": "..."}])
def test_json_that_cannot_be_written_again_is_refused_by_name(text: str, structured: Any) -> None:
    """It was one source, and its rules were proved."""
    with pytest.raises(InvalidInput, match=r"lists several results.*items_of="):
        FunctionShape().found(mcp(text, structured))


def test_structured_content_that_says_something_else_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"lists several results.*items_of="):
        FunctionShape().found(mcp(dumps(HITS), {"result": "..."}))


@pytest.mark.parametrize(
    ("beside", "after"),
    [
        ({"total": 2, "page_size": 2, "took": 2}, {"total": 1, "page_size": 2, "took": 2}),
        ({"totalHits": 120, "top_k": 2}, {"totalHits": 119, "top_k": 2}),
    ],
)
def test_only_numbers_that_count_the_results_are_reduced(
    beside: dict[str, int], after: dict[str, int]
) -> None:
    response = {"records": HITS, **beside}
    found, form = FunctionShape().found(response), FunctionShape().form(response)
    assert FunctionShape().result(found[1:], form) == {"records": HITS[1:], **after}


def test_a_number_that_may_be_a_score_of_a_result_is_refused() -> None:
    with pytest.raises(InvalidInput, match="items_of="):
        FunctionShape().found({"records": HITS, "max_score": 0.9})


def test_messages_are_one_document() -> None:
    chat = dumps([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}])
    assert texts_in(chat) == [chat]


@pytest.mark.parametrize("text", [f"{dumps(HITS)}\n", f" {dumps(HITS, indent=2)}"])
def test_json_text_keeps_what_stands_around_it(text: str) -> None:
    found, form = FunctionShape().found(text), FunctionShape().form(text)
    assert FunctionShape().result(found, form) == text
    assert FunctionShape().result(found[:1], form).strip() != text.strip()


@pytest.mark.parametrize("text", [dumps(HITS, indent=8), dumps(HITS).replace(": 1", ": 1e0")])
def test_json_text_that_cannot_be_written_again_is_refused_and_its_way_out_works(text: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"JSON text that lists several.*is one document, .*text_of=str"
    ):
        FunctionShape().found(text)
    as_one = ItemsOf(lambda text: [text], lambda text, kept: kept[0] if kept else "")
    ((read, _),) = ItemReading(as_one).parts(text) or []
    assert read.text == text
    assert [each.text.text for each in FunctionShape(ItemReading(text_of=str)).found(text)] == [text]


@pytest.mark.parametrize("text", ["[]", dumps({"hits": [], "total": 0, "query": "q"})])
def test_json_text_without_results_is_no_source(text: str) -> None:
    assert FunctionShape().found(text) == []
    assert FunctionShape().found(mcp(text, None)) == []


def test_blocks_beside_content_that_tells_more_are_refused() -> None:
    prose, listed = SimpleNamespace(type="text", text="2 found"), {"hits": HITS, "total": 2}
    both = [SimpleNamespace(type="text", text=each["content"]) for each in HITS]
    for blocks, structured in (
        ([prose], listed),
        (both, {**listed, "best": "take the first"}),
        ([prose, SimpleNamespace(type="text", text=dumps(HITS))], None),
    ):
        response = SimpleNamespace(content=blocks, structuredContent=structured, isError=False)
        with pytest.raises(InvalidInput, match="items_of="):
            FunctionShape().found(response)


def test_results_of_mcp_as_dicts_are_cut_alike() -> None:
    blocks = [{"type": "text", "text": each["content"]} for each in HITS]
    response = {"content": blocks, "isError": False}
    found, form = FunctionShape().found(response), FunctionShape().form(response)
    assert FunctionShape().result(found[1:], form) == {"content": blocks[1:], "isError": False}
