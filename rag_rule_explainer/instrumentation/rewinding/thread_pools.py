"""This module reads what code has set on the threads of a pool, which go on from run to run."""

from typing import Any

from .named_attributes import comparable
from .users_attributes import USERS_ATTRIBUTES

REACHING_THREADS = frozenset({"current_thread", "currentThread", "_threads"})
"""Names by which code reaches the thread that it runs in."""


def marks_on_threads(pool: Any) -> object:
    """Returns the names that code has given to threads of a pool, and the attributes that it has set on
    them. A thread has a name from its pool at first; that it was made is no state."""
    made = str(getattr(pool, "_thread_name_prefix", ""))
    threads = [*getattr(pool, "_threads", ())]
    names = sorted(each.name for each in threads if not each.name.startswith(made))
    held = [(each.name, comparable(USERS_ATTRIBUTES.read(each))) for each in threads]
    return names, sorted(repr(each) for each in held if each[1] != comparable({}))
