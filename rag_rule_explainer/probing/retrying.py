"""Tries again what may pass, with growing pauses."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt
from tenacity.retry import retry_if_result
from tenacity.wait import wait_base, wait_random_exponential
from typing_extensions import override

from .retries import Retries
from .transient import is_transient, retry_after

Tried = TypeVar("Tried")
Cause = Callable[[Tried], BaseException | None]
"""Why a try failed; None where it did not."""


def may_help(retries: Retries, error: BaseException) -> bool:
    """Returns True iff the failure may pass within what one is ready to wait."""
    return retries.most > 0 and is_transient(error) and (retry_after(error) or 0) <= retries.patience


async def again(
    retries: Retries,
    first: Tried,
    retry: Callable[[], Awaitable[Tried]],
    cause: Cause[Tried],
    pause: Callable[[float], Awaitable[None]],
) -> Tried:
    """Returns what the tries come to: the first that is no failure that may pass, else the last one.

    ``first``: what the first try came to. ``pause``: waits so many seconds, or raises.
    """

    def is_worth_it(tried: Tried) -> bool:
        why = cause(tried)
        return why is not None and may_help(retries, why)

    tries = [first]

    async def one() -> Tried:
        # The first one has been made; tenacity counts it with the others.
        return tries.pop() if tries else await retry()

    retrying = AsyncRetrying(
        stop=stop_after_attempt(1 + retries.most),
        wait=_Polite(retries, cause),
        retry=retry_if_result(is_worth_it),
        retry_error_callback=_outcome,
        sleep=pause,
    )
    return await retrying(one)


class _Polite(wait_base):
    """Random and growing, and not before the other side said."""

    def __init__(self, retries: Retries, cause: Cause[Any]) -> None:
        self._growing = wait_random_exponential(
            multiplier=retries.first_wait, max=max(retries.longest_wait, retries.first_wait)
        )
        self._cause = cause

    @override
    def __call__(self, retry_state: RetryCallState) -> float:
        error = self._cause(_outcome(retry_state))
        told = None if error is None else retry_after(error)
        # Those who were told the same time shall not all come back at that time.
        drawn = self._growing(retry_state)
        return drawn if told is None else told + drawn / 4


def _outcome(state: RetryCallState) -> Any:
    return None if state.outcome is None else state.outcome.result()
