"""This module repeats a failed baseline if the reason may be temporary, such as a rate limit. Failed
replays are repeated under the same rules."""

import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from ..errors import BaselineFailed
from ..probing.interrupts import kept
from ..probing.limits import Limits
from ..probing.replaying import Baseline, Replay, UnusableReply
from ..probing.retries import Retries
from ..sources import Source
from .runs import ApplicationRun

T = TypeVar("T")
Recorded = tuple[Sequence[Source], Baseline]


class MadeBaseline(NamedTuple):
    """A ``MadeBaseline`` holds a baseline's output, its recorded sources, and how to replay it."""

    output: Any
    recorded: Recorded
    replay: Replay


class Failed(NamedTuple):
    """A ``Failed`` is a failed baseline. ``error``: the error of the baseline. ``reply``: the error that
    a replay would raise for this failure; it decides whether the baseline is repeated, by the same rules
    as for replays. ``acted``: the names of the tools that ran and must not run again."""

    error: BaselineFailed
    reply: UnusableReply
    acted: Sequence[str] = ()


Attempt = Callable[[], Awaitable[MadeBaseline | Failed]]


async def made(
    attempt: Attempt, retries: Retries, limits: Limits, pause: Callable[[float], Awaitable[None]]
) -> MadeBaseline:
    """Calls ``attempt`` until it succeeds or may not be repeated, and returns the baseline that it made.
    Raises the BaselineFailed of the last attempt if none succeeds. An attempt in which a tool ran that
    must not run again is not repeated.

    ``limits``: its limits on replays and seconds also limit the attempts. ``pause``: a function that
    waits the given number of seconds between attempts.
    """
    started, failed = time.monotonic(), list[Failed]()

    async def one() -> MadeBaseline | Failed:
        tried = await attempt()
        if isinstance(tried, Failed):
            failed.append(tried)
            if tried.acted:
                raise _error_of(tried, _within(limits, retries))
        return tried

    async def wait(seconds: float) -> None:
        if limits.seconds is not None and time.monotonic() + seconds - started >= limits.seconds:
            raise failed[-1].error
        await pause(seconds)

    tried = await one()
    if isinstance(tried, Failed):
        # The module is slow to import and rarely needed, so it is imported only for a retry.
        from ..probing.retrying import again

        tried = await again(_within(limits, retries), tried, one, _cause, wait)
    if isinstance(tried, Failed):
        raise tried.error
    sources, baseline = tried.recorded
    paid = tuple(each.reply for each in failed)
    spent = replace(baseline, failed=paid, seconds=time.monotonic() - started)
    return tried._replace(recorded=(sources, spent))


def _error_of(failed: Failed, retries: Retries) -> BaselineFailed:
    """Returns the error of an attempt that is not repeated. If a repetition might have helped, the
    message says why there was none."""
    from ..probing.retrying import may_help

    if not may_help(retries, failed.reply):
        return failed.error
    return not_repeated(failed.error, failed.acted, "the failure may pass")


def not_repeated(error: Exception, acted: Sequence[str], why: str) -> BaselineFailed:
    """Returns the error of a failed first run. A repetition might help, but the run is not repeated,
    because it ran tools that must not run again. ``acted``: the names of these tools; ``why``: in words,
    why a repetition might help."""
    named = ", ".join(map(repr, acted))
    told = BaselineFailed(
        f"{error} ({why}, but the run was not repeated: the calls of {named} may have been carried out, "
        "and would be once more; call it again if that does no harm. safe_tools= names tools that may "
        "run twice, such as ones that only read, and a run of such tools is repeated)"
    )
    told.__cause__ = error.__cause__ or error
    return told


def without_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never waits for an event loop, and returns its result. Raises RuntimeError if
    it does wait."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError("it waited for an event loop")


async def block(seconds: float) -> None:
    """Sleeps in this thread, because a coroutine that ``without_loop`` runs cannot wait for an event
    loop. Raises KeyboardInterrupt after Ctrl-C."""
    with kept() as interrupts:
        interrupts.sleep(seconds)


def _within(limits: Limits, retries: Retries) -> Retries:
    if limits.replays is None:
        return retries
    return replace(retries, most=min(retries.most, limits.replays - 1))


def _cause(tried: MadeBaseline | Failed) -> BaseException | None:
    return tried.reply if isinstance(tried, Failed) else None


def is_async_only(run: ApplicationRun[Any], failed: Exception) -> bool:
    """Returns True iff a first run failed because a component has no sync interface. Raises
    BaselineFailed if a tool ran in it that may not run once more."""
    cause = failed.__cause__ if isinstance(failed, BaselineFailed) else failed
    if cause is None or not run.application.means_async_only(f"{type(cause).__name__}: {cause}"):
        return False
    if run.acted:
        raise not_repeated(
            failed, run.acted, "it has to run through its async interface: await aexplain()"
        )
    return True
