"""Threads of the server under test."""

import threading

Threads = frozenset[threading.Thread]


def running() -> Threads:
    """The threads that there are now, those of earlier tests among them."""
    return frozenset(threading.enumerate())


def begun_since(before: Threads) -> Threads:
    """The threads that began after ``before`` and have not ended.

    Threads that replays ran in end when they are idle, so they are left out. A thread of an earlier test
    may end at any time, so threads are told apart, never counted before and after.
    """
    return frozenset(each for each in running() - before if not each.name.startswith("rag-rule"))
