"""This module keeps the streamed replies that the application may stop reading."""

import asyncio
import json
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, Generic, NamedTuple, TypeVar

from .tools_in_use import tools_in_use

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Arrived(Generic[T]):
    """An ``Arrived`` is the part of a streamed reply that has arrived. ``within``: the names of the tools
    that were running when this part was read; ``reader``: identifies the thread and the task that read
    it."""

    reply: T
    within: tuple[str, ...]
    reader: object


class _Connection(NamedTuple):
    """A ``_Connection`` is the connection that a client keeps open for a stream. ``close``: closes the
    stream, and returns an awaitable if the stream is async; ``loop``: the event loop in which an async
    stream was opened; None for others."""

    close: Callable[[], Any]
    loop: asyncio.AbstractEventLoop | None


@dataclass(slots=True, eq=False)
class OpenStreams(Generic[T]):
    """An ``OpenStreams`` holds the parts of the replies that have arrived while a run's models stream
    them. It also holds the connections of streams that were not read to their end.

    It takes no lock, because the garbage collector may close an abandoned stream at any point, even while
    a lock is held.
    """

    _arrived: dict[Hashable, Arrived[T]] = field(default_factory=dict[Hashable, Arrived[T]])
    _connections: dict[Hashable, _Connection] = field(default_factory=dict[Hashable, _Connection])

    def get(self, key: Hashable) -> T | None:
        """Returns the arrived part of the reply to the request with this key; None if nothing has
        arrived."""
        found = self._arrived.get(key)
        return None if found is None else found.reply

    def take(self, key: Hashable, reply: T) -> None:
        """Records the part of a reply that has arrived. It replaces the part that was recorded before."""
        self._arrived[key] = Arrived(reply, tools_in_use.get(), _reader())

    def end(self, key: Hashable) -> None:
        """Forgets a stream that has ended."""
        self._arrived.pop(key, None)

    def open(self, *, of_this_reader: bool = False) -> list[tuple[Hashable, Arrived[T]]]:
        """Returns the parts of the replies that have not ended, with their keys. ``of_this_reader``: True
        to return only replies whose last chunk was read in this thread and task. A reader that asks a
        model again has stopped reading these replies, at least until the new reply comes."""
        here = _reader() if of_this_reader else None
        return [each for each in list(self._arrived.items()) if here is None or each[1].reader == here]

    def hold(self, key: Hashable, close: Callable[[], Any], *, is_async: bool = False) -> None:
        """Records that a stream holds a connection until it is read to its end, or closed by ``close``.
        ``is_async``: True if ``close`` must be called on the current event loop."""
        self._connections[key] = _Connection(close, asyncio.get_running_loop() if is_async else None)

    def release(self, key: Hashable) -> None:
        """Records that a stream was read to its end, so that it holds no connection."""
        self._connections.pop(key, None)

    def close(self) -> None:
        """Closes the sync streams that the application left open. The garbage collector would close them
        later, perhaps while this thread holds a lock of the client. The thread would then wait for this
        lock for ever."""
        for close in self._taken(None):
            with suppress(Exception):  # the close method of a user's class may raise any error
                close()

    async def aclose(self) -> None:
        """Closes the async streams that the application left open in the running event loop, so that
        their connections do not stay open."""
        for close in self._taken(asyncio.get_running_loop()):
            with suppress(Exception):  # the close method of a user's class may raise any error
                closing = close()
                if isawaitable(closing):
                    await closing

    def _taken(self, loop: asyncio.AbstractEventLoop | None) -> list[Callable[[], Any]]:
        """Returns functions that close the streams of this loop, or the sync streams if ``loop`` is None.
        Removes these streams from the record."""
        own = [key for key, each in list(self._connections.items()) if each.loop is loop]
        return [self._connections.pop(key).close for key in own]


def are_whole(arguments: Sequence[object]) -> bool:
    """Returns True iff the arguments (as JSON) of all calls in a part of a reply have arrived completely.
    Only then may a replay be judged by these calls."""
    try:
        return all(isinstance(json.loads(str(each)), dict) for each in arguments)
    except (ValueError, RecursionError):
        return False


def _reader() -> object:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return threading.get_ident(), None if task is None else id(task)
