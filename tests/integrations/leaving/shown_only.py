"""Counts and records that applications keep to show them (costs, a history, a log, a budget, calls of a
minute, one service for all), and by which runs go nevertheless."""

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from threading import Thread

from tests.integrations.leaving.parts import Answer, Ask, Search, mode_of, written


@dataclass
class Costs:
    spent: float = 0.0

    def add(self, text: str) -> None:
        self.spent += len(text) * 0.001


def costs_that_decide(search: Search, ask: Ask) -> Answer:
    costs = Costs()

    def answer(question: str) -> str:
        found = search(question)
        reply = written(ask, "Warn" if costs.spent else mode_of(found), found)
        costs.add(reply)
        return reply

    return answer


class Session(dict[str, list[str]]):
    """Its keys are attributes, as Streamlit's are."""

    def __getattr__(self, name: str) -> list[str]:
        return self[name]


def a_history_that_decides(search: Search, ask: Ask) -> Answer:
    session = Session(messages=[])

    def answer(question: str) -> str:
        mode = "Warn" if "messages" in session and session.messages[:1] else ""
        found = search(question)
        session.messages.append(question)
        return written(ask, mode or mode_of(found), found)

    return answer


class Service:
    def __init__(self, search: Search, ask: Ask, most: int) -> None:
        self.search, self.ask, self.most = search, ask, most
        self.log = list[str]()

    def answer(self, question: str) -> str:
        found = self.search(question)
        mode = mode_of(found)
        self.log.append(mode)
        if len(self.log) > self.most:
            self.log.pop(0)
            mode = mode if self.most > 1 else "Warn"
        return written(self.ask, mode, found)


def a_log_whose_length_decides(search: Search, ask: Ask) -> Answer:
    return Service(search, ask, most=1).answer


@dataclass
class Budget:
    most: int
    used: int = 0

    def is_left(self, text: str) -> bool:
        self.used += len(text)
        return self.used <= self.most


def a_budget_that_is_used_up(search: Search, ask: Ask) -> Answer:
    budget = Budget(len("why?"))

    def answer(question: str) -> str:
        found = search(question)
        mode = mode_of(found) if budget.is_left("why?") else "Warn"
        return written(ask, mode, found)

    return answer


@dataclass
class Window:
    most: int
    calls: deque[float] = field(default_factory=deque[float])

    def admits(self) -> bool:
        now = time.monotonic()
        while self.calls and now - self.calls[0] > 60:
            self.calls.popleft()
        self.calls.append(now)
        return len(self.calls) <= self.most


def calls_in_a_minute_that_are_too_many(search: Search, ask: Ask) -> Answer:
    window = Window(1)

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode_of(found) if window.admits() else "Warn", found)

    return answer


class Single:
    is_ready = False

    def __init__(self) -> None:
        self.mode = ""

    def load(self, mode: str) -> None:
        if not self.is_ready:
            self.mode, self.is_ready = mode, True


def one_for_all_runs_that_keeps_a_mode(search: Search, ask: Ask) -> Answer:
    made = dict[str, Single]()

    def answer(question: str) -> str:
        service = made.setdefault("it", Single())
        found = search(question)
        service.load(mode_of(found))
        return written(ask, service.mode, found)

    return answer


class Turns:
    def __init__(self) -> None:
        self.turn = 0

    def again(self) -> bool:
        self.turn += 1
        return self.turn > 1


class Worker(Thread):
    """It counts under the name by which ``Turns`` does, and no replay sets a thread back."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.turn = 0

    def again(self) -> bool:
        self.turn += 1
        return self.turn > 1


class OfEachThread(threading.local):
    def __init__(self) -> None:
        self.turn: list[int] = []

    def again(self) -> bool:
        self.turn.append(1)
        return len(self.turn) > 1


def _beside_a_harmless_count(search: Search, ask: Ask, decides: Worker | OfEachThread) -> Answer:
    harmless = Turns()

    def answer(question: str) -> str:
        found = search(question)
        harmless.again()
        is_odd = decides.again() and len(found) == 1
        return written(ask, "Warn" if is_odd else mode_of(found), found)

    return answer


def two_counts_of_one_name(search: Search, ask: Ask) -> Answer:
    return _beside_a_harmless_count(search, ask, Worker())


def two_lists_of_one_name(search: Search, ask: Ask) -> Answer:
    return _beside_a_harmless_count(search, ask, OfEachThread())


DECIDING = (
    costs_that_decide,
    a_history_that_decides,
    a_log_whose_length_decides,
    a_budget_that_is_used_up,
    calls_in_a_minute_that_are_too_many,
    one_for_all_runs_that_keeps_a_mode,
    two_counts_of_one_name,
    two_lists_of_one_name,
)
