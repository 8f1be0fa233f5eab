"""Applications that leave something where no attribute or variable of the user's holds it by name."""

import itertools
import json
import queue
from collections import OrderedDict
from collections.abc import Generator
from contextvars import ContextVar
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

from tests.integrations.leaving.afterwards import DEGRADED
from tests.integrations.leaving.parts import Answer, Ask, Search, mode_of, written


def in_a_context_variable(search: Search, ask: Ask) -> Answer:
    most = ContextVar("most", default=0)

    def answer(question: str) -> str:
        found = search(question)
        most.set(max(most.get(), len(found)))
        return written(ask, "Warn" if most.get() > 1 else "Calm", found)

    return answer


def in_a_context_variable_of_no_default(search: Search, ask: Ask) -> Answer:
    """It cannot be set back to nothing."""
    mode: ContextVar[str] = ContextVar("mode")

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1:
            mode.set("Warn")
        return written(ask, mode.get("Calm"), found)

    return answer


def named_in_a_context_variable(search: Search, ask: Ask) -> Answer:
    """Nothing is left, as every run sets it."""
    mode: ContextVar[str] = ContextVar("mode")

    def answer(question: str) -> str:
        found = search(question)
        mode.set(mode_of(found))
        return written(ask, mode.get(), found)

    return answer


def in_the_default_of_a_context_variable(search: Search, ask: Ask) -> Answer:
    thin = ContextVar("thin", default=list[str]())  # noqa: B039 -- as users write it

    def answer(question: str) -> str:
        found = search(question)
        told = written(ask, mode_of(found), found)
        if thin.get():
            return DEGRADED
        if len(found) < 2:
            thin.get().append("thin")
        return told

    return answer


def in_a_default(search: Search, ask: Ask) -> Answer:
    def mode(found: list[str], memo: dict[str, str] = {}) -> str:  # noqa: B006 -- as users write it
        if len(found) > 1:
            memo["mode"] = "Warn"
        return memo.get("mode", "Calm")

    # A function of its own, so that each application begins with an empty memo.
    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode(found), found)

    return answer


def on_a_function(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        found = search(question)
        known: Any = answer
        known.most = max(getattr(answer, "most", 0), len(found))
        return written(ask, "Warn" if known.most > 1 else "Calm", found)

    return answer


def in_a_generator(search: Search, ask: Ask) -> Answer:
    def peak() -> Generator[int, int, None]:
        most = 0
        while True:
            most = max(most, (yield most))

    highest = peak()
    next(highest)

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, "Warn" if highest.send(len(found)) > 1 else "Calm", found)

    return answer


def in_an_iterator(search: Search, ask: Ask) -> Answer:
    modes = itertools.chain(["Warn", "Warn"], itertools.repeat("Calm"))

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, next(modes) if len(found) > 1 else "Calm", found)

    return answer


def in_a_namespace(search: Search, ask: Ask) -> Answer:
    seen = SimpleNamespace(alert=False)

    def answer(question: str) -> str:
        found = search(question)
        seen.alert = seen.alert or len(found) > 1
        return written(ask, "Warn" if seen.alert else "Calm", found)

    return answer


def on_its_class_by_the_first_run(search: Search, ask: Ask) -> Answer:
    class Bot:
        alert = False

        def __call__(self, question: str) -> str:
            found = search(question)
            if len(found) > 1:
                type(self).alert = True
            return written(ask, "Warn" if self.alert else "Calm", found)

    return Bot()


def only_reported(search: Search, ask: Ask) -> Answer:
    """No run goes by it."""

    class Bot:
        most = 0

        def __call__(self, question: str) -> str:
            found = search(question)
            self.most = max(self.most, len(found))
            return written(ask, mode_of(found), found)

        def report(self) -> int:
            return self.most

    return Bot()


