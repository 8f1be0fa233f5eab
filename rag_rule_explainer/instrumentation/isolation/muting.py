"""This module hides the prints and warnings of replays, because the first run has already shown the same.

During an explanation, filters replace ``sys.stdout`` and ``warnings.showwarning``. Code outside of
replays, such as judges and the progress display, prints as usual. Stderr and log records are not
filtered, so that errors stay visible.
"""

import sys
import threading
import warnings
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO, cast

from rich.file_proxy import FileProxy

from ..run_context import participation

_all_muted: ContextVar[bool] = ContextVar("rag_rule_late", default=False)
"""True inside a block of ``muted``, where the prints of all code are hidden, not only those of
replays."""


def is_muted() -> bool:
    """Returns True iff prints of the calling code are hidden now."""
    run = participation()
    return _all_muted.get() or (run is not None and run.muted)


@contextmanager
def muted(is_so: bool) -> Generator[None, None, None]:
    """Hides everything that is printed in the block, even outside of replays, if ``is_so`` is True."""
    token = _all_muted.set(is_so or _all_muted.get())
    try:
        yield
    finally:
        _all_muted.reset(token)


class _Stdout:
    """A ``_Stdout`` is a stream that drops what muted replays print, and passes all other text to the
    stream ``behind``."""

    def __init__(self, behind: Any) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        if is_muted():
            return len(text)
        if not _users and sys.stdout is self:
            _put_back_late()
        return self.behind.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


class _Warnings:
    """A ``_Warnings`` replaces ``warnings.showwarning``, and drops the warnings of muted replays."""

    def __init__(self, behind: Any) -> None:
        self.behind = behind

    def __call__(self, *warned: Any, **more: Any) -> None:
        if not is_muted():
            self.behind(*warned, **more)


_lock = threading.Lock()
_users = 0


@contextmanager
def muting() -> Generator[None, None, None]:
    """Installs the filters for the duration of the block. Blocks may be nested, and may overlap in
    several threads."""
    global _users  # noqa: PLW0603 -- the process has only one stdout to filter
    with _lock:
        _users += 1
        # Other code may redirect the stream during an explanation, for example a tool that reads what its
        # code prints. Output to such a stream is not filtered. Output to a progress bar that wraps
        # ``sys.stdout`` during an explanation is filtered, because the bar wraps the filter.
        stdout: Any = sys.stdout
        if isinstance(stdout, FileProxy) or (_users == 1 and stdout is not None):
            sys.stdout = cast("TextIO", _Stdout(stdout))
        if _users == 1:
            warnings.showwarning = _Warnings(warnings.showwarning)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                _restore()


def _restore() -> None:
    # If other code has replaced the filter by its own stream, this stream must stay.
    stdout: Any = sys.stdout
    while isinstance(stdout, _Stdout):
        sys.stdout = stdout = stdout.behind
    shown: Any = warnings.showwarning
    while isinstance(shown, _Warnings):
        warnings.showwarning = shown = shown.behind


def _put_back_late() -> None:
    """Removes a filter that other code has restored after the last explanation ended. Such code may have
    redirected the stream during the explanation, and have ended the redirection later."""
    with _lock:
        if not _users:
            _restore()
