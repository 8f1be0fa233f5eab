"""This module ends the stream of a workflow's events when the run of the workflow ends, and refuses
releases of LlamaIndex whose runs cannot be ended early."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import suppress
from functools import wraps
from typing import Any

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import participation, refused

from .recorded_replies import check_that_runs_can_end_early

_PASSES = 8
"""The number of times that the event loop may run other tasks before the stream counts as empty. An
event that is already in the stream's queue arrives sooner."""
_END = object()


def _streaming(_name: str, method: Any) -> Any:
    """Returns the replacement of the method that yields the events of a workflow's run.

    A run that is ended from outside writes no last event, and LlamaIndex's own stream would wait for this
    event for ever. A replay is ended in this way if only the next action is replayed.
    """

    @wraps(method)
    async def stream(handler: Any, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        events = method(handler, *args, **kwargs)
        run = participation()
        if run is None or run.bound is None:  # this is no replay, so nothing ends the run early
            async for event in events:
                yield event
            return
        # The task ``running`` awaits the run of the workflow. Cancelling the task would cancel the run,
        # too, so the task goes on even if the caller stops reading events.
        running = asyncio.ensure_future(handler)
        running.add_done_callback(read_error)
        try:
            while (event := await _next_of(events, running)) is not _END:
                yield event
        finally:
            await events.aclose()

    return stream


def read_error(task: "asyncio.Future[Any]") -> None:
    """Reads the error of a run's task. Otherwise asyncio would report the error if nobody awaits the
    run."""
    if not task.cancelled():
        task.exception()


async def _next_of(events: AsyncGenerator[Any, None], running: "asyncio.Future[Any]") -> Any:
    """Returns the next event; ``_END`` if the run has ended and there is no further event. ``running``:
    the task that awaits the run."""
    coming = asyncio.ensure_future(anext(events, _END))
    try:
        await asyncio.wait((coming, running), return_when=asyncio.FIRST_COMPLETED)
        if running.done() and not running.cancelled() and running.exception() is None:
            return await coming  # nothing ended the run early, so its last event is sure to come
        for _ in range(_PASSES):
            if coming.done():
                return coming.result()
            await asyncio.sleep(0)
        return _END
    finally:
        if not coming.done():
            coming.cancel()
            with suppress(asyncio.CancelledError):
                await coming


def _beginning(_name: str, method: Any) -> Any:
    """Returns the replacement of the method that begins a workflow's run. If only the next action is
    explained, replays must end at this action. The replacement then raises InvalidInput for releases of
    LlamaIndex whose runs cannot end early."""

    @wraps(method)
    def run(workflow: Any, *args: Any, **kwargs: Any) -> Any:
        current = participation()
        if current is not None and current.conversation is not None:
            try:
                check_that_runs_can_end_early()
            except InvalidInput as error:
                raise refused(error) from None
        return method(workflow, *args, **kwargs)

    return run


HANDLER = ("workflows.handler", "WorkflowHandler")
WORKFLOW = ("workflows.workflow", "Workflow")
INTERCEPTIONS = (
    Interception(*HANDLER, re.compile("stream_events"), _streaming),
    Interception(*WORKFLOW, re.compile("run"), _beginning),
)
