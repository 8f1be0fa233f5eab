"""This module explains the errors of applications that work only in one particular thread."""

import re

from ...errors import StateShared

_CONNECTION = (
    "its database connection works only in the thread in which it was made, and replays are made in "
    "threads of their own. Connect inside the function that is explained, or with sqlite3.connect(..., "
    "check_same_thread=False)"
)
_LOOP = (
    "it needs the event loop of one thread, and replays are made in threads of their own. Call "
    "asyncio.run() in the function that is explained, or give it an async function and await aexplain()"
)
_THREAD = (
    "it works in one thread alone, and replays are made in threads of their own. Make what is bound to "
    "the thread inside the function that is explained"
)
_BOUND = (
    (r"SQLite objects created in a thread", _CONNECTION),
    (r"no current event loop|attached to a different loop|bound to a different event loop", _LOOP),
    (r"outside of (?:the )?(?:application|request|app) context", _THREAD),
    (r"(?:different|wrong|main|same|current) thread", _THREAD),
)


def way_out_of(error: str) -> str:
    """Returns the cause and a remedy if the text of an error shows that replays run in other threads than
    the application expects; else an empty text."""
    return next((remedy for pattern, remedy in _BOUND if re.search(pattern, error)), "")


def served_by(thread: str) -> StateShared:
    """Returns the error for an application that cannot be explained, because a thread that the baseline
    started also does work for replays. ``thread``: the thread's name."""
    return StateShared(
        f"the thread {thread!r}, which the baseline began, works for later runs as well, and it is not "
        "known for which of them it asks a model",
        "Begin a thread in every run, or give its work to a ThreadPoolExecutor, whose work is followed",
    )
