"""What is read as a citation, out of what providers and frameworks return."""

from dataclasses import dataclass, field
from time import thread_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CitationBlock, TextBlock
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.schema import TextNode
from openai.types.chat import ChatCompletion
from openai.types.responses import Response as OpenAIResponse

from rag_rule_explainer import Source
from rag_rule_explainer.citations import ReadCitation
from rag_rule_explainer.citations.pieces import pieces_with_marks
from rag_rule_explainer.citations.reading import CitableSources, CitationReading, read_citations
from rag_rule_explainer.predicates import mark_places
from rag_rule_explainer.predicates.mark_places import places_of_marks
from rag_rule_explainer.predicates.without_marks import without_marks
from tests.drawing import examples
from tests.integrations.llama_index.engines import Counting

HOURS, SIX = "https://clinic.example/hours", "Treatment lasts six weeks."
SOURCES = (
    Source("D1", "The clinic opens at nine.", {"source": HOURS, "title": "Hours"}),
    Source("D2", SIX, {"file_name": "guides/guideline.pdf", "file_id": "file-2"}),
    Source("D3", "Five pills are taken a day.", {"title": "Pills"}),
    Source("D4", "Five pills are taken a day.", {"title": "Pills, a copy"}),
)
SHOWN = CitableSources(SOURCES)
PILLS = SOURCES[2].text


def cited(
    output: Any, reading: CitationReading = None, shown: CitableSources = SHOWN
) -> list[str | None]:
    return [each.source for each in read_citations(output, shown, reading).citations]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So [1].", ["D1"]),
        ("So [1][3], and [2-4].", ["D1", "D3", "D2", "D3", "D4"]),
        ("So [D2], (D3) and 【4】.", ["D2", "D3", "D4"]),
        ("So (Source 2) and (sources 1 and 3).", ["D2", "D1", "D3"]),
        ("So [9] and [D77].", [None, None]),
        ("So [^1] and [^2].\n\n[^1]: guideline.pdf\n[^2]: Hours, 2021", ["D2", "D1"]),
        ("So [1].\n\n## References\n1. https://clinic.example/hours\n2. Pills", ["D1"]),
        ("So [1] and [2].\n\nSources:\n[1] Treatment lasts six weeks.\n[2] Hours", ["D2", "D1"]),
        ("So [sic], in (1889), of arr[i].", []),
    ],
)
def test_text(text: str, expected: list[str | None]) -> None:
    assert cited(text) == expected


def test_a_pattern_and_a_function_of_ones_own() -> None:
    assert cited("So {{2}} and {{guideline.pdf}} [1].", r"\{\{(.+?)\}\}") == ["D2", "D2"]
    assert cited("As stated in Document[3].", r"Document\[(\d+)\]") == ["D3"]
    assert cited("any", lambda output, ids: [ids[-1], "D9"]) == ["D4", None]
    own = ReadCitation("here", "D1", 0, 3)
    assert read_citations("any", SHOWN, lambda output, ids: [own]).citations == (own,)
    assert cited("So [0] and [1].", None, CitableSources(SOURCES, numbers_from=0)) == ["D1", "D2"]


