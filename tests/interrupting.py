"""Knowing when a Ctrl-C has come to where it stops a search: no test guesses how long that takes."""

import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Nothing public shows it.
from rag_rule_explainer.probing.loop import _Waiting  # pyright: ignore[reportPrivateUsage]


def tell_stops(tell: Callable[[], object]) -> Callable[[], None]:
    """Calls ``tell`` on the private loop after each Ctrl-C that has stopped a call.

    Returns what ends that.
    """
    waiting: Any = _Waiting
    before = waiting._stop

    def stop(self: Any) -> None:
        before(self)
        tell()

    waiting._stop = stop

    def end() -> None:
        waiting._stop = before

    return end


@contextmanager
def stops() -> Generator[threading.Event, None, None]:
    """Inside, the event is set once Ctrl-C has stopped a call: nothing is begun after that."""
    stopped = threading.Event()
    end = tell_stops(stopped.set)
    try:
        yield stopped
    finally:
        end()


def say(line: str) -> None:
    """Writes the line to stdout in one piece: print() writes a line and its end apart, and the word of
    another thread comes between them."""
    os.write(1, f"{line}\n".encode())


def telling(sign: Path) -> str:
    """The lines with which another process makes a file as soon as a Ctrl-C has stopped it."""
    return (
        "from pathlib import Path\n"
        "from rag_rule_explainer.probing.loop import _Waiting\n"
        "stop = _Waiting._stop\n"
        f"STOPPED = Path({str(sign)!r})\n"
        "_Waiting._stop = lambda waiting: (stop(waiting), STOPPED.touch())\n"
    )


def until(happened: Callable[[], object]) -> None:
    """Waits for it, as long as a busy machine may take. Raises AssertionError if it does not happen."""
    patience = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < patience, "it never happened"
        time.sleep(0.005)
