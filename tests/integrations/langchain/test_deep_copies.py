"""Deep copies of explainers: what they share, and what cannot be copied."""

from copy import deepcopy
from threading import Lock

import pytest
from langchain_rag_rule_explainer import RuleExplainer, explained

from rag_rule_explainer import Explainer, InvalidInput, ProgressBar
from tests.integrations.known import BAD, retention, sets
from tests.integrations.langchain.chains import bad_with, retriever_of


def test_a_deep_copy_explains_a_copy_of_the_application_with_the_same_bound() -> None:
    retriever = retriever_of("ab")
    chain = retriever | bad_with("b")
    explainer = RuleExplainer(chain, predicate=BAD, retrievers=[retriever], progress=ProgressBar())
    copied = deepcopy(explainer)
    assert copied.application is not chain
    assert retention(copied.explain("?")) == sets("b")
    assert retriever.live == []
    assert deepcopy(explained(chain, predicate=BAD)).invoke("?").rag_rules["retention_rules"]
    plain = Explainer(lambda _, shown: "bad" if shown else "good")
    assert deepcopy(plain).limiter is plain.limiter


def test_an_application_that_cannot_be_copied_is_said_to_be_the_reason() -> None:
    chain = retriever_of("ab") | bad_with("b").bind(client=Lock())
    for given in (RuleExplainer(chain), explained(chain)):
        with pytest.raises(InvalidInput, match=r"cannot be copied: .*lock.*; make a new one of the same"):
            deepcopy(given)
