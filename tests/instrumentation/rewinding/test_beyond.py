"""What cannot be put back tells when it has changed, and nothing that cannot be asked does any harm."""

import gc
import io
import queue
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding


def told(application: Callable[[], Any], change: Callable[[], object]) -> str:
    kept = Rewinding(application, lambda _: False, tuple)
    assert kept.left() is None
    change()
    left = kept.left()
    return "" if left is None else left.told


def test_what_is_set_for_the_process_counts_where_code_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    was = gc.get_threshold()
    try:
        assert "gc" in told(lambda: gc.get_threshold()[0] == 1234, lambda: gc.set_threshold(1234))
        # Libraries set it as well.
        assert not told(lambda: "an answer", lambda: gc.set_threshold(4321))
    finally:
        gc.set_threshold(*was)
    monkeypatch.setattr(sys, "ps1", "calm", raising=False)
    assert "sys.ps1" in told(lambda: sys.ps1, lambda: monkeypatch.setattr(sys, "ps1", "alert"))


def test_an_asynchronous_generator_that_goes_on_is_told_of() -> None:
    async def modes() -> AsyncGenerator[str, str]:
        mode = "calm"
        while True:
            mode = yield mode

    going = modes()

    def go(said: Any) -> None:
        with suppress(StopIteration):
            going.asend(said).send(None)

    go(None)
    assert "async_generator" in told(lambda: going, lambda: go("alert"))


def test_a_lock_or_a_queue_is_told_of_where_code_finds_out_in_which_state_it_is() -> None:
    lock, jobs, few = threading.Lock(), queue.Queue[str](), queue.Queue[str](1)

    def entering() -> str:
        with lock:
            jobs.put("a")
        return "an answer"

    # Another thread holds the lock by now.
    assert not told(entering, lock.acquire)
    assert not told(entering, lambda: jobs.put("b"))
    assert "Queue" in told(lambda: jobs.qsize(), lambda: jobs.put("c"))
    assert "Queue" in told(lambda: few.put("a"), lambda: few.put("d"))
    assert "lock" in told(lambda: lock.locked(), lock.release)


class Hostile:
    """Raises whatever it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = object.__hash__


class Closed(io.TextIOBase):
    @property
    def closed(self) -> bool:
        raise RuntimeError


def test_what_raises_when_it_is_asked_does_no_harm() -> None:
    stream = io.TextIOWrapper(io.BytesIO())
    stream.detach()
    held: list[Any] = [stream, Closed(), Hostile()]
    kept = Rewinding(lambda: held[-1], lambda _: False, tuple)
    held.append(Hostile())
    assert kept.left() is None
    with kept.earlier():
        assert len(held) == 3
    assert len(held) == 4
