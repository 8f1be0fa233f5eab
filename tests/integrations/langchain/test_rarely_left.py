"""State that the first run left may matter on one of many subsets: no false rule of that is proved."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling
from tests.integrations.leaving import rarely
from tests.integrations.leaving.parts import Leaving

SUBSETS = 2 ** len(rarely.NAMES)


def explained(build: Leaving, **options: Any) -> Explanation:
    retriever = Counting(
        documents=[Document(id=name, page_content=rarely.TEXTS[name]) for name in rarely.NAMES]
    )
    model = Telling(says=lambda messages: rarely.said(messages[0].text))
    answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    explainer = RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact", **options)
    return explainer.explain("why?")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("build", rarely.RARELY)
def test_what_matters_on_one_subset_leaves_nothing_proved(build: Leaving) -> None:
    explanation = explained(build)
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert not explanation.complete
    assert explanation.warnings[0].startswith("fidelity not checked")


def test_a_limit_that_leaves_subsets_out_leaves_nothing_proved() -> None:
    """All runs would make the same, but not all are asked."""
    explanation = explained(rarely.of_what_all_would_make, limits=SUBSETS + 30)
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert (
        f"of {SUBSETS - 1} replays were made once more from the state before" in explanation.warnings[0]
    )


def test_what_all_runs_would_make_is_proved_once_all_were_asked() -> None:
    explanation = explained(rarely.of_what_all_would_make)
    assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings
    assert (retention(explanation), omission(explanation)) == (sets("a"), sets("a"))
    assert explanation.complete


def test_what_is_made_of_nothing_found_costs_few_replays_more() -> None:
    explanation = explained(rarely.of_nothing_that_was_found)
    assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings
    assert explanation.counts.replays < SUBSETS + 20
