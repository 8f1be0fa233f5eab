"""Applications that answer otherwise, after the model, once a run on few documents has left something."""

from typing import Any

from tests.integrations.leaving.parts import Answer, Ask, Search, mode_of, written

DEGRADED = "No news. Please call us."


def a_breaker_that_counts(search: Search, ask: Ask) -> Answer:
    class Breaker:
        failures = 0

    breaker = Breaker()

    def answer(question: str) -> str:
        found = search(question)
        reply = written(ask, mode_of(found), found)
        if breaker.failures:
            return DEGRADED
        if len(found) < 2:
            breaker.failures += 1
        return reply

    return answer


def set_by_a_helper(search: Search, ask: Ask) -> Answer:
    flags = dict[str, bool]()

    def note(there: dict[str, bool], found: list[str]) -> None:
        there["thin"] = there.get("thin", False) or len(found) < 2

    def answer(question: str) -> str:
        found = search(question)
        reply = DEGRADED if flags.get("thin") else ""
        told = written(ask, mode_of(found), found)
        note(flags, found)
        return reply or told

    return answer


def set_by_another_name(search: Search, ask: Ask) -> Answer:
    state: dict[str, Any] = {"flags": {}}

    def answer(question: str) -> str:
        flags, found = state["flags"], search(question)
        told = written(ask, mode_of(found), found)
        if flags.get("thin"):
            return DEGRADED
        if len(found) < 2:
            flags["thin"] = True
        return told

    return answer


def set_on_its_class(search: Search, ask: Ask) -> Answer:
    class Bot:
        thin = False

        def __call__(self, question: str) -> str:
            found = search(question)
            told = written(ask, mode_of(found), found)
            if self.thin:
                return DEGRADED
            if len(found) < 2:
                type(self).thin = True
            return told

    return Bot()


def filled_by_the_first_run(search: Search, ask: Ask) -> Answer:
    class Bot:
        alert = False

        def __call__(self, question: str) -> str:
            found = search(question)
            if len(found) > 1:
                self.alert = True
            return written(ask, "Warn" if self.alert else "Calm", found)

    return Bot()
