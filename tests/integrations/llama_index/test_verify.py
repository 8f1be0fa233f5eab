"""One rule of an engine's answer, verified."""

import asyncio

import pytest
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import InvalidInput
from tests.integrations.known import BAD
from tests.integrations.llama_index.engines import engine_of, retriever_of

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_rule_of_an_engine_is_verified_or_broken() -> None:
    explainer = RuleExplainer(engine_of(retriever_of("abcd")), predicate=BAD)
    held = explainer.verify({"b", "d"}, "retention", "why?")
    assert held.holds
    assert held.explanation.counts.probes == 4
    broken = asyncio.run(explainer.averify({"d"}, "retention", "why?"))
    assert broken.witness
    assert broken.witness.kept == ("d",)
    assert explainer.verify({"b"}, "omission", "why?").holds
    with pytest.raises(InvalidInput, match="'z', which is no source"):
        explainer.verify({"z"}, "omission", "why?")
