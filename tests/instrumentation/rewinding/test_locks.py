"""Locks of libraries: they are never put back, and what goes by them is doubted."""

import logging
from logging.handlers import MemoryHandler
from pathlib import Path

from filelock import FileLock

from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding


def test_a_lock_that_a_run_took_is_doubted_and_stays_taken(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", thread_local=False)

    def application() -> bool:
        return lock.is_locked or bool(lock.acquire())

    rewinding = Rewinding(application, lambda _: False, tuple)
    application()
    left = rewinding.left()
    assert left is not None
    assert "FileLock" in left.place
    assert not rewinding.is_useful()
    with rewinding.earlier():
        assert lock.is_locked
    lock.release()


def test_a_lock_that_each_run_gives_back_does_no_harm(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", thread_local=False)

    def application() -> None:
        lock.acquire()
        lock.release()

    rewinding = Rewinding(application, lambda _: False, tuple)
    application()
    assert rewinding.left() is None
    assert not rewinding.is_useful()


def test_a_lock_that_each_run_enters_does_no_harm(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")

    def application() -> None:
        with lock:
            pass

    rewinding = Rewinding(application, lambda _: False, tuple)
    application()
    assert rewinding.left() is None
    assert not rewinding.is_useful()


def test_a_handler_of_logs_is_no_lock() -> None:
    """It has ``acquire`` and ``release`` too, but what it holds is put back."""
    handler = MemoryHandler(9)

    def application() -> int:
        handler.buffer.append(logging.makeLogRecord({"msg": "a line"}))
        return len(handler.buffer)

    rewinding = Rewinding(application, lambda _: False, tuple)
    application()
    assert rewinding.is_useful()
