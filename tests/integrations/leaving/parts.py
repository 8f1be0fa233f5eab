"""What the applications that leave something are made of."""

import os
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager

from tests.integrations.known import shown_in

Search = Callable[[str], list[str]]
Ask = Callable[[str], str]
Answer = Callable[[str], str]
Leaving = Callable[[Search, Ask], Answer]
KEY = "RAG_RULE_TEST_MODE"
HELD_OPEN = ExitStack()
"""What applications hold open over their runs."""


@contextmanager
def cleared() -> Generator[None, None, None]:
    """Keeps what applications set in the environment, and hold open, from whatever runs next."""
    os.environ.pop(KEY, None)
    with HELD_OPEN:
        yield
    os.environ.pop(KEY, None)


def said(prompt: str) -> str:
    """What the model of all of them says."""
    if prompt.startswith("Is there bad news?"):
        return "yes" if {"b", "d"} <= set(shown_in(prompt)) else "no"
    return "There is bad news today." if prompt.startswith("Warn") else "There is good news today."


def written(ask: Ask, mode: str, found: list[str]) -> str:
    return ask(f"{mode} the reader.\n" + "\n".join(found))


def mode_of(found: list[str]) -> str:
    return "Warn" if len(found) > 1 else "Calm"


def answering(
    search: Search, ask: Ask, note: Callable[[], object], noted: Callable[[], object]
) -> Answer:
    """Warns where it found two documents, or has ever found two."""

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1:
            note()
        return written(ask, "Warn" if noted() else "Calm", found)

    return answer


def asking(search: Search, ask: Ask, asked: Callable[[str, list[str]], object]) -> Answer:
    """Asks something outside about what it found, and goes by its documents alone."""

    def answer(question: str) -> str:
        found = search(question)
        asked(question, found)
        return written(ask, "Warn" if len(found) > 1 else "Calm", found)

    return answer


class Meeting:
    """Whoever comes waits a moment for another one, so that replays at a time meet in the middle."""

    def __init__(self) -> None:
        self.meeting = threading.Barrier(2)

    def __call__(self) -> None:
        try:
            self.meeting.wait(0.02)
        except threading.BrokenBarrierError:
            self.meeting.reset()
