"""This module stops replays: after a stop, none begins, and the pauses before retries end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from .budget import Budget
from .limits import JudgedTooLate, LimitReached

T = TypeVar("T")

LATE_SECONDS = 1.0
"""The seconds that a condition may use to judge an answer, even if the limit of seconds is reached
meanwhile. The answer is already paid for, and most conditions judge it at once."""


class Stopper:
    """A Stopper decides whether more replays may begin. It belongs to one event loop. ``reason``: the
    reason of the first stop; empty before that. ``is_late``: True after a judgement was not made in
    time."""

    def __init__(self, budget: Budget) -> None:
        self.reason = ""
        self.is_late = False
        self._budget = budget
        self._stopped = asyncio.Event()
        self._followers: list[Callable[[str], object]] = []

    def stop(self, reason: str) -> None:
        """Forbids that any further replay or retry begins, ends the current pauses, and calls the
        functions that were given to ``follow``."""
        self.reason = self.reason or reason
        self._stopped.set()
        for follower in self._followers:
            follower(reason)

    def follow(self, follower: Callable[[str], object]) -> None:
        """Calls ``follower`` with the reason at every stop from now on. If there was a stop before, also
        calls it at once."""
        self._followers.append(follower)
        if self.reason:
            follower(self.reason)

    def check(self) -> None:
        """Raises LimitReached after a stop."""
        if self.reason:
            raise LimitReached(self.reason)

    async def by_the_limit(self, outcome: Awaitable[T]) -> T:
        """Waits for the outcome of a request to a judge and returns it. If the limit of seconds is
        reached first, cancels the request, calls ``stop``, and raises JudgedTooLate."""
        return await self._within(0.0, 0.0, outcome)

    async def soon(self, outcome: Awaitable[T], *, of_judge: bool) -> T:
        """Waits for the outcome of a condition and returns it. Waits until the limit of seconds. If this
        limit is nearer than ``LATE_SECONDS``, or already reached, waits for ``LATE_SECONDS``.

        ``of_judge``: True if the condition waits for a judge. The limit then cancels the request to the
        judge, and the condition has ``LATE_SECONDS`` after the limit to end by itself.
        """
        # After one late judgement, the other conditions get no extra seconds. Otherwise, many conditions
        # could wait for their extra seconds one after the other.
        least = 0.0 if self.is_late else LATE_SECONDS
        return await self._within(least, least if of_judge else 0.0, outcome)

    async def _within(self, least: float, more: float, outcome: Awaitable[T]) -> T:
        limit = self._budget.limits.seconds
        if limit is None:
            return await outcome
        with anyio.move_on_after(max(least, limit - self._budget.seconds + more)):
            return await outcome
        self.is_late = True
        reason = f"the limit of {limit:g} seconds is reached"
        self.stop(reason)
        raise JudgedTooLate(reason)

    async def pause(self, seconds: float) -> None:
        """Waits before a retry: for ``seconds``, but not beyond the limit of seconds. Raises LimitReached
        at once after a stop, also if the stop comes during the wait."""
        limit = self._budget.limits.seconds
        if limit is not None:
            seconds = min(seconds, max(0.0, limit - self._budget.seconds))
        with anyio.move_on_after(seconds):
            await self._stopped.wait()
        self.check()
