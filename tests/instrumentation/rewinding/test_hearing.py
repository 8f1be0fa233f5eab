"""Threads of the user's: those that hear of runs may tell of them later, and others say nothing."""

import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from typing_extensions import override

from rag_rule_explainer import Explainer, contains
from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding

pytestmark = pytest.mark.waits
LOG = logging.getLogger("rag_rule_hearing")
TIMES: dict[str, float] = {}
mode = "calm"
Work = Callable[[], object]


class Kept:
    mode = "calm"


@contextmanager
def working(work: Work) -> Generator[Callable[[], None], None, None]:
    """A thread that does this work again and again, and counts; yields a function that waits for one
    more time."""
    steps, done = queue.Queue[bool](), queue.Queue[bool]()

    def act() -> None:
        count = 0
        while steps.get():
            count += 1
            work()
            done.put(True)

    def step() -> None:
        steps.put(True)
        assert done.get(timeout=120)

    thread = threading.Thread(target=act)
    thread.start()
    try:
        step()
        yield step
    finally:
        steps.put(False)
        thread.join(120)


def told_beside(application: Callable[[], Any], work: Work) -> str:
    """Returns what is reported about the application while such a thread goes on."""
    with working(work) as step:
        kept = Rewinding(application, lambda _: False, tuple)
        step()
        left = kept.left()
    return "" if left is None else left.place


def logs() -> None:
    LOG.debug("goes on at %s", time.monotonic())


def keeps_times() -> None:
    TIMES["last"] = time.monotonic()


def starts_threads() -> None:
    thread = threading.Thread(target=len, args=("",))
    thread.start()
    thread.join()


def reads() -> object:
    return os.environ.get("RAG_RULE_HEARING"), globals().get("mode")


@pytest.mark.parametrize("work", [logs, keeps_times, starts_threads, reads])
def test_a_thread_that_hears_of_no_run_leaves_no_doubt(work: Work) -> None:
    def application() -> str:
        LOG.info("asked for %s", mode)
        return Kept.mode

    assert told_beside(application, work) == ""


def sets_a_global() -> None:
    global mode  # noqa: PLW0603 -- what the thread hears of
    mode = "alert"


def sets_an_attribute() -> None:
    Kept.mode = "alert"


def sets_a_computed_name() -> None:
    globals()["mo" + "de"] = "alert"


def fills_a_dict() -> object:
    return TIMES.setdefault("runs", 0)


@pytest.mark.parametrize(
    ("application", "work"),
    [
        (sets_a_global, lambda: mode),
        (sets_an_attribute, lambda: Kept.mode),
        (sets_a_computed_name, lambda: None),
        (sets_a_global, lambda: globals().get("mode")),
        (fills_a_dict, keeps_times),
        (lambda: sys.stdout and sys.stdout.write, lambda: sys.stdin and sys.stdin.readline),
    ],
)
def test_a_thread_that_may_hear_of_a_run_leaves_a_doubt(application: Work, work: Work) -> None:
    assert told_beside(application, work) == "Thread"


class Worker(threading.Thread):
    """A thread of a class of the user's, which shares a list with the application."""

    def __init__(self, inbox: list[str], steps: "queue.Queue[bool]") -> None:
        super().__init__()
        self.inbox, self.steps = inbox, steps
        self.done = queue.Queue[bool]()

    @override
    def run(self) -> None:
        count = 0
        while self.steps.get():
            count += 1
            self.done.put(True)


@pytest.mark.parametrize("shares", [True, False])
def test_a_thread_of_the_users_own_class_hears_by_what_it_shares(shares: bool) -> None:
    inbox, steps = list[str](), queue.Queue[bool]()
    worker = Worker(inbox if shares else [], steps)
    worker.start()
    try:
        kept = Rewinding(lambda: inbox.append("a"), lambda _: False, tuple)
        steps.put(True)
        worker.done.get(timeout=120)
        left = kept.left()
    finally:
        steps.put(False)
        worker.join(120)
    assert (left is not None) is shares


@pytest.mark.parametrize("is_late", [False, True])
def test_threads_that_wait_for_explanations_leave_no_doubt(is_late: bool) -> None:
    """They hold the application, and end when they have what they wait for. ``is_late``: they ask only
    after another explanation has begun, and go on when that ends."""
    begun, other, may_ask = threading.Event(), threading.Event(), threading.Event()
    found, shared = list[object](), list[str]()

    def answer(question: str, sources: Any) -> str:
        begun.set()
        assert other.wait(120)
        return " ".join([*shared, *(each.text for each in sources)])

    def ask() -> None:
        asked = "not yet"
        may_ask.wait(120)
        asked = "now"
        explainer = Explainer(answer, predicate=contains("bad"))
        found.append(explainer.explain(asked, ["good", "bad"]))

    thread = threading.Thread(target=ask)
    thread.start()
    if not is_late:
        may_ask.set()
        assert begun.wait(120)
    kept = Rewinding(lambda: shared, lambda _: False, tuple)
    may_ask.set()
    assert begun.wait(120)
    if is_late:
        assert kept.left() is None
    other.set()
    thread.join(120)
    assert len(found) == 1
    assert kept.left() is None
