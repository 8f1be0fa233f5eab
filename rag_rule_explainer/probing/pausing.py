"""Waiting before another try, and no longer than there is a reason to."""

import asyncio

import anyio

from .budget import Budget


async def pause(seconds: float, budget: Budget, stopped: asyncio.Event) -> None:
    """Waits so long, until there is a stop, or until the time that the budget allows is up."""
    limit = budget.limits.seconds
    if limit is not None:
        seconds = min(seconds, max(0.0, limit - budget.seconds))
    with anyio.move_on_after(seconds):
        await stopped.wait()
