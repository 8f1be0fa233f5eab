"""Requests of several queries, requests that are made anew, documents that are brought, and rows."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from rag_rule_explainer import InvalidInput, UnknownQuery
from rag_rule_explainer.instrumentation.clients import chroma, pgvector, qdrant
from tests.integrations.known import TEXTS, blames_b_and_d, ids
from tests.integrations.langchain.models import facts
from tests.integrations.raw.applications import FRAMEWORKS, GATES, aexplained, explained
from tests.postgres import private_server

pytestmark = pytest.mark.filterwarnings("ignore")


FOUND = {"first": "abd", "second": "cd", "third": "bd"}


class Collection:
    """Answers several queries in one request, as Chroma does."""

    def __init__(self) -> None:
        self.requests: list[list[str]] = []

    def query(self, query_texts: list[str]) -> dict[str, Any]:
        self.requests.append(query_texts)
        found = [FOUND[each] for each in query_texts]
        return {
            "ids": [list(names) for names in found],
            "documents": [[TEXTS[name] for name in names] for names in found],
            "distances": [[n / 10 for n in range(len(names))] for names in found],
            "metadatas": None,
        }


def of_all(found: Any) -> list[str]:
    return list(dict.fromkeys(text for row in found["documents"] for text in row))


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_each_query_of_a_request_has_its_own_documents_left(framework: str) -> None:
    collection = Collection()
    query = GATES[framework](collection.query)
    rows: list[tuple[str, ...]] = []

    def shown(found: Any) -> list[str]:
        rows.append(tuple("".join(row) for row in found["ids"]))
        assert [len(row) for row in found["ids"]] == [len(row) for row in found["distances"]]
        assert [[TEXTS[name] for name in row] for row in found["ids"]] == found["documents"]
        return of_all(found)

    explanation = explained(framework, lambda _: query(query_texts=["first", "second"]), shown)
    assert blames_b_and_d(explanation)
    assert sorted(ids(explanation)) == list(TEXTS)
    # d was found by both.
    assert rows[0] == ("abd", "cd")
    assert {("", ""), ("d", "d"), ("abd", "d"), ("ab", "c")} & set(rows) >= {("", ""), ("d", "d")}
    assert collection.requests == [["first", "second"]]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_new_request_is_served_all_that_is_kept_unless_it_has_several_queries(framework: str) -> None:
    collection = Collection()
    query = GATES[framework](collection.query, items_of=chroma)

    def anew(first: list[str]) -> Any:
        def search(_: str) -> Any:
            found = query(query_texts=first)
            missing = sum(map(len, found["ids"])) < sum(len(FOUND[each]) for each in first)
            return query(query_texts=["third"]) if missing else found

        return search

    explanation = explained(framework, anew(["first"]), of_all)
    assert blames_b_and_d(explanation)
    assert any("never searched for" in each for each in explanation.warnings)
    with pytest.raises(UnknownQuery, match="a request of several queries that the baseline never made"):
        explained(framework, anew(["first", "second"]), of_all)
    filtered = explained(framework, anew(["first", "second"]), of_all, on_new_query="filter")
    assert filtered.ended


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_documents_need_a_response_to_be_put_into_and_an_item_to_become(framework: str) -> None:
    def points(names: str) -> Any:
        return SimpleNamespace(points=[item(SimpleNamespace(id=n, text=TEXTS[n])) for n in names])

    def item(document: Any) -> Any:
        named = getattr(document, "node_id", None) or document.id
        return SimpleNamespace(
            id=named, payload={"text": getattr(document, "page_content", None) or document.text}
        )

    def shown(found: Any) -> list[str]:
        return [each.payload["text"] for each in found.points]

    brought = [{"id": each.id, "text": each.page_content} for each in facts("bd")]
    search = GATES[framework](lambda _: points("ac"), items_of=qdrant)
    explainer: Any = {"add_documents": brought}
    with pytest.raises(InvalidInput, match=r"gate\(search, item_of="):
        explained(framework, search, shown, explain=explainer)
    with pytest.raises(InvalidInput, match="add_documents= instead of documents="):
        explained(framework, search, shown, explain={"documents": brought})
    search = GATES[framework](lambda _: points("ac"), items_of=qdrant, item_of=item)
    explanation = explained(framework, search, shown, explain=explainer)
    assert blames_b_and_d(explanation)
    assert sorted(ids(explanation)) == list(TEXTS)


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_plain_function_that_returns_a_coroutine(framework: str) -> None:
    """It is made anew in every run, so that no gate knows more than its code."""

    async def search(question: str) -> list[str]:
        await asyncio.sleep(0)
        return list(TEXTS.values())

    async def asked(question: str) -> list[str]:
        return await GATES[framework](lambda q: search(q))(question)

    explanation = await aexplained(framework, asked, list)
    (rule,) = explanation.retention_rules
    assert explanation.ended
    assert {s.text for s in explanation.sources if s.id in rule.sources} == {TEXTS["b"], TEXTS["d"]}


STATEMENT = "SELECT id, title, content, embedding FROM facts ORDER BY embedding"


def check_rows(engine: sa.Engine, kind: str, embeddings: Sequence[Any]) -> None:
    """By SQLAlchemy and by the driver itself; the order is what pgvector would have it be."""
    with engine.begin() as connection:
        connection.execute(
            sa.text(f"CREATE TABLE facts (id text, title text, content text, embedding {kind})")
        )
        for (name, text), embedding in zip(TEXTS.items(), embeddings, strict=True):
            values = {"id": name, "title": "A fact", "content": text, "embedding": embedding}
            connection.execute(
                sa.text("INSERT INTO facts VALUES (:id, :title, :content, :embedding)"), values
            )

    def rows(_: str) -> Any:
        with engine.connect() as connection:
            return connection.execute(sa.text(STATEMENT)).all()

    def tuples(_: str) -> Any:
        connection = engine.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(STATEMENT)
            return cursor.fetchall()
        finally:
            connection.close()

    for framework in FRAMEWORKS:
        named = GATES[framework](rows, items_of=pgvector(text="content", id="id"))
        by_place = GATES[framework](tuples, items_of=pgvector(text=2, id=0))
        recognised = GATES[framework](rows)
        for search in (named, by_place, recognised):
            explanation = explained(framework, search, lambda found: [row[2] for row in found])
            assert blames_b_and_d(explanation)
            assert sorted(ids(explanation)) == list(TEXTS)
    engine.dispose()


def test_rows_of_a_database() -> None:
    """A vector comes as a text where the driver does not know it."""
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    check_rows(engine, "text", [f"[1.0, {place}]" for place in range(len(TEXTS))])


@pytest.mark.slow
def test_rows_of_postgresql() -> None:
    with private_server() as server:
        engine = sa.create_engine(server.url(scheme="postgresql+pg8000"))
        check_rows(engine, "float8[]", [[1.0, place] for place in range(len(TEXTS))])
