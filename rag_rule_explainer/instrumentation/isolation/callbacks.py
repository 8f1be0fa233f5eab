"""This module makes an event loop ignore an error that ends a replay, if a callback of the loop raises
it. Otherwise, the loop would report it as a failure of the application."""

import asyncio
from collections.abc import Callable
from typing import Any

from .whereabouts import current_task

_KEY = "exception"


def keep_loop_quiet(error: BaseException) -> None:
    """Makes the running event loop ignore this error if a callback raises it. Does nothing in a task,
    whose errors go to the code that waits for the task, and without an event loop."""
    if current_task() is not None:
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    loop.set_exception_handler(_Ignoring(error, loop.get_exception_handler()))


class _Ignoring:
    """An ``_Ignoring`` handles the next error of an event loop. It ignores ``error``, and passes any
    other error to the handler ``before``. Afterwards, it restores this handler."""

    def __init__(self, error: BaseException, before: Callable[..., Any] | None) -> None:
        self._error, self._before = error, before

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if loop.get_exception_handler() is self:
            loop.set_exception_handler(self._before)
        if context.get(_KEY) is self._error:
            return
        if self._before is None:
            loop.default_exception_handler(context)
        else:
            self._before(loop, context)
