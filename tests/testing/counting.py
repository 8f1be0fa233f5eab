"""Threads of the server under test."""

import threading


def active_count() -> int:
    """How many threads there are, but for those that replays ran in, which end when they are idle."""
    return sum(not thread.name.startswith("rag-rule") for thread in threading.enumerate())
