"""Keeps what replays print and warn of from being shown: the first run has shown it already.

While somebody explains, ``sys.stdout`` and ``warnings.showwarning`` are replaced by what passes
everything on but what comes out of a replay. Other threads, conditions, judges and progress print as
ever, and so does whatever outlives its replay. Stderr and log records are left alone: that is where
trouble is told.
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

_late: ContextVar[bool] = ContextVar("rag_rule_late", default=False)
"""Whether what goes on is the end of a muted replay, which is told when it was judged."""


def is_muted() -> bool:
    """Returns True iff what is printed here and now is not shown."""
    run = participation()
    return _late.get() or (run is not None and run.muted)


@contextmanager
def muted(is_so: bool) -> Generator[None, None, None]:
    """Inside, nothing is shown, if it is to be so, be it outside of replays."""
    token = _late.set(is_so or _late.get())
    try:
        yield
    finally:
        _late.reset(token)


class _Stdout:
    """Passes on what is written, but for replays; in all else it is the stream behind it."""

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
    """Passes on what is warned of, but for replays."""

    def __init__(self, behind: Any) -> None:
        self.behind = behind

    def __call__(self, *warned: Any, **more: Any) -> None:
        if not is_muted():
            self.behind(*warned, **more)


_lock = threading.Lock()
_users = 0


@contextmanager
def muting() -> Generator[None, None, None]:
    """Inside, muted replays are not heard. Nests, and is shared."""
    global _users  # noqa: PLW0603 -- there is one stdout
    with _lock:
        _users += 1
        # What somebody redirects meanwhile, such as a tool that reads what its code prints, is theirs.
        # But a progress bar that has begun meanwhile stands before ours.
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
    # Somebody may have replaced ours meanwhile; it passes everything on, so theirs stays.
    stdout: Any = sys.stdout
    while isinstance(stdout, _Stdout):
        sys.stdout = stdout = stdout.behind
    shown: Any = warnings.showwarning
    while isinstance(shown, _Warnings):
        warnings.showwarning = shown = shown.behind


def _put_back_late() -> None:
    """Where somebody put ours back after all had ended."""
    with _lock:
        if not _users:
            _restore()
