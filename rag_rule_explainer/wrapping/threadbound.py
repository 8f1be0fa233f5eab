"""Applications that work in one thread alone: how their failure in a replay is recognised, and the way out."""

import re

_BOUND = (
    (
        r"SQLite objects created in a thread",
        "its database connection works only in the thread in which it was made, and replays are made in "
        "threads of their own. Connect inside the function that is explained, or with "
        "sqlite3.connect(..., check_same_thread=False)",
    ),
    (
        r"no current event loop|attached to a different loop|bound to a different event loop",
        "it goes by the event loop of one thread, and replays are made in threads of their own. Call "
        "asyncio.run() in the function that is explained, or give it an async function and await "
        "aexplain()",
    ),
    (
        r"outside of (?:the )?(?:application|request|app) context|different thread|wrong thread"
        r"|(?:main|same) thread|current thread",
        "it works in one thread alone, and replays are made in threads of their own. Make what is bound "
        "to the thread inside the function that is explained",
    ),
)


def way_out_of(error: str) -> str:
    """Returns why a replay failed with this error, and what to do, where a thread is to blame."""
    return next((told for pattern, told in _BOUND if re.search(pattern, error)), "")
