"""Which document is which source."""

import threading
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.finding import documents_found, identify

from rag_rule_explainer import Explanation, Source
from rag_rule_explainer.instrumentation.copies.copying import copied
from tests.integrations.known import BAD, ids, retention
from tests.integrations.langchain.chains import Counting, Scripted, bad_with, step


def sources_of(batches: Sequence[Sequence[Document]]) -> Sequence[Sequence[Source]]:
    return identify([documents_found(batch) for batch in batches])


def explained(*documents: Document, spoilers: Sequence[str] = ("two",)) -> Explanation:
    chain = Counting(documents=list(documents)) | bad_with(*spoilers)
    return RuleExplainer(chain, predicate=BAD).explain("?")


def test_documents_without_ids_are_named_by_their_content() -> None:
    explanation = explained(Document("one"), Document("two"))
    assert len(set(ids(explanation))) == 2
    assert retention(explanation) == {frozenset({ids(explanation)[1]})}
    again = explained(Document("two"), Document("one"))
    assert ids(again) == ids(explanation)[::-1]


def test_metadata_that_names_a_document_names_its_source() -> None:
    explanation = explained(
        Document("one", metadata={"source": "a.pdf", "title": "A"}),
        Document("two", metadata={"title": "B"}),
        Document("three", metadata={"source": "  "}),
    )
    assert ids(explanation)[:2] == ["a.pdf", "B"]
    assert retention(explanation) == {frozenset({"B"})}


def test_an_id_that_a_store_made_up_names_no_source() -> None:
    made_up = "7b1f6a70-3f0b-4d5c-9e0a-0c1d2e3f4a5b"
    explanation = explained(
        Document("one", id=made_up, metadata={"source": "a.pdf"}), Document("two", id="2")
    )
    assert ids(explanation)[0] == "a.pdf"
    unnamed = explained(Document("one", id=made_up), Document("two", id="2")).sources[0].id
    assert unnamed.startswith("doc-")


def test_chunks_of_one_file_are_told_apart() -> None:
    chunks = [Document(f"chunk {n}", metadata={"source": "a.pdf"}) for n in range(5)]
    explanation = explained(*chunks, spoilers=("chunk 3",))
    assert len(set(ids(explanation))) == 5
    assert all(identity.startswith("a.pdf#") for identity in ids(explanation))
    assert retention(explanation) == {frozenset({ids(explanation)[3]})}


def test_documents_whose_hashes_begin_alike_are_still_told_apart() -> None:
    # Among so many chunks of one file, some hashes share their first four digits.
    chunks = [Document(f"chunk {n}", metadata={"source": "a.pdf"}) for n in range(2000)]
    assert len({source.id for source in sources_of([chunks])[0]}) == 2000


def test_no_document_can_take_the_name_of_another_one() -> None:
    chunks = [Document("one", metadata={"source": "a"}), Document("two", metadata={"source": "a"})]
    for _ in range(5):
        taken = [Document("three", id=source.id) for source in sources_of([chunks])[0][:2]]
        chunks += taken
        assert len({source.id for source in sources_of([chunks])[0]}) == len(chunks)


def test_a_document_that_is_retrieved_twice_is_one_source() -> None:
    explanation = explained(
        Document("one", metadata={"source": "a", "page": 1}),
        Document("two", id="2"),
        Document("one", metadata={"page": 1, "source": "a"}),
        Document("two", id="2", metadata={"score": 0.3}),
    )
    assert ids(explanation) == ["a", "2"]
    assert retention(explanation) == {frozenset({"2"})}


def test_another_text_under_the_same_id_is_another_source() -> None:
    explanation = explained(Document("one", id="x"), Document("two", id="x"))
    assert len(set(ids(explanation))) == 2
    assert [source.text for source in explanation.sources] == ["one", "two"]
    assert retention(explanation) == {frozenset({ids(explanation)[1]})}


def test_metadata_of_any_kind_is_no_obstacle() -> None:
    circle: dict[Any, Any] = {"source": "\ud800", 1: object(), "page": {1: "a", "b": 2}}
    circle |= {"itself": circle, "score": 10**400, "relevance": float("nan")}
    explanation = explained(Document("one", metadata=circle), Document("two", id="2", metadata=circle))
    assert retention(explanation) == {frozenset({"2"})}
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


def test_a_chain_may_do_to_its_documents_what_it_likes() -> None:
    def found(_: str) -> list[Document]:
        return [Document("one", id="1"), Document("two", id="2")]

    def numbered(documents: list[Document]) -> list[Document]:
        for place, document in enumerate(documents, start=1):
            document.page_content = f"[{place}] {document.page_content}"
            document.metadata["place"] = place
        return documents

    def answer(documents: list[Document]) -> str:
        return " ".join(f"{each.page_content} at {each.metadata['place']}" for each in documents)

    chain = Scripted(script=found) | step(numbered) | step(answer)
    explanation = RuleExplainer(chain, miner="exhaustive").explain("?")
    assert [source.text for source in explanation.sources] == ["one", "two"]
    assert {probe.kept: probe.answers[0].text for probe in explanation.probes} == {
        ("1", "2"): "[1] one at 1 [2] two at 2",
        ("1",): "[1] one at 1",
        ("2",): "[1] two at 1",
        (): "",
    }


def test_what_a_chain_does_deep_inside_metadata_reaches_no_other_replay() -> None:
    def tagging(documents: list[Document]) -> str:
        for document in documents:
            document.metadata["tags"].append("seen")
        return str(sorted(len(document.metadata["tags"]) for document in documents))

    documents = [Document(id=name, page_content=name, metadata={"tags": []}) for name in "ab"]
    explanation = RuleExplainer(Counting(documents=documents) | step(tagging)).explain("?")
    by_kept = {probe.kept: probe.answers[0].text for probe in explanation.probes}
    assert by_kept == {("a", "b"): "[1, 1]", ("a",): "[1]", ("b",): "[1]", (): "[]"}


def test_what_cannot_be_copied_deeply_is_copied_as_far_as_it_goes() -> None:
    lock = threading.Lock()
    given = {"lock": lock, "messages": ["first"]}
    twin = copied(given)
    twin["more"] = True
    assert twin["lock"] is lock
    assert "more" not in given
