"""This module streams the results of a session: its findings (claimed rules, each with its evidence) one
by one, then the explanation."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import TypeAlias

from ..explanation.explanation import Explanation
from ..probing.loop import run_blocking
from ..probing.main_task import told_of_ctrl_c
from .session import Session
from .updates import Announcer, Update

News: TypeAlias = Update | Explanation
"""An item of a stream: an update, or the explanation as the last item."""


class _Watched:
    """A _Watched runs a session in an asyncio task and returns its results one by one. The task begins
    with the first call of ``next``."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._announcer = Announcer(session.sources, session.settings, session.plan)
        self._running: asyncio.Task[Explanation] | None = None
        self._is_interrupted = False

    async def next(self) -> News:
        """Waits for the next update and returns it; after the last update, returns the explanation.
        Raises the error that ended the session."""
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
        """Stops the session, and waits until the running replays have ended."""
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
            running.exception()  # asyncio logs an exception that nobody reads; this call reads it

    def abort(self) -> None:
        """Stops the session, and cancels its running replays."""
        if self._running is not None:
            self._announcer.abandon()
            self._session.interrupt()
            self._running.cancel()

    async def aborted(self) -> None:
        """Calls ``abort``. As a coroutine, it can be run on the event loop of the session."""
        self.abort()

    def interrupt(self) -> bool:
        """Stops the session after Ctrl-C. Returns True if an explanation will still follow, so that the
        caller should wait for it. Returns False on a second call, or if there is no baseline yet."""
        again, self._is_interrupted = self._is_interrupted, True
        return self._session.interrupt() and not again

    async def interrupted(self) -> None:
        """Calls ``interrupt``. As a coroutine, it can be run on the event loop of the session."""
        self.interrupt()


async def astream_of(session: Session) -> AsyncGenerator[News, None]:
    """Yields the updates of a session and then its explanation. The session runs on the caller's event
    loop."""
    watched = _Watched(session)
    try:
        news: News | None = None
        while not isinstance(news, Explanation):
            with told_of_ctrl_c(watched.interrupt):
                news = await watched.next()
            yield news
    finally:
        await watched.close()


def stream_of(session: Session) -> Generator[News, None, None]:
    """Yields the updates of a session and then its explanation, and blocks between them. Ctrl-C during
    such a wait has the same effect as in ``explain``."""
    watched, news = _Watched(session), None
    try:
        while not isinstance(news, Explanation):
            news = run_blocking(watched.next, watched.interrupt)
            try:
                yield news
            except KeyboardInterrupt:
                # The KeyboardInterrupt was raised at the yield, not in the consumer's own code. It is
                # treated as if the user had pressed Ctrl-C during the wait for the next item.
                run_blocking(watched.interrupted)
    except GeneratorExit:
        run_blocking(watched.close)
        raise
    except BaseException:
        run_blocking(watched.aborted)
        raise
