"""This module hides the prints and warnings of replays, because the first run has shown them already.

During an explanation, ``sys.stdout`` and ``warnings.showwarning`` are replaced by filters. Other threads,
conditions, judges and progress print as usual. Stderr and log records are not filtered, so that errors
stay visible.
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
"""True in code that ``muted`` has muted beyond the replay itself."""


def is_muted() -> bool:
    """Returns True iff prints of the current context are hidden."""
    run = participation()
    return _late.get() or (run is not None and run.muted)


@contextmanager
def muted(is_so: bool) -> Generator[None, None, None]:
    """Hides all prints inside the block if ``is_so``, also outside of replays."""
    token = _late.set(is_so or _late.get())
    try:
        yield
    finally:
        _late.reset(token)


class _Stdout:
    """This stream drops the text of muted replays; all else is forwarded to ``behind``."""

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
    """This replacement of ``warnings.showwarning`` drops the warnings of muted replays."""

    def __init__(self, behind: Any) -> None:
        self.behind = behind

    def __call__(self, *warned: Any, **more: Any) -> None:
        if not is_muted():
            self.behind(*warned, **more)


_lock = threading.Lock()
_users = 0


@contextmanager
def muting() -> Generator[None, None, None]:
    """Installs the filters inside the block. Blocks may nest, and may overlap in threads."""
    global _users  # noqa: PLW0603 -- there is one stdout
    with _lock:
        _users += 1
        # A stream that another component redirects meanwhile, such as a tool that reads the prints of
        # its code, is not filtered. A progress bar that began meanwhile is: it wraps the filter.
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
    # If another component has replaced the filter meanwhile, its stream stays in place.
    stdout: Any = sys.stdout
    while isinstance(stdout, _Stdout):
        sys.stdout = stdout = stdout.behind
    shown: Any = warnings.showwarning
    while isinstance(shown, _Warnings):
        warnings.showwarning = shown = shown.behind


def _put_back_late() -> None:
    """Removes the filters if another component restored them after the last explanation ended."""
    with _lock:
        if not _users:
            _restore()