LOCATIONS: list[tuple[dict[str, Any], list[str | None]]] = [
    (
        {
            "type": "char_location",
            "document_index": 1,
            "document_title": None,
            "start_char_index": 0,
            "end_char_index": 9,
            "cited_text": "Treatment lasts",
        },
        ["D2"],
    ),
    (
        {
            "type": "page_location",
            "document_index": 0,
            "document_title": "guideline.pdf",
            "start_page_number": 1,
            "end_page_number": 2,
            "cited_text": "Treatment lasts",
        },
        ["D2"],
    ),
    (
        {
            "type": "content_block_location",
            "document_index": 0,
            "document_title": None,
            "start_block_index": 1,
            "end_block_index": 3,
            "cited_text": f"{SIX} {PILLS}",
        },
        ["D2", "D3"],
    ),
    (
        {
            "type": "search_result_location",
            "source": "https://clinic.example/hours",
            "title": "x",
            "search_result_index": 3,
            "start_block_index": 0,
            "end_block_index": 1,
            "cited_text": "The clinic opens",
        },
        ["D1"],
    ),
    (
        {
            "type": "web_search_result_location",
            "url": "https://clinic.example/hours",
            "title": "Hours",
            "encrypted_index": "x",
            "cited_text": "The clinic opens",
        },
        ["D1"],
    ),
    (
        {
            "type": "char_location",
            "document_index": 3,
            "document_title": None,
            "start_char_index": 0,
            "end_char_index": 9,
            "cited_text": PILLS,
        },
        ["D4"],
    ),
    (
        {
            "type": "char_location",
            "document_index": 0,
            "document_title": None,
            "start_char_index": 0,
            "end_char_index": 9,
            "cited_text": "Nothing that any of the sources says",
        },
        [None],
    ),
]


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(("location", "expected"), LOCATIONS)
def test_the_locations_of_anthropic(location: dict[str, Any], expected: list[str | None]) -> None:
    blocks = [
        {"type": "text", "text": "Know this: ", "citations": None},
        {"type": "text", "text": "six weeks.", "citations": [location]},
    ]
    usage = {"input_tokens": 1, "output_tokens": 1}
    from anthropic.types import Message  # here, since it takes a second, which every worker would spend

    message = Message.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": blocks,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
    )
    # LangChain keeps the same blocks, and has a form of its own of them.
    kept = AIMessage(content=blocks, response_metadata={"model_provider": "anthropic"})  # type: ignore[arg-type]
    for output in (message, message.model_dump(), kept, {"messages": [HumanMessage("?"), kept]}):
        reading = read_citations(output, SHOWN)
        assert [each.source for each in reading.citations] == expected
        assert reading.text == "Know this: six weeks."
        assert {(each.start, each.end) for each in reading.citations} == {(11, 21)}
    assert cited(kept.content_blocks) == expected


