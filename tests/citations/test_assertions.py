"""The assertion of the plugin of pytest: it passes, fails, or is undecided."""

from typing import Any

import pytest

from rag_rule_explainer import CitationClass, Explainer, InvalidInput, Limits, Noise, cite, contains
from rag_rule_explainer.pytest_plugin import Undecided, assert_citations_decisive
from tests.citations.oracles import CLAIM, ORACLES, QUESTION, Oracle, answering
from tests.citations.test_classes import explanation_of

BY_NAME = {each.name: each for each in ORACLES}
DECISIVE = ("honest", "both partners")


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_it_passes_for_decisive_citations_alone(oracle: Oracle) -> None:
    cited = cite(Explainer(answering(oracle)), QUESTION, oracle.sources)
    explanation = explanation_of(oracle)
    for checked in (cited, cited.checks[0], explanation):
        if oracle.name in DECISIVE:
            assert_citations_decisive(checked)
        else:
            with pytest.raises(AssertionError, match="these citations are not decisive"):
                assert_citations_decisive(checked)
        assert_citations_decisive(checked, allow={*oracle.truth.values()})
    assert_citations_decisive(cited, allow=[each.value for each in CitationClass])


def test_nothing_cited_fails_unless_it_may() -> None:
    explainer = Explainer(lambda question, sources: "It is so.")
    cited = cite(explainer, QUESTION, ORACLES[0].sources)
    with pytest.raises(AssertionError, match="nothing is cited"):
        assert_citations_decisive(cited)
    assert_citations_decisive(cited, cited=False)


@pytest.mark.parametrize("cited", [True, False])
def test_an_answer_that_states_nothing_neither_passes_nor_fails(cited: bool) -> None:
    checked = cite(Explainer(lambda question, sources: "[1]"), QUESTION, ORACLES[0].sources)
    with pytest.raises(Undecided, match="states nothing"):
        assert_citations_decisive(checked, cited=cited)


@pytest.mark.parametrize(
    "fields", [{"limits": Limits(4)}, {"rules": "omission"}, {"miner": "grouped"}], ids=str
)
def test_what_is_not_decided_neither_passes_nor_fails(fields: dict[str, Any]) -> None:
    explanation = explanation_of(BY_NAME["honest"], **fields)
    if explanation.citations().verdicts[0].claim == "proved":
        pytest.skip("so few sources are searched exactly")
    with pytest.raises(Undecided):
        assert_citations_decisive(explanation)


def test_what_is_at_least_decisive_in_full_context_is_undecided_unless_that_is_enough() -> None:
    """Retention rules alone do not say whether another source can take its place."""
    explanation = explanation_of(BY_NAME["honest"], rules="retention")
    with pytest.raises(Undecided, match="was not decided"):
        assert_citations_decisive(explanation)
    assert_citations_decisive(explanation, allow=[CitationClass.DECISIVE_IN_FULL_CONTEXT])


def test_votes_and_tests_are_enough() -> None:
    oracle = BY_NAME["honest"]
    explainer = Explainer(answering(oracle), predicate=contains(CLAIM), noise=Noise(samples=3))
    assert_citations_decisive(explainer.explain(QUESTION, oracle.sources))
    assert_citations_decisive(explanation_of(oracle, miner="sampled"))


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a check of citations is needed"):
        assert_citations_decisive("text")  # type: ignore[arg-type] -- a mistake, on purpose
    with pytest.raises(InvalidInput, match="give a list of classes"):
        assert_citations_decisive(explanation_of(BY_NAME["honest"]), allow="one of several")
    with pytest.raises(InvalidInput, match="the classes are"):
        assert_citations_decisive(explanation_of(BY_NAME["honest"]), allow=["splendid"])
