"""One rule of a chain's answer, verified."""

import asyncio
from typing import Any

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import InvalidInput, Source
from tests.integrations.known import BAD
from tests.integrations.langchain.chains import Counting, bad_with, retriever_of
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.shapes import answering


def test_a_rule_of_a_chain_costs_one_live_retrieval() -> None:
    retriever = Counting(documents=facts("abcd"))
    explainer = RuleExplainer(answering(retriever.invoke), predicate=BAD)
    held = explainer.verify({"b", "d"}, "retention", "?")
    assert held.holds
    assert held.explanation.counts.probes == 4
    assert retriever.live == ["?"]
    broken = asyncio.run(explainer.averify({"b"}, "retention", "?"))
    assert broken.witness
    assert broken.witness.kept == ("b",)
    assert broken.explanation.counts.probes == 1


def test_a_rule_about_a_model_that_nobody_sees_is_neither_proved_nor_denied() -> None:
    held = RuleExplainer(retriever_of("abcde") | bad_with("b", "d"), predicate=BAD).verify(
        {"b", "d"}, "retention", "?"
    )
    assert held.holds is None
    assert held.explanation.warnings[0].startswith("fidelity not checked")


def test_near_duplicates_that_a_chain_retrieves_are_tied() -> None:
    explainer = RuleExplainer(
        retriever_of("abcde") | bad_with("b", "d"), predicate=BAD, merge_duplicates=0.01
    )
    assert not explainer.explain("?").ties
    copies = [Source(each, "b" if each in "bce" else each) for each in "abcde"]
    explanation = explainer.explain("?", documents=copies)
    assert [tie.sources for tie in explanation.ties] == [("b", "c", "e")]
    assert {rule.sources for rule in explanation.retention_rules} == {("b", "c", "d", "e")}
    assert explanation.counts.probes <= 8


@pytest.mark.parametrize(("antecedent", "kind"), [("b", "retention"), ({"b"}, "either")])
def test_what_can_be_no_rule_costs_nothing(antecedent: Any, kind: Any) -> None:
    retriever = retriever_of("ab")
    with pytest.raises(InvalidInput):
        RuleExplainer(retriever | bad_with("b"), predicate=BAD).verify(antecedent, kind, "?")
    assert retriever.live == []


def test_an_id_that_nothing_retrieved_has_is_named() -> None:
    explainer = RuleExplainer(retriever_of("ab") | bad_with("b"), predicate=BAD)
    with pytest.raises(InvalidInput, match="'z', which is no source; the sources are 'a', 'b'"):
        explainer.verify({"z"}, "omission", "?")
