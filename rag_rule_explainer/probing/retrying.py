"""This module repeats an attempt after a failure that may be temporary, with growing pauses in
between."""

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
"""A function that returns the error of an attempt, or None if the attempt succeeded."""


def may_help(retries: Retries, error: BaseException) -> bool:
    """Returns True iff retries are on, the failure may be temporary, and the server asks for no longer
    wait than ``retries.patience``."""
    return retries.most > 0 and is_transient(error) and (retry_after(error) or 0) <= retries.patience


async def again(
    retries: Retries,
    first: Tried,
    retry: Callable[[], Awaitable[Tried]],
    cause: Cause[Tried],
    pause: Callable[[float], Awaitable[None]],
) -> Tried:
    """Calls ``retry`` until an attempt succeeds, fails for good, or is the last one; returns its result.

    ``first``: the result of the first attempt, which the caller has made. ``cause``: returns the error in
    a result. ``pause``: waits for a number of seconds; if it raises, the retries end with that error.
    """

    def is_worth_it(tried: Tried) -> bool:
        why = cause(tried)
        return why is not None and may_help(retries, why)

    tries = [first]

    async def attempt() -> Tried:
        # tenacity also makes the first attempt. The caller has made this attempt already, so its result
        # is returned here.
        return tries.pop() if tries else await retry()

    retrying = AsyncRetrying(
        stop=stop_after_attempt(1 + retries.most),
        wait=_Polite(retries, cause),
        retry=retry_if_result(is_worth_it),
        retry_error_callback=_outcome,
        sleep=pause,
    )
    return await retrying(attempt)


class _Polite(wait_base):
    """This class computes random, growing pauses that are never shorter than the server's
    ``Retry-After``."""

    def __init__(self, retries: Retries, cause: Cause[Any]) -> None:
        self._growing = wait_random_exponential(
            multiplier=retries.first_wait, max=max(retries.longest_wait, retries.first_wait)
        )
        self._cause = cause

    @override
    def __call__(self, retry_state: RetryCallState) -> float:
        error = self._cause(_outcome(retry_state))
        requested = None if error is None else retry_after(error)
        # Many callers may get the same ``Retry-After``. A random part is added to it, so that they do not
        # all retry at the same moment.
        drawn = self._growing(retry_state)
        return drawn if requested is None else requested + drawn / 4


def _outcome(state: RetryCallState) -> Any:
    return None if state.outcome is None else state.outcome.result()
