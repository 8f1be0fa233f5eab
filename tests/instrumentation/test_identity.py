"""Which retrieved text is which source."""

from collections.abc import Callable
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.searches.identity import RetrievedText, sources_of

UUID = "7b1f6a70-3f0b-4d5c-9e0a-0c1d2e3f4a5b"
texts = st.text("abc \ud800", max_size=4)
retrieved = st.builds(
    RetrievedText,
    texts,
    st.none() | st.sampled_from(["", " ", "x", "y", UUID, "\ud800"]),
    st.dictionaries(
        st.sampled_from(["source", "title", "score", "k"]), st.none() | texts | st.floats(), max_size=2
    ),
    st.none() | st.sampled_from(["whole", UUID]),
)


def named(*texts: RetrievedText) -> list[str]:
    return [source.id for source in sources_of([texts])[0]]


@given(st.lists(st.lists(retrieved, max_size=6), max_size=4))
def test_every_text_has_a_source_and_different_texts_different_ones(
    batches: list[list[RetrievedText]],
) -> None:
    found = sources_of(batches)
    assert [len(batch) for batch in found] == [len(batch) for batch in batches]
    known: dict[str, str] = {}
    for sources, batch in zip(found, batches, strict=True):
        for source, text in zip(sources, batch, strict=True):
            assert source.text == text.text
            assert known.setdefault(source.id, text.text) == text.text


@given(st.lists(retrieved, max_size=5))
def test_the_same_retrieval_again_adds_no_source(batch: list[RetrievedText]) -> None:
    once, again = sources_of([batch, batch])
    assert [source.id for source in once] == [source.id for source in again]


def test_an_id_names_a_source_unless_a_framework_made_it_up() -> None:
    assert named(RetrievedText("a", "guide", {"title": "Guide"})) == ["guide"]
    assert named(RetrievedText("a", UUID, {"title": "Guide"})) == ["Guide"]
    assert named(RetrievedText("a", UUID, {"file_name": "a.pdf"}, "manual")) == ["manual"]
    assert named(RetrievedText("a", UUID, {"file_name": "a.pdf"}, UUID.replace("7", "8"))) == ["a.pdf"]
    assert named(RetrievedText("a", UUID))[0].startswith("doc-")
    assert named(RetrievedText("a"))[0].startswith("doc-")


def test_ids_that_are_made_anew_at_each_call_change_no_name() -> None:
    def a_call(made_up: Callable[[], str]) -> list[str]:
        guide = {"title": "Guide"}
        return named(
            *(RetrievedText(text, made_up(), told) for text in "aabc" for told in ({}, guide)),
            RetrievedText("whole", made_up(), {}, made_up()),
        )

    for made_up in (lambda: str(uuid4()), lambda: uuid4().hex, lambda: f"lc_{uuid4()}"):
        names = a_call(made_up)
        assert names == a_call(made_up)
        assert len(set(names)) == 9


def test_chunks_of_one_whole_are_told_apart_by_what_they_say() -> None:
    chunks = [RetrievedText(f"chunk {n}", UUID.replace("7", str(n)), {}, "manual") for n in range(5)]
    names = named(*chunks)
    assert len(set(names)) == 5
    assert all(name.startswith("manual#") for name in names)


def test_rows_that_differ_in_a_number_alone_are_two() -> None:
    """They were one source, and the row with the other price was never left out."""

    def rows(*prices: float) -> list[RetrievedText]:
        return [RetrievedText("Blue Widget", None, {"price": price}) for price in prices]

    assert len(set(named(*rows(9.99, 19.99)))) == 2
    assert len(set(named(*rows(9.99, 9.99)))) == 1
    first, again, one = sources_of([rows(9.99, 19.99), rows(19.99, 9.99), rows(19.99)])
    assert [source.metadata["price"] for source in first] == [9.99, 19.99]
    assert again == first[::-1]
    assert one == first[1:]


def test_other_scores_at_the_next_call_are_the_same_sources() -> None:
    def chunks(*scores: float) -> list[RetrievedText]:
        return [RetrievedText("Blue Widget", None, {"score": score}) for score in scores]

    first, again, one = sources_of([chunks(0.9, 0.8), chunks(0.7, 0.6), chunks(0.5)])
    assert len({source.id for source in first}) == 2
    assert again == first
    assert one == first[:1]
