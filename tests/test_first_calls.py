"""What users write first, and what it says: conditions, keywords, sources and gates."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_rag_rule_explainer import RuleExplainer as OfChains
from langchain_rag_rule_explainer import gate as gate_chain
from langchain_rag_rule_explainer import lexical_chain
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_rag_rule_explainer import RuleExplainer as OfEngines
from llama_index_rag_rule_explainer import gate as gate_engine
from llama_index_rag_rule_explainer import lexical_engine
from plain_rag_rule_explainer import gate

from rag_rule_explainer import Case, Explainer, InvalidInput, Source, contains
from rag_rule_explainer.allowed import did_you_mean
from rag_rule_explainer.errors import BaselineFailed

SOURCES = [Source("a", "Twenty days of leave."), Source("b", "Dogs are welcome."), Source("c", "Lunch.")]
QUESTION = "How long?"


def days(_question: str, sources: Sequence[Source]) -> str:
    return "20 days" if "a" in [source.id for source in sources] else "no"


def test_the_repr_of_a_case_is_about_its_answer() -> None:
    """It held the text of the baseline in every replay: "always" was proved."""
    explanation = Explainer(days, predicate=lambda case: "days" in repr(case)).explain(QUESTION, SOURCES)
    assert [rule.sources for rule in explanation.retention_rules] == [("a",)]


WRONG: list[Callable[[Any], bool]] = [
    lambda case: case.kept != ["b"],
    lambda case: case.kept == ["b"],
    lambda case: case.kept != {"b"},
    lambda case: case.kept != "b",
    lambda case: case.kept not in (["b"],),
]


@pytest.mark.parametrize(
    "wrong",
    WRONG,
)
def test_retained_sources_are_compared_with_no_list(wrong: Callable[[Any], bool]) -> None:
    with pytest.raises(BaselineFailed, match=r"a tuple, which equals no \w+; write \[source\.id for"):
        Explainer(days, predicate=wrong).explain(QUESTION, SOURCES)


RIGHT: list[Callable[[Case], bool]] = [
    lambda case: case.kept == tuple(case.sources),
    lambda case: "a" in [source.id for source in case.kept],
    lambda case: len(case.kept) > 0 and case.kept[0].id == "a",
    lambda case: case.kept != (),
]


@pytest.mark.parametrize(
    "right",
    RIGHT,
)
def test_other_uses_of_retained_sources_are_as_before(right: Callable[[Case], bool]) -> None:
    assert Explainer(days, predicate=right).explain(QUESTION, SOURCES).retention_rules


OF_VALUES: list[tuple[Callable[[Case], bool], bool]] = [
    (lambda case: case.answer.value != "no", True),
    (lambda case: case.answer.value == "20 days", True),
    (lambda case: (case.answer.value or case.answer.text) == "20 days", False),
    (lambda case: case.answer.text == "20 days", False),
]


@pytest.mark.parametrize(
    ("predicate", "is_told"),
    OF_VALUES,
)
def test_a_condition_on_the_value_of_a_text_is_told_of(
    predicate: Callable[[Case], bool], is_told: bool
) -> None:
    warnings = Explainer(days, predicate=predicate).explain(QUESTION, SOURCES).warnings
    assert any("whose value is None; write case.answer.text" in each for each in warnings) is is_told


CALLS: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda ask: ask.explain(QUESTION, source=SOURCES),
        "'source' is not a keyword of explain; did you",
    ),
    (
        lambda ask: ask.explain(QUESTION),
        r"explain cannot be called so.*'sources'; write explain\((?!.*fields)",
    ),
    (lambda ask: ask.verify({"a"}, "retention", QUESTION, sorces=SOURCES), "did you mean 'sources'"),
    (lambda ask: list(ask.stream(QUESTION)), r"stream cannot be called so.*write stream\("),
]


@pytest.mark.parametrize(
    ("call", "told"),
    CALLS,
)
def test_a_call_that_does_not_fit_says_what_does(call: Callable[[Any], object], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        call(Explainer(days, predicate=contains("20")))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("documents", "did you mean 'sources'? "),
        ("docs", "did you mean 'sources'? "),
        ("trace", "did you mean 'trace_replays'? "),
        ("retriever", ""),
        ("question", ""),
        ("predikate", "did you mean 'predicate'? "),
    ],
)
def test_no_guess_is_better_than_a_wrong_one(given: str, told: str) -> None:
    names = ["sources", "store", "retries", "trace_replays", "predicate", "questions_of"]
    assert did_you_mean(given, names) == told


PAIRS: list[Any] = [
    (Document(id="a", page_content="Twenty days of leave."), 0.5),
    (Document(id="b", page_content="Dogs are welcome."), 0.25),
]
NODES: list[Any] = [
    NodeWithScore(node=TextNode(id_="a", text="Twenty days of leave."), score=0.5),
    TextNode(id_="b", text="Dogs are welcome."),
]


@pytest.mark.parametrize("given", [PAIRS, NODES, [each for each, _ in PAIRS]])
def test_pairs_with_scores_and_documents_of_both_frameworks_are_sources_everywhere(given: Any) -> None:
    documents = [document for document, _ in PAIRS]
    chain = OfChains(lexical_chain(documents, k=2), predicate=contains("x"))
    engine = OfEngines(lexical_engine(documents_as_nodes(), k=2), predicate=contains("x"))
    plain = Explainer(days, predicate=contains("20")).explain(QUESTION, given)
    of_both = [each.explain(QUESTION, documents=given) for each in (chain, engine)]
    for explanation in (plain, *of_both):
        assert sorted(source.id for source in explanation.sources) == ["a", "b"]


def documents_as_nodes() -> list[TextNode]:
    return [TextNode(id_="a", text="Twenty days of leave."), TextNode(id_="b", text="Dogs are welcome.")]


GATES: list[Any] = [gate, gate_chain, gate_engine]
NO_SEARCHES: list[Any] = [print, len, FakeListChatModel(responses=["x"]), MockLLM()]


@pytest.mark.parametrize("gate_of", GATES)
@pytest.mark.parametrize("given", NO_SEARCHES)
def test_what_searches_nothing_is_not_gated(gate_of: Any, given: Any) -> None:
    with pytest.raises(InvalidInput, match="which searches nothing; gate what searches"):
        gate_of(given)
