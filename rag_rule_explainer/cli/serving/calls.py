"""This module runs a call of a client in a thread, reports its progress, and stops it if it is
cancelled."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import TypeAlias, TypeVar

import anyio
from anyio import to_thread

from ...probing.limits import LimitReached
from ...progress.report import ProgressReport

CANCELLED = "the client cancelled the call"
"""The reason that an explanation gives if its call was cancelled."""
_SECONDS_BETWEEN = 0.25
SendProgress: TypeAlias = Callable[[float, float | None, str], Awaitable[None]]
"""A function that sends a client the progress, the total and a text."""
Result = TypeVar("Result")


@dataclass(slots=True)
class CallProgress:
    """A ``CallProgress`` listens to the progress of a search. ``latest``: the last report; None before
    the first one."""

    latest: ProgressReport | None = None
    _sent: float = -1
    _cancelled: Event | None = None

    def __call__(self, report: ProgressReport, /) -> None:
        """Receives a report. Stops the search if the call was cancelled."""
        self.latest = report
        if self._cancelled is not None and self._cancelled.is_set() and not report.done:
            raise LimitReached(CANCELLED)

    @property
    def replays(self) -> int:
        """Returns the number of replays that the call has made."""
        return 0 if self.latest is None else self.latest.replays

    async def send(self, send: SendProgress) -> None:
        """Sends the latest report, if it counts more subsets than the report that was sent before."""
        report = self.latest
        if report is not None and report.probes > self._sent:
            self._sent = report.probes
            said = f"{report.probes} of about {report.needed} subsets, {report.replays} replays"
            # If its progress cannot be sent, the call still returns its result, which is paid for.
            with suppress(Exception):
                await send(report.probes, max(report.needed, report.probes), said)

    def stops_with(self, cancelled: Event) -> None:
        """Makes the search stop after this event is set."""
        self._cancelled = cancelled


async def called(work: Callable[[], Result], progress: CallProgress, send: SendProgress) -> Result:
    """Runs ``work`` in a thread, and returns its result. ``progress``: the listener that receives the
    progress of the search in ``work``. ``send``: sends this progress to the client.

    If the task is cancelled, the search stops: no further replay begins, and running ones are awaited.
    ``work`` still returns, so that it can save what was paid for. The cancellation is raised afterwards.
    """
    cancelled, done, failed = Event(), list[Result](), list[Exception]()
    progress.stops_with(cancelled)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_sending, progress, send)
        tasks.start_soon(_noting, cancelled)
        try:
            done.append(await to_thread.run_sync(work))
        except Exception as error:  # raised below: the group would wrap it in an ExceptionGroup
            failed.append(error)
        tasks.cancel_scope.cancel()
    for error in failed:
        raise error
    await progress.send(send)
    return done[0]


async def _sending(progress: CallProgress, send: SendProgress) -> None:
    while True:
        await anyio.sleep(_SECONDS_BETWEEN)
        await progress.send(send)


async def _noting(cancelled: Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        cancelled.set()
