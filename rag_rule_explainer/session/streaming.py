"""This module streams a session: its findings one by one, then the explanation."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import TypeAlias

from ..explanation.explanation import Explanation
from ..probing.loop import run_blocking
from .session import Session
from .updates import Announcer, Update

News: TypeAlias = Update | Explanation
"""The items of a stream: updates, then the explanation."""


class _Watched:
    """A _Watched runs the session in a task, which begins with the first call of ``next``."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._announcer = Announcer(session.sources, session.settings, session.plan)
        self._running: asyncio.Task[Explanation] | None = None
        self._is_interrupted = False

    async def next(self) -> News:
        """Returns the next update; after the last one the explanation. Raises the error that ended the
        session."""
        announcer, running = self._announcer, self._running
        if running is None:
            self._running = running = asyncio.create_task(self._session.explanation(announcer))
            running.add_done_callback(lambda _: announcer.news.set())
        while (update := announcer.take()) is None and not running.done():
            try:
                await announcer.wait()
            except asyncio.CancelledError:
                self.abort()
                raise
        return running.result() if update is None else update

    async def close(self) -> None:
        """Stops the session, and waits for the replays in flight."""
        running = self._running
        if running is None:
            return
        self._announcer.abandon()
        if not running.done():
            self._session.interrupt()
            try:
                await asyncio.wait([running])
            except asyncio.CancelledError:
                self.abort()
                raise
        if not running.cancelled():
            running.exception()  # asyncio would log an exception that no caller reads

    def abort(self) -> None:
        """Stops the session, and cancels the replays in flight."""
        if self._running is not None:
            self._announcer.abandon()
            self._session.interrupt()
            self._running.cancel()

    async def aborted(self) -> None:
        """Calls ``abort`` on the session's own loop."""
        self.abort()

    def interrupt(self) -> bool:
        """Stops the session. Returns False on a second call, and if there is no explanation to wait
        for."""
        again, self._is_interrupted = self._is_interrupted, True
        return self._session.interrupt() and not again

    async def interrupted(self) -> None:
        """Calls ``interrupt`` on the session's own loop."""
        self.interrupt()


async def astream_of(session: Session) -> AsyncGenerator[News, None]:
    """Yields the items of a session, which runs on the caller's loop."""
    watched = _Watched(session)
    try:
        while not isinstance(news := await watched.next(), Explanation):
            yield news
        yield news
    finally:
        await watched.close()


def stream_of(session: Session) -> Generator[News, None, None]:
    """Yields the items of a session; blocks. Ctrl-C while it waits acts as under ``explain()``."""
    watched, news = _Watched(session), None
    try:
        while not isinstance(news, Explanation):
            news = run_blocking(watched.next, watched.interrupt)
            try:
                yield news
            except KeyboardInterrupt:
                # Ctrl-C arrived while this generator was suspended at the yield, not in the consumer's
                # own code: treat it as if it had arrived while waiting for news.
                run_blocking(watched.interrupted)
    except GeneratorExit:
        run_blocking(watched.close)
        raise
    except BaseException:
        run_blocking(watched.aborted)
        raise
