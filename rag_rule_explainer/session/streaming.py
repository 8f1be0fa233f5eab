"""A session watched while it is under way: its findings one by one, the explanation last."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import TypeAlias

from ..explanation.explanation import Explanation
from ..probing.loop import run_blocking
from .session import Session
from .updates import Announcer, Update

News: TypeAlias = Update | Explanation
"""What a stream yields: updates, then the explanation."""


class _Watched:
    """The session runs in a task of its own, which is begun with the first call of ``next``."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._announcer = Announcer(session.sources, session.settings, session.plan)
        self._running: asyncio.Task[Explanation] | None = None
        self._is_interrupted = False

    async def next(self) -> News:
        """Returns the next update; after the last one the explanation, or what ended the session is
        raised."""
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
        """Asks for nothing more, and waits for what is in flight."""
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
            running.exception()  # nobody waits for it any more

    def abort(self) -> None:
        """Cancels what is in flight as well."""
        if self._running is not None:
            self._announcer.abandon()
            self._session.interrupt()
            self._running.cancel()

    async def aborted(self) -> None:
        """``abort`` on the session's own loop."""
        self.abort()

    def interrupt(self) -> bool:
        """Asks for nothing more. False where that leaves nothing to wait for, and when it is said
        again."""
        again, self._is_interrupted = self._is_interrupted, True
        return self._session.interrupt() and not again

    async def interrupted(self) -> None:
        """``interrupt`` on the session's own loop."""
        self.interrupt()


async def astream_of(session: Session) -> AsyncGenerator[News, None]:
    """On the caller's loop."""
    watched = _Watched(session)
    try:
        while not isinstance(news := await watched.next(), Explanation):
            yield news
        yield news
    finally:
        await watched.close()


def stream_of(session: Session) -> Generator[News, None, None]:
    """Blocking; Ctrl-C while it waits is as under ``explain()``."""
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
