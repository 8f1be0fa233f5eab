"""This module forwards a stream to its consumer. The stream runs in a context of its own, so that context
variables that it sets do not reach the consumer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, suppress
from contextvars import copy_context
from typing import Any

_END = object()


def forwarded(block: AbstractContextManager[None], begin: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Enters ``block``, calls ``begin``, and yields the chunks of the stream that ``begin`` returns."""
    context, stack = copy_context(), ExitStack()
    try:
        context.run(stack.enter_context, block)
        chunks = context.run(begin)
        # If the consumer stops early, the stream has to be closed in the context in which it began.
        stack.callback(getattr(chunks, "close", _nothing))
        while (chunk := context.run(_next, stack, chunks)) is not _END:
            yield chunk
    finally:
        context.run(stack.close)


class AsyncForwarded:
    """An ``AsyncForwarded`` is an async stream for a consumer. It enters ``block`` in a task of its own,
    calls ``begin``, and yields the chunks of the async stream that ``begin`` returns. ``aclose`` closes
    that stream.

    This class is not an async generator, because ``asyncio.run`` closes all async generators at the same
    time when an event loop ends. If one generator then closed another, an error would be reported.
    """

    def __init__(
        self, block: AbstractContextManager[None], begin: Callable[[], AsyncIterator[Any]]
    ) -> None:
        self._chunks: asyncio.Queue[Any] = asyncio.Queue()
        self._wanted = asyncio.Semaphore(0)
        self._produced = _produced(block, begin, self._chunks, self._wanted)
        self._producing: asyncio.Task[None] | None = None
        self._ended = False

    def __aiter__(self) -> "AsyncForwarded":
        return self

    async def __anext__(self) -> Any:
        if self._ended:
            raise StopAsyncIteration
        if self._producing is None:
            self._producing = asyncio.create_task(self._produced())
        else:
            self._wanted.release()
        try:
            if (chunk := await self._chunks.get()) is not _END:
                return chunk
            await self._producing
        except BaseException:
            await self.aclose()
            raise
        self._ended = True
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Closes the stream, and waits until it is closed."""
        self._ended = True
        if self._producing is not None:
            self._producing.cancel()
            await asyncio.wait([self._producing])

    def __del__(self) -> None:
        # The garbage collector may run this method in any thread, but only the loop's own thread may
        # cancel a task.
        task = self._producing
        if task is not None and not task.done():
            with suppress(RuntimeError):  # the RuntimeError is raised if the loop is closed
                task.get_loop().call_soon_threadsafe(task.cancel)


def _produced(
    block: AbstractContextManager[None],
    begin: Callable[[], AsyncIterator[Any]],
    chunks: "asyncio.Queue[Any]",
    wanted: asyncio.Semaphore,
) -> Callable[[], Coroutine[Any, Any, None]]:
    """Returns a coroutine function that puts the chunks of the stream into the queue ``chunks``. The
    coroutine puts the first chunk at once, and each further chunk when ``wanted`` is released again. At
    the end, even after an error, it puts ``_END``."""

    async def produce() -> None:
        try:
            with block:
                async with _closing(begin()) as stream:
                    async for chunk in stream:
                        chunks.put_nowait(chunk)
                        # The next chunk must be read only when the consumer asks for it.
                        await wanted.acquire()
        finally:
            chunks.put_nowait(_END)

    return produce


def _nothing() -> None:
    """Does nothing. This function is used for streams that have no ``close`` method."""


@asynccontextmanager
async def _closing(stream: AsyncIterator[Any]) -> AsyncGenerator[AsyncIterator[Any], None]:
    """Closes the stream at the end of the block if it is an async generator. Other streams have no method
    to close them."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


def _next(open_until_then: ExitStack, chunks: Iterator[Any]) -> Any:
    try:
        return next(chunks)
    except StopIteration:
        return _END
    except Exception as error:
        # The context manager ``block`` may raise a clearer error instead of ``error``.
        if open_until_then.__exit__(type(error), error, error.__traceback__):
            return _END
        raise
