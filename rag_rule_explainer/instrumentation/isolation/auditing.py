"""What Python tells of files and of the environment while a run goes on.

Whoever opens a file, connects to a database in one, or sets a variable of the environment, by whatever
library, raises an audit event, which is told to the run that the current context takes part in.
"""

import sys
import threading
from functools import cache
from typing import Any

from ..run_context import inside_retrieval, participation

_EVENTS = frozenset(
    {
        *("open", "sqlite3.connect", "os.putenv", "os.unsetenv", "os.rename", "os.remove", "os.mkdir"),
        *("os.listdir", "os.scandir", "os.symlink", "os.link", "os.chmod", "os.utime", "os.truncate"),
        *("subprocess.Popen", "os.system", "os.posix_spawn"),
    }
)
_here = threading.local()


@cache
def listen() -> None:
    """From now on, runs are told. An audit hook stays for as long as the process does."""
    sys.addaudithook(_told)


def _told(event: str, given: tuple[Any, ...]) -> None:
    if event not in _EVENTS or getattr(_here, "busy", False):
        return
    run = participation()
    # What a retrieval reads and writes is not the application's: replays are served instead.
    if run is None or run.outside is None or inside_retrieval.get():
        return
    _here.busy = True
    try:
        run.outside.take(event, given)
    except Exception:  # noqa: S110 -- what is raised here would be raised in the application
        pass
    finally:
        _here.busy = False
