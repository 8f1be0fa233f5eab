"""Waiting before another try, and no longer than there is a reason to."""

import asyncio

import anyio

from .bill import Bill


async def pause(seconds: float, bill: Bill, stopped: asyncio.Event) -> None:
    """Waits so long, until there is a stop, or until the time that the bill allows is up."""
    limit = bill.limits.seconds
    if limit is not None:
        seconds = min(seconds, max(0.0, limit - bill.seconds))
    with anyio.move_on_after(seconds):
        await stopped.wait()