def in_a_queue(search: Search, ask: Ask) -> Answer:
    complaints = queue.Queue[str]()

    def answer(question: str) -> str:
        found = search(question)
        told = written(ask, mode_of(found), found)
        degraded = not complaints.empty()
        if len(found) < 2:
            complaints.put("thin")
        return DEGRADED if degraded else told

    return answer


def in_a_queue_that_is_made_when_it_is_needed(search: Search, ask: Ask) -> Answer:
    class Buffer:
        full: Any = None

    def answer(question: str) -> str:
        found = search(question)
        if Buffer.full is None:
            Buffer.full = queue.Queue()
        if len(found) > 1:
            Buffer.full.put("full")
        return written(ask, "Warn" if Buffer.full.qsize() else "Calm", found)

    return answer


def in_a_queue_that_is_emptied(search: Search, ask: Ask) -> Answer:
    """It is made when it is needed, and nothing stays in it."""

    class Buffer:
        words: Any = None

    def answer(question: str) -> str:
        found = search(question)
        if Buffer.words is None:
            Buffer.words = queue.Queue()
        Buffer.words.put(mode_of(found))
        return written(ask, Buffer.words.get(), found)

    return answer


def in_what_a_cache_knows(search: Search, ask: Ask) -> Answer:
    @lru_cache
    def noted(word: str) -> str:
        return word

    def answer(question: str) -> str:
        found = search(question)
        told = written(ask, mode_of(found), found)
        degraded = noted.cache_info().currsize > 0
        if len(found) < 2:
            noted("thin")
        return DEGRADED if degraded else told

    return answer


def in_the_order_of_a_dict(search: Search, ask: Ask) -> Answer:
    order = OrderedDict(a=True, b=False)

    def answer(question: str) -> str:
        found = search(question)
        told = written(ask, mode_of(found), found)
        degraded = not order[next(iter(order))]
        if len(found) < 2:
            order.move_to_end("a")
        return DEGRADED if degraded else told

    return answer


def on_a_module(search: Search, ask: Ask) -> Answer:
    """Nothing that the application holds tells of it."""
    module, mark = "json", f"_strict_{next(_numbers)}"

    def answer(question: str) -> str:
        found = search(question)
        told = written(ask, mode_of(found), found)
        degraded = hasattr(json, mark)
        if len(found) < 2:
            setattr(__import__(module), mark, True)
        return DEGRADED if degraded else told

    return answer


def in_a_partial(search: Search, ask: Ask) -> Answer:
    return partial(_counting, {"thin": 0}, search, ask)


def in_a_list_of_a_partial(search: Search, ask: Ask) -> Answer:
    return partial(_noting, list[str](), search, ask)


def _noting(modes: list[str], search: Search, ask: Ask, question: str) -> str:
    found = search(question)
    modes.append(mode_of(found))
    return written(ask, modes[0], found)


def by_what_it_prints(search: Search, ask: Ask) -> Answer:
    """The call that is printed does more than to be printed."""

    class Bot:
        first = ""
        mode = ""

        def __call__(self, question: str) -> str:
            found = search(question)
            self.first = self.first or mode_of(found)
            print(self.go_by(self.first))
            return written(ask, self.mode, found)

        def go_by(self, mode: str) -> str:
            self.mode = mode
            return mode

    return Bot()


def _counting(state: dict[str, int], search: Search, ask: Ask, question: str) -> str:
    found = search(question)
    degraded = state["thin"] > 0
    state["thin"] += len(found) < 2
    told = written(ask, mode_of(found), found)
    return DEGRADED if degraded else told


def before_an_early_return(search: Search, ask: Ask) -> Answer:
    class Bot:
        topic = "bad news"

        def __call__(self, question: str) -> str:
            found = search(question)
            told = written(ask, mode_of(found), found)
            if len(found) == 1:
                return self.last()
            self.topic = "bad news" if len(found) > 1 else "good news"
            return told

        def last(self) -> str:
            return f"As we said last time: {self.topic}."

    return Bot()


_numbers = itertools.count()
