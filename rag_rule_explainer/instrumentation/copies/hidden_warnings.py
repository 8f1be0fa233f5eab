"""This module hides the warnings of a short block, in one thread at a time."""

import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager

_lock = threading.RLock()


@contextmanager
def warnings_hidden() -> Generator[None, None, None]:
    """Hides all warnings during the block.

    The filters for warnings belong to the whole process. If two such blocks overlapped in two threads,
    the one that ends last would restore the filters of the other one, and warnings would stay hidden.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
