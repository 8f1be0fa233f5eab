"""Searches in two stages: what no model saw decides what it is shown, and it is said what to gate."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import Document, SummaryIndex
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_rag_rule_explainer import RuleExplainer, gate

from rag_rule_explainer import (
    AnswerNotRepeatable,
    Explanation,
    SourceLeak,
    UnknownQuery,
    UnseenSourcesNeeded,
    same_answer,
)
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, ids, omission, retention
from tests.integrations.llama_index.engines import Counting
from tests.integrations.llama_index.models import Telling, nodes

OVERVIEW = TextNode(
    id_="overview",
    text="This page is shown to no model at all, but says where else it is worth to look.",
    metadata={"file_name": "overview.pdf", "sources": "a, b, c, d"},
)


class Overview(Counting):
    """Finds the page that says where to look."""


class Pages(Counting):
    """Finds the pages themselves."""


class Named(Pages):
    """Finds the pages that a page names in its metadata."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            each for each in super()._retrieve(query_bundle) if each.node_id in query_bundle.query_str
        ]


Search = Callable[[str], list[NodeWithScore]]


def shown(found: list[NodeWithScore]) -> str:
    return "\n\n".join(each.text for each in found) or "nothing"


def asking(search: Search, model: Telling | None = None) -> Any:
    llm = model or Telling()
    return lambda question: str(llm.complete(shown(search(question))))


def explained(app: Any, **parameters: Any) -> Explanation:
    settings: dict[str, Any] = {"predicate": BAD, **parameters}
    return RuleExplainer(app, **settings).explain("why?")


def test_a_search_that_steers_another_one_names_the_function_that_makes_both() -> None:
    overview, pages = Overview([OVERVIEW]), Pages(nodes("abcd"))

    def look_up(question: str) -> list[NodeWithScore]:
        return pages.retrieve(question) if overview.retrieve(question) else []

    with pytest.raises(UnseenSourcesNeeded) as caught:
        explained(asking(look_up))
    told = str(caught.value)
    assert told.startswith("overview was retrieved by Overview and shown to no model")
    assert "it steers what Pages finds" in told
    assert 'Pass scope="retrieved", or wrap the function that makes both searches in gate(...)' in told
    assert "look_up() (test_stages.py, line " in told
    assert blames_b_and_d(explained(asking(gate(look_up))))
    assert "overview" in ids(explained(asking(look_up), scope="retrieved"))


def test_a_search_in_words_of_another_ones_metadata_is_served_what_is_kept() -> None:
    """Without the overview it asks for nothing, which the baseline never did."""
    overview, pages = Overview([OVERVIEW]), Named(nodes("abcd"))

    def look_up(question: str) -> list[NodeWithScore]:
        wanted = [each.metadata["sources"] for each in overview.retrieve(question)]
        return pages.retrieve(", ".join(wanted))

    explanation = explained(asking(look_up))
    assert blames_b_and_d(explanation)
    assert [each.id for each in explanation.held_out] == ["overview"]
    assert blames_b_and_d(explained(asking(gate(look_up))))
    # Where a new query is no baseline's, it is told which one.
    with pytest.raises(UnknownQuery):
        explained(asking(look_up), on_new_query="error")


def test_a_document_that_only_decides_what_becomes_of_the_answer_is_not_the_models_fault() -> None:
    """The repeat check fails: the model is asked just the same, and says just the same."""
    overview, pages, model = Overview([OVERVIEW]), Pages(nodes("abcd")), Telling()

    def citing(question: str) -> str:
        found = pages.retrieve(question)
        said = str(model.complete(shown(found)))
        named = [each.node_id for each in (*found, *overview.retrieve(question))]
        return f"{said} ({', '.join(named)})"

    with pytest.raises(UnseenSourcesNeeded) as caught:
        explained(citing, predicate=same_answer())
    told = str(caught.value)
    assert "(a, b, c, d, overview)' before, and twice" in told
    assert "it decides what becomes of the answer" in told
    assert "citing() (test_stages.py, line " in told
    # Where nothing is left to look into it, it is still no rule.
    with pytest.raises(AnswerNotRepeatable):
        explained(citing, predicate=same_answer(), limits=2)


def test_where_the_model_is_at_fault_as_well_it_is_said_so() -> None:
    overview, pages, turns = Overview([OVERVIEW]), Pages(nodes("abcd")), list[int]()

    def says(_: str) -> str:
        turns.append(1)
        return f"answer number {len(turns)}"

    def search(question: str) -> list[NodeWithScore]:
        overview.retrieve(question)
        return pages.retrieve(question)

    with pytest.raises(AnswerNotRepeatable):
        explained(asking(search, Telling(says=says)), predicate=same_answer())


def test_pages_that_are_fetched_by_what_was_found_name_the_function_that_searches() -> None:
    """A page holds what was left out as well as what was kept."""
    whole = {name: f"{TEXTS['ab'[name in 'cd']]}\n{TEXTS['dc'[name in 'cd']]}" for name in TEXTS}
    chunks = Pages(nodes("abcd"))

    def pages_of(question: str) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(text=whole[each.node_id]), score=1.0)
            for each in chunks.retrieve(question)
        ]

    with pytest.raises(SourceLeak) as caught:
        explained(asking(pages_of))
    told = str(caught.value)
    assert "If what was found by Pages is only used to fetch something longer" in told
    assert (
        "gate the function that returns that: the search is called in pages_of() (test_stages.py" in told
    )
    assert explained(asking(gate(pages_of))).retention_rules


def test_an_async_application_names_its_coroutines() -> None:
    overview, pages, model = Overview([OVERVIEW]), Pages(nodes("abcd")), Telling()

    async def look_up(question: str) -> list[NodeWithScore]:
        return await pages.aretrieve(question) if await overview.aretrieve(question) else []

    async def answer(question: str) -> str:
        return str(await model.acomplete(shown(await look_up(question))))

    explainer = RuleExplainer(answer, predicate=BAD)
    with pytest.raises(UnseenSourcesNeeded, match=r"both are called in .*look_up\(\) \(test_stages.py"):
        asyncio.run(explainer.aexplain("why?"))


def test_short_texts_that_are_joined_into_one_document_are_no_source() -> None:
    """As in LlamaIndex's corrective RAG: more words stand across the joints than inside the texts."""
    facts = {
        "one": "The bridge to the island was closed for repairs in March.",
        "two": "Only the ferry company may carry goods while it is closed.",
        "six": "The canteen of the harbour serves fish on every Friday.",
    }
    search = Pages([TextNode(id_=name, text=text) for name, text in facts.items()])

    def says(shown: str) -> str:
        return "bad" if facts["one"] in shown and facts["two"] in shown else "good"

    def answer(question: str) -> str:
        found = "\n".join(each.get_content() for each in search.retrieve(question))
        index = SummaryIndex.from_documents([Document(text=found)])
        return str(index.as_query_engine(llm=Telling(says=says)).query(question))

    explanation = explained(answer)
    assert sorted(ids(explanation)) == ["one", "six", "two"]
    assert retention(explanation) == {frozenset({"one", "two"})}
    assert omission(explanation) == {frozenset({"one"}), frozenset({"two"})}
    assert all(rule.proved for rule in explanation.rules)
