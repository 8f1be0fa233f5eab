"""Estimates retrieve once, and show no model what was retrieved."""

import sys

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import NoSourcesCaptured
from tests.integrations.langchain.chains import Counting, step
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo.shapes import Shape, joined
from tests.integrations.langchain.zoo.table import SHAPES
from tests.representing import some

pytestmark = pytest.mark.filterwarnings("ignore")
FEWER = {
    "refine: one document at a time": 4,
    "`ContextualCompressionRetriever`": 3,
    "keyword queries, top 10 each, the best 5 kept": 5,
    "top-n reranker": 3,
}


# An estimate makes the one run that every explanation of the shape in ``test_zoo`` begins with.
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    "shape",
    some(
        (shape for shape in SHAPES if shape.refusal is None),
        every=6,
        always=lambda shape: shape.name in FEWER,
    ),
    ids=lambda shape: shape.name,
)
def test_every_shape_can_be_estimated(shape: Shape) -> None:
    built = shape.build()
    explainer = RuleExplainer(built.application, **built.parameters)
    estimate = explainer.estimate(built.given, built.config)  # pyright: ignore[reportArgumentType] -- a plain dict
    assert 2 <= estimate.sources <= 14
    assert estimate.sources == FEWER.get(shape.name, estimate.sources)
    assert estimate.worst.replays >= 1 << min(estimate.sources, 5)
    assert built.live() <= (shape.live or sys.maxsize)


def test_no_model_is_shown_what_was_retrieved() -> None:
    model = Telling()
    retriever = Counting(documents=facts("abcd"))
    chain = retriever | joined | model
    estimate = RuleExplainer(chain).estimate("why?")
    assert estimate.sources == 4
    assert estimate.prompt_tokens > 40
    assert (len(retriever.live), model.asked) == (1, [])
    # A model that is asked before is, and what it spends is told.
    rewriting = Telling(says=lambda _: "why indeed?", spends=7)
    told = RuleExplainer(rewriting | step(lambda said: said.text) | chain).estimate("why?")
    assert (len(rewriting.asked), model.asked) == (1, [])
    assert told.spent_tokens > 0
    assert "were spent to find the sources" in str(told)


def test_its_end_is_no_error_to_anybody(caplog: pytest.LogCaptureFixture) -> None:
    RuleExplainer(Counting(documents=facts("ab")) | joined | Telling()).estimate("why?")
    assert not caplog.records


def test_brought_documents_are_not_retrieved() -> None:
    retriever = Counting(documents=facts("abcd"))
    estimate = RuleExplainer(retriever | joined | Telling()).estimate("why?", documents=facts("ab"))
    assert (estimate.sources, retriever.live) == (2, [])


def test_what_retrieves_nothing_is_refused() -> None:
    with pytest.raises(NoSourcesCaptured):
        RuleExplainer(Telling()).estimate("why?")


def test_an_application_that_survives_its_model_can_be_estimated() -> None:
    retriever, model, second = Counting(documents=facts("abc")), Telling(), Telling()
    chain = retriever | joined | model.with_fallbacks([second]).with_retry(wait_exponential_jitter=False)
    estimate = RuleExplainer(chain | step(lambda said: said.text)).estimate("why?")
    assert (estimate.sources, model.asked, second.asked) == (3, [], [])
    assert estimate.prompt_tokens > 30
