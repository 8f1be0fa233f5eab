"""Applications whose first explanation is refused because runs share state, explained once more."""

from collections.abc import Callable
from typing import Any

import pytest

from rag_rule_explainer import StateShared
from tests.integrations.leaving.innocent import a_chat_of_each_run, a_log_in_memory
from tests.integrations.leaving.parts import Answer, Ask, Search, mode_of, written
from tests.integrations.test_passing_state import of_langchain, of_llama_index, of_plain

pytestmark = pytest.mark.waits


def what_is_new_decides(search: Search, ask: Ask) -> Answer:
    seen = dict[str, bool]()

    def answer(question: str) -> str:
        found = search(question)
        kept = [each for each in found if each not in seen]
        seen.update(dict.fromkeys(kept, True))
        return written(ask, mode_of(kept), found)

    return answer


class Greeting:
    """Answers the first question by what it found, and all later ones as if it had found nothing."""

    def __init__(self, search: Search, ask: Ask) -> None:
        self.search, self.ask, self.is_first = search, ask, True

    def answer(self, question: str) -> str:
        found = self.search(question)
        mode, self.is_first = mode_of(found if self.is_first else []), False
        return written(self.ask, mode, found)


def the_first_question_decides(search: Search, ask: Ask) -> Answer:
    return Greeting(search, ask).answer


@pytest.mark.parametrize("of", [of_langchain, of_llama_index, of_plain])
@pytest.mark.parametrize("build", [what_is_new_decides, the_first_question_decides])
def test_nothing_is_proved_of_what_was_refused(of: Callable[..., Any], build: Any) -> None:
    with of(build) as explainer:
        with pytest.raises(StateShared):
            explainer.explain("What is new?")
        again = explainer.explain("What is new?")
    assert {rule.claim for rule in again.rules} <= {"unverified"}
    assert not again.complete
    assert any("an earlier explanation found" in each for each in again.warnings), again.warnings


def a_session_of_the_first_question(search: Search, ask: Ask) -> Answer:
    """The first question decides for all later ones."""
    sessions = dict[str, str]()

    def answer(question: str) -> str:
        found = search(question)
        if "anonymous" not in sessions:
            sessions["anonymous"] = mode_of(found)
        return written(ask, sessions["anonymous"], found)

    return answer


@pytest.mark.parametrize("of", [of_langchain, of_llama_index, of_plain])
@pytest.mark.parametrize("build", [a_session_of_the_first_question, what_is_new_decides])
def test_an_estimate_leaves_nothing(of: Callable[..., Any], build: Any) -> None:
    with of(build) as explainer:
        explainer.estimate("What is new?")
        try:
            explanation = explainer.explain("What is new?")
        except StateShared:
            return
    assert {rule.claim for rule in explanation.rules} == {"unverified"}


@pytest.mark.parametrize("of", [of_langchain, of_llama_index, of_plain])
@pytest.mark.parametrize("build", [a_log_in_memory, a_chat_of_each_run])
def test_what_an_estimate_leaves_harmlessly_is_proved(of: Callable[..., Any], build: Any) -> None:
    with of(build) as explainer:
        explainer.estimate("What is new?")
        explanation = explainer.explain("What is new?")
    assert explanation.complete
    assert not any("fidelity not checked" in each for each in explanation.warnings)
