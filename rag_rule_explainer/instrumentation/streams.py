"""Hands on a stream chunk by chunk, made in a block that the consumer's context is no part of."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from contextvars import copy_context
from typing import Any

_END = object()


def streamed(block: AbstractContextManager[None], begin: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Yields the chunks of the stream that ``begin`` gives inside the block."""
    context, stack = copy_context(), ExitStack()
    try:
        context.run(stack.enter_context, block)
        chunks = context.run(begin)
        # Also where the consumer leaves early, it ends where it began.
        stack.callback(getattr(chunks, "close", _nothing))
        while (chunk := context.run(_next, stack, chunks)) is not _END:
            yield chunk
    finally:
        context.run(stack.close)


async def astreamed(
    block: AbstractContextManager[None], begin: Callable[[], AsyncIterator[Any]]
) -> AsyncIterator[Any]:
    """Yields the same for an async stream, in a task, whose context is its own."""
    chunks: asyncio.Queue[Any] = asyncio.Queue()
    wanted = asyncio.Semaphore(0)

    async def produce() -> None:
        try:
            with block:
                async with _closing(begin()) as stream:
                    async for chunk in stream:
                        chunks.put_nowait(chunk)
                        # A stream that nobody reads on is not read ahead of its reader.
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
    """For streams that need no closing."""


@asynccontextmanager
async def _closing(stream: AsyncIterator[Any]) -> AsyncGenerator[AsyncIterator[Any], None]:
    """Closes it in the context that it ran in, if it can be closed."""
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
        # Through the block the run is made in, which tells whose fault it is.
        if open_until_then.__exit__(type(error), error, error.__traceback__):
            return _END
        raise
