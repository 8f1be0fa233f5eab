"""This module forwards a stream that is made in a context of its own, apart from the consumer's."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from contextvars import copy_context
from typing import Any

_END = object()


def forwarded(block: AbstractContextManager[None], begin: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Yields the chunks of the stream that ``begin`` returns inside the block."""
    context, stack = copy_context(), ExitStack()
    try:
        context.run(stack.enter_context, block)
        chunks = context.run(begin)
        # If the consumer stops early, the stream is closed in the context that began it.
        stack.callback(getattr(chunks, "close", _nothing))
        while (chunk := context.run(_next, stack, chunks)) is not _END:
            yield chunk
    finally:
        context.run(stack.close)


async def aforwarded(
    block: AbstractContextManager[None], begin: Callable[[], AsyncIterator[Any]]
) -> AsyncIterator[Any]:
    """Yields the chunks of an async stream that ``begin`` returns inside the block, in a task."""
    chunks: asyncio.Queue[Any] = asyncio.Queue()
    wanted = asyncio.Semaphore(0)

    async def produce() -> None:
        try:
            with block:
                async with _closing(begin()) as stream:
                    async for chunk in stream:
                        chunks.put_nowait(chunk)
                        # The stream is never read ahead of its consumer.
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
    """Closes nothing, for streams without ``close``."""


@asynccontextmanager
async def _closing(stream: AsyncIterator[Any]) -> AsyncGenerator[AsyncIterator[Any], None]:
    """Closes the stream at the end, in the context that it ran in, if it can be closed."""
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
        # The block of the run turns the error into one that names its cause.
        if open_until_then.__exit__(type(error), error, error.__traceback__):
            return _END
        raise
