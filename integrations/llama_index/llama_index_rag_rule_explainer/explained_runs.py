"""This module lets the caller of an explained workflow read and send events while the workflow runs."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from llama_index.core.workflow.events import Event, StopEvent
from llama_index.core.workflow.handler import WorkflowHandler
from workflows.events import InternalDispatchEvent

from .event_streams import read_error

_END = object()
_NOT_BEGUN = "the explained run has not begun yet; await something first, such as its events"


@dataclass(slots=True, eq=False)
class Listener:
    """A ``Listener`` passes the events of a workflow's first run to the caller, which may answer them.

    ``handler``: LlamaIndex's handler of the first run; None before the run has begun. ``is_code``: True
    if the caller is code of an application that is being explained; such code answers in replays too.
    False if the caller may be a human, who cannot be asked in replays. ``early``: events that the caller
    sent before the run had begun, each with the step that must receive it (None for any step).
    """

    is_code: bool
    events: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue[Any])
    handler: Any = None
    early: list[tuple[Event, str | None]] = field(default_factory=list[tuple[Event, str | None]])
    _begun: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, handler: Any) -> bool:
        """Records that a run of the workflow has begun. Returns True iff it is the first run, not a
        replay.

        Sends the events in ``early`` to the first run.
        """
        if self.handler is None:
            self.handler = handler
            for event, step in self.early:
                handler.ctx.send_event(event, step)
            self._begun.set()
        return self.handler is handler

    async def begun(self) -> Any:
        """Waits until the first run has begun, and returns its handler."""
        await self._begun.wait()
        return self.handler

    def take(self, event: Event) -> None:
        """Puts an event into the caller's queue. A StopEvent is the last event."""
        self.events.put_nowait(event)
        if isinstance(event, StopEvent):
            self.events.put_nowait(_END)


listening: ContextVar[Listener | None] = ContextVar("rag_rule_listening", default=None)
"""The listener of the explained workflow that runs in this context; None if the caller gets no events."""


@dataclass(slots=True)
class _EarlyContext:
    """This class takes the place of the context of a run that has not begun. It can only store events
    for the run."""

    _listener: Listener

    def send_event(self, message: Event, step: str | None = None) -> None:
        """Stores the event. The run gets it when the run begins."""
        self._listener.early.append((message, step))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"ctx.{name}: {_NOT_BEGUN}")


@dataclass(slots=True, eq=False)
class ExplainedRun:
    """An ``ExplainedRun`` is a run of an explained workflow. Awaiting it returns the result with its
    rules.

    ``stream_events`` yields its events, and ``ctx.send_event`` sends it events. A run that asks a human
    continues when the caller answers, and returns a result. This result has an error in place of rules,
    because a human cannot answer the replays. All other attributes, such as ``cancel_run``, are those of
    the workflow's own handler. The handler is done as soon as the workflow has its result, which is
    before the rules are found.
    """

    task: "asyncio.Task[Any]"
    _listener: Listener

    @classmethod
    def of(cls, run: Callable[[], Awaitable[Any]], *, is_code: bool) -> "ExplainedRun":
        """Starts a task for ``run`` in the caller's event loop. ``is_code``: True if the caller is code
        of an application that is being explained; False if it may be a human."""
        listener = Listener(is_code)

        async def heard() -> Any:
            listening.set(listener)
            try:
                return await run()
            finally:
                listener.events.put_nowait(_END)

        task = asyncio.create_task(heard())
        task.add_done_callback(read_error)
        return cls(task, listener)

    @property
    def ctx(self) -> Any:
        """Returns the context of the explained run. Before the run has begun, the context only accepts
        events."""
        handler = self._listener.handler
        return _EarlyContext(self._listener) if handler is None else handler.ctx

    def __getattr__(self, name: str) -> Any:
        handler = self._listener.handler
        if handler is not None:
            return getattr(handler, name)
        own = getattr(WorkflowHandler, name, None)
        if inspect.iscoroutinefunction(own):
            return partial(self._later, name)
        if inspect.isfunction(own):
            # A run that has not begun is not done, not cancelled and without an exception. So methods
            # that return a bool return False, and the other methods return None.
            nothing = False if own.__annotations__.get("return") in (bool, "bool") else None
            return lambda: nothing
        raise AttributeError(f"{name}: {_NOT_BEGUN}")

    def cancel(self) -> None:
        """Cancels the run of the workflow, and the search for rules of its answer."""
        if self._listener.handler is not None:
            self._listener.handler.cancel()
        self.task.cancel()

    async def _later(self, name: str, *positional: Any, **named: Any) -> Any:
        """Calls a method of the handler as soon as the run has begun.

        If the task of this ``ExplainedRun`` fails before that, raises its error.
        """
        begun = asyncio.ensure_future(self._listener.begun())
        try:
            await asyncio.wait((begun, self.task), return_when=asyncio.FIRST_COMPLETED)
            if not begun.done():
                return await self.task
            return await getattr(begun.result(), name)(*positional, **named)
        finally:
            begun.cancel()

    def __await__(self) -> Generator[Any, None, Any]:
        return self.task.__await__()

    async def stream_events(self, expose_internal: bool = False) -> AsyncGenerator[Event, None]:
        """Yields the events of the explained run. The events of its replays are left out."""
        while (event := await self._listener.events.get()) is not _END:
            if expose_internal or not isinstance(event, InternalDispatchEvent):
                yield event
