"""This module forwards a stream to its consumer. The stream runs in a context of its own, so that context
variables that it sets do not reach the consumer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from contextvars import copy_context
from typing import Any

_END = object()


def forwarded(block: AbstractContextManager[None], begin: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Enters ``block``, calls ``begin``, and yields the chunks of the stream that it returns."""
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


async def aforwarded(
    block: AbstractContextManager[None], begin: Callable[[], AsyncIterator[Any]]
) -> AsyncIterator[Any]:
    """Enters ``block`` in a task of its own, calls ``begin``, and yields the chunks of the async stream
    that it returns."""
    chunks: asyncio.Queue[Any] = asyncio.Queue()
    wanted = asyncio.Semaphore(0)

    async def produce() -> None:
        try:
            with block:
                async with _closing(begin()) as stream:
                    async for chunk in stream:
                        chunks.put_nowait(chunk)
                        # The next chunk is only read when the consumer asks for it.
                        await wanted.acquire()
        finally:
            chunks.put_nowait(_END)

    producing = asyncio.create_task(produce())
    try:
        while (chunk := await chunks.get()) is not _END:
            yield chunk
            wanted.release()
        await producing
    finally:
        producing.cancel()
        await asyncio.wait([producing])


def _nothing() -> None:
    """Does nothing: stands for the missing ``close`` of a stream."""


@asynccontextmanager
async def _closing(stream: AsyncIterator[Any]) -> AsyncGenerator[AsyncIterator[Any], None]:
    """Closes the stream at the end of the block, if it can be closed."""
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
        # ``block`` replaces the error by one that names its cause.
        if open_until_then.__exit__(type(error), error, error.__traceback__):
            return _END
        raise
