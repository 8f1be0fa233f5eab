"""This module keeps the audit hook from noting what this package itself does to files."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

_here = threading.local()


def is_unheard() -> bool:
    """Returns True iff this thread is in a block of ``unheard_by_hook``."""
    return bool(getattr(_here, "busy", False))


@contextmanager
def unheard_by_hook() -> Generator[None, None, None]:
    """Keeps the audit hook from noting what this thread does in the block."""
    before, _here.busy = is_unheard(), True
    try:
        yield
    finally:
        _here.busy = before