def test_the_annotations_of_openai() -> None:
    url = {"type": "url_citation", "url": "https://clinic.example/hours", "title": "Hours"}
    annotations = [
        {**url, "start_index": 0, "end_index": 3},
        {"type": "file_citation", "file_id": "file-2", "filename": "x.pdf", "index": 7},
        {
            "type": "container_file_citation",
            "container_id": "c",
            "file_id": "f",
            "filename": "guideline.pdf",
            "start_index": 1,
            "end_index": 2,
        },
        {"type": "file_path", "file_id": "file-2", "index": 0},
    ]
    text = {"type": "output_text", "text": "It is so.", "annotations": annotations}
    told = {
        "type": "message",
        "id": "1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    response = OpenAIResponse.model_construct(output=[{"type": "reasoning", "summary": []}, told])
    assert cited(response) == ["D1", "D2", "D2"]
    places = [(each.start, each.end) for each in read_citations(response, SHOWN).citations]
    assert places == [(0, 3), (7, 7), (1, 2)]
    inner = {key: url[key] for key in ("url", "title")} | {"start_index": 0, "end_index": 3}
    message = {
        "role": "assistant",
        "content": "It is so.",
        "annotations": [{"type": "url_citation", "url_citation": inner}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    assert cited(ChatCompletion.model_validate(body)) == ["D1"]
    of_assistants = {
        "type": "text",
        "text": {
            "value": "So 【4:0†source】.",
            "annotations": [
                {
                    "type": "file_citation",
                    "text": "【4:0†source】",
                    "start_index": 3,
                    "end_index": 15,
                    "file_citation": {"file_id": "file-2"},
                }
            ],
        },
    }
    assert "D2" in cited([of_assistants])


def test_the_annotations_of_langchain() -> None:
    annotations: list[Any] = [
        {"type": "citation", "url": "https://clinic.example/hours", "start_index": 0, "end_index": 2},
        {"type": "citation", "cited_text": SIX},
        {"type": "non_standard_annotation", "value": {"title": "Pills"}},
    ]
    message = AIMessage(content=[{"type": "text", "text": "It is so.", "annotations": annotations}])
    assert cited(message) == ["D1", "D2", "D3"]
    assert cited({"answer": message}) == ["D1", "D2", "D3"]


def test_citation_blocks_of_llama_index() -> None:
    block = CitationBlock(
        cited_content=TextBlock(text=SIX), source="unknown", title="none", additional_location_info={}
    )
    message = ChatMessage(role="assistant", blocks=[TextBlock(text="So it is."), block])
    assert cited(ChatResponse(message=message)) == ["D2"]
    assert read_citations(message, SHOWN).text == "So it is."


def test_the_citation_query_engine_numbers_chunks() -> None:
    long = Source("long", " ".join(f"Sentence number {place} is here." for place in range(80)))
    short = Source("short", "Treatment lasts six weeks.")
    nodes = [TextNode(id_=each.id, text=each.text) for each in (long, short)]
    engines: Any = CitationQueryEngine
    engine = engines.from_args(
        None,
        llm=MockLLM(max_tokens=3),
        retriever=Counting(nodes),
        citation_chunk_size=64,
        citation_chunk_overlap=0,
    )
    response = engine.query("?")
    last = len(response.source_nodes)
    assert last > 3
    response.response = f"So [1], so [{last - 1}], so [{last}], so [{last + 1}]."
    shown = CitableSources((long, short))
    assert cited(response, shown=shown) == ["long", "long", "short", None]


def test_structured_outputs_and_answers_of_haystack() -> None:
    assert cited({"answer": "So.", "citations": [1, 3]}) == ["D1", "D3"]
    assert cited({"answer": "So.", "citations": [{"source_id": 2, "quote": "x"}]}) == ["D2"]
    assert cited({"answer": "So.", "citations": ["D4", "D9", True, 2.5]}) == ["D4", None]

    @dataclass
    class GeneratedAnswer:
        data: str
        query: str = "?"
        documents: list[Any] = field(default_factory=list[Any])
        meta: dict[str, Any] = field(default_factory=dict[str, Any])

    assert cited({"answers": [GeneratedAnswer("So [2].")]}) == ["D2"]
    assert cited(GeneratedAnswer("So <3>."), r"<(\d+)>") == ["D3"]


texts = st.text(st.sampled_from("D12 [](),;-^:.\n†【】source#*"), max_size=80)


@settings(max_examples=examples(500))
@given(texts)
def test_whatever_is_written_is_read_and_removed_once(text: str) -> None:
    reading = read_citations(text, SHOWN)
    for each in reading.citations:
        assert each.start is not None
        assert each.end is not None
        assert text[each.start : each.end]
        assert (each.source is None) == bool(each.why)
    bare = without_marks(text, SHOWN.ids, SHOWN.known)
    assert len(bare) <= len(text)


@settings(max_examples=examples(300))
@given(
    st.recursive(
        st.none() | st.text(max_size=9) | st.integers() | st.booleans(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["text", "type", "content", "citations", "annotations", "answer", "messages"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_output_is_too_strange(output: Any) -> None:
    assert read_citations(output, SHOWN).text is not None


HOSTILE = (
    "[",
    "[1",
    "[1]",
    "[1] (",
    "([1], ",
    "<a>[1]",
    "(source 1, ",
    "sources:\n",
    "a\n",
    "```\n[1]\n",
    "[^1]: x\n",
    "1) ",
    "@D1 ",
    "<sup>1",
    "¹,",
    "$1",
    "`x` ",
    "~~~\n",
    "    x = 1\n",
    "Based on: D1, ",
    "Based on: D1\n",
    "\\cite{D1}",
    "[1]–",
    "sources 1 to 2 and ",
    "source ",
    "(see and ",
    "[1], p. 3 ",
    "[1](a",
    "[1, p. 3; ",
    "<li>",
    "«[1] ",
    "documents:\n1. ",
    "# a\n[1] x\n\n",
    "(source 1) (source 2). ",
)


@pytest.mark.spread(fast=10, slow=2)
@pytest.mark.parametrize("piece", HOSTILE)
def test_the_time_grows_with_the_length_alone(piece: str) -> None:
    """Four times the text takes four times as long, and not sixteen times: by the thread's clock. A busy
    machine makes that slower too, so what took too long is measured up to four times more."""

    def took(times: int) -> float:
        text, begun = piece * times, thread_time()
        read_citations(text, SHOWN)
        without_marks(text, SHOWN.ids, SHOWN.known)
        list(pieces_with_marks(text, [(0, len(text))], places_of_marks(text, SHOWN.known)))
        return thread_time() - begun

    took(20)  # patterns are compiled, and nothing is measured of that
    short, long = took(2000), took(8000)
    for _ in range(4):
        if long < 9 * short + 0.01:
            break
        short, long = min(short, took(2000)), min(long, took(8000))
    assert long < 9 * short + 0.01


def test_a_pattern_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mark_places, "_LONGEST_SEARCH", 0.1)  # users wait five seconds
    with pytest.raises(TimeoutError):
        read_citations("a" * 40 + "b", SHOWN, r"(a|aa)+$")


@pytest.mark.parametrize("entry", [1, "1", "[1]", "(1)", " [1] ", "【1】"])
def test_an_entry_of_a_list_may_be_the_mark_itself(entry: Any) -> None:
    assert cited({"answer": "So.", "citations": [entry]}) == ["D1"]
