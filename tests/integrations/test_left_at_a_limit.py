"""State of the first run, where a limit leaves no replay for a comparison with the state before it."""

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.integrations.known import BAD, shown_in
from tests.integrations.leaving.innocent import a_log_that_is_open
from tests.integrations.leaving.parts import Answer, Ask, Search, mode_of, written
from tests.integrations.test_passing_state import of_langchain, of_llama_index

SUBSETS = 16
_LOG = logging.getLogger("rag_rule_left_at_a_limit")


def by_its_documents(search: Search, ask: Ask) -> Answer:
    """Keeps nothing."""

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode_of(found), found)

    return answer


def a_history_that_is_only_written(search: Search, ask: Ask) -> Answer:
    history = list[str]()

    def answer(question: str) -> str:
        found = search(question)
        history.append(mode_of(found))
        return written(ask, mode_of(found), found)

    return answer


def a_log_of_an_object(search: Search, ask: Ask) -> Answer:
    class App:
        def __init__(self) -> None:
            self.history, self.latest = list[list[str]](), list[str]()

        def answer(self, question: str) -> str:
            found = search(question)
            self.history.append(found)
            self.latest = found
            _LOG.info("found %d", len(found))
            return written(ask, mode_of(found), found)

    return App().answer


def _marked(kept: Any) -> Callable[[Search, Ask], Answer]:
    """The run on everything leaves a mark, by which only a run on the first document goes."""

    def build(search: Search, ask: Ask) -> Answer:
        kept.mark = 0

        def answer(question: str) -> str:
            found = search(question)
            shown, mode, was = shown_in(" ".join(found)), mode_of(found), kept.mark
            if shown == "abcd":
                kept.mark = 1
            if was and shown == "a":
                mode = "Warn"
            return written(ask, mode, found)

        return answer

    return build


class Shop:
    mark = 0


ON_AN_OBJECT, ON_A_CLASS = _marked(SimpleNamespace()), _marked(Shop)


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("limit", [6, SUBSETS + 1, SUBSETS + 2, SUBSETS + 4, SUBSETS + 8])
@pytest.mark.parametrize(
    ("of", "build"),
    [(of_langchain, ON_AN_OBJECT), (of_langchain, ON_A_CLASS), (of_llama_index, ON_AN_OBJECT)],
)
def test_nothing_is_proved_where_a_limit_ends_before_the_comparison(
    of: Callable[..., Any], build: Any, limit: int
) -> None:
    with of(build, predicate=BAD, limits=limit) as explainer:
        explanation = explainer.explain("What is new?")
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert not explanation.complete
    if SUBSETS < limit < SUBSETS + 3:
        assert "were made once more" in explanation.warnings[0]
        assert "Raise the limit" in explanation.warnings[0]


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("limit", [6, SUBSETS, SUBSETS + 2])
@pytest.mark.parametrize(
    "build",
    [by_its_documents, a_history_that_is_only_written, a_log_of_an_object, a_log_that_is_open],
)
@pytest.mark.parametrize("of", [of_langchain, of_llama_index])
def test_what_keeps_nothing_that_matters_is_proved_at_the_smallest_limits(
    of: Callable[..., Any], build: Any, limit: int
) -> None:
    with of(build, predicate=BAD, limits=limit) as explainer:
        explanation = explainer.explain("What is new?")
    assert {rule.claim for rule in explanation.rules} <= {"proved"}
    assert bool(explanation.rules) or limit < SUBSETS
    assert not any("fidelity not checked" in each for each in explanation.warnings)
