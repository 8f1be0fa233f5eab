"""Applications that count what went wrong, and forget it or not; on four documents."""

from collections.abc import Callable
from enum import Enum
from types import ModuleType
from typing import Any

from rag_rule_explainer import Explanation, StateShared, contains
from tests.integrations.leaving.parts import Answer, Ask, Leaving, Search, written

GOOD = contains("good")
"""True of every answer of an application that is made anew for each run."""


class Health(Enum):
    WELL = 1
    DOUBTED = 2
    ILL = 3


def in_steps(search: Search, ask: Ask) -> Answer:
    class Monitor:
        health = Health.WELL

        def see(self, count: int) -> bool:
            if count > 3:
                self.health = Health.WELL
            elif count < 2:
                self.health = Health.DOUBTED if self.health is Health.WELL else Health.ILL
            return self.health is Health.ILL

    monitor = Monitor()

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, "Warn" if monitor.see(len(found)) else "Calm", found)

    return answer


def on_a_module(search: Search, ask: Ask) -> Answer:
    settings: Any = ModuleType("settings_of_a_test")
    settings.thin = 0

    def answer(question: str) -> str:
        found = search(question)
        if len(found) < 2:
            settings.thin += 1
        return written(ask, "Warn" if settings.thin > 1 else "Calm", found)

    return answer


class Repository:
    """Loads and saves one number."""

    def __init__(self) -> None:
        self._saved = 0

    def load(self) -> int:
        return self._saved

    def save(self, count: int) -> None:
        self._saved = count


def a_breaker_that_closes_again(search: Search, ask: Ask) -> Answer:
    """It is closed whenever all documents were found, as in the replay that is compared at the end."""
    repository = Repository()

    def answer(question: str) -> str:
        found = search(question)
        repository.save(repository.load() + 1 if len(found) < 3 else 0)
        return written(ask, "Warn" if repository.load() > 1 else "Calm", found)

    return answer


def a_breaker_that_only_counts(search: Search, ask: Ask) -> Answer:
    """Nothing goes by it."""
    repository = Repository()

    def answer(question: str) -> str:
        found = search(question)
        repository.save(repository.load() + 1 if len(found) < 3 else 0)
        return written(ask, "Calm" if len(found) > 2 else "Warn", found)

    return answer


REMEMBERING = (in_steps, on_a_module, a_breaker_that_closes_again)


def check(build: Leaving, explain: Callable[[], Explanation]) -> None:
    """Asserts that nothing is proved of what remembers, and all of what only counts."""
    if build is a_breaker_that_only_counts:
        assert {rule.claim for rule in explain().rules} == {"proved"}
        return
    try:
        explanation = explain()
    except StateShared:
        return
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert not explanation.complete
    assert explanation.warnings[0].startswith("fidelity not checked")
