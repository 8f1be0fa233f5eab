"""Runs of explained workflows, which their users have in hand while they go on."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.workflow import Context
from llama_index.core.workflow.events import Event, StopEvent

_END = object()


@dataclass(slots=True, eq=False)
class Listener:
    """Who has the first run of a workflow in hand: it is told the events, and may answer them.

    ``handler``: the workflow's own, once it runs. ``is_there``: somebody reads the events, or has the
    context to send events of their own by. ``is_code``: that is an application that is being explained.
    """

    is_code: bool
    events: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue[Any])
    handler: Any = None
    is_there: bool = False
    _decided: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, handler: Any) -> bool:
        """Returns True iff this is the run in hand; what runs after the first one is a replay."""
        if self.handler is None:
            self.handler = handler
        return self.handler is handler

    def tell(self, event: Event) -> None:
        """Passes an event on."""
        self.events.put_nowait(event)
        if isinstance(event, StopEvent):
            self.events.put_nowait(_END)

    def come(self) -> None:
        """Notes that somebody is there."""
        self.is_there = True
        self._decided.set()

    def wait_for_the_end(self) -> None:
        """Notes that the result is awaited: who is not there by now does not come."""
        self._decided.set()

    async def is_answered(self) -> bool:
        """Returns whether somebody is there to answer what the run asks."""
        await self._decided.wait()
        return self.is_there


listening: ContextVar[Listener | None] = ContextVar("rag_rule_listening", default=None)
"""Who has the run of a workflow in this context in hand."""


@dataclass(slots=True, eq=False)
class ExplainedRun:
    """This class represents a run of an explained workflow: awaited, it is the result with its rules; its
    events come as ever, and ``ctx`` sends it others.

    A run that asks a human goes on when it is answered, and has its result; its rules say what to do
    instead, since nobody answers its replays. Where nobody listens, it ends with that error.
    """

    task: "asyncio.Task[Any]"
    _listener: Listener

    @classmethod
    def of(cls, run: Callable[[], Awaitable[Any]], *, is_code: bool) -> "ExplainedRun":
        """Begins a run on the caller's loop. ``is_code``: for an application that is being explained."""
        listener = Listener(is_code)

        async def told() -> Any:
            listening.set(listener)
            try:
                return await run()
            finally:
                listener.events.put_nowait(_END)

        return cls(asyncio.create_task(told()), listener)

    @property
    def ctx(self) -> Context | None:
        """Returns the context of the run that is explained; None before it has begun."""
        self._listener.come()
        return getattr(self._listener.handler, "ctx", None)

    def __await__(self) -> Generator[Any, None, Any]:
        self._listener.wait_for_the_end()
        return self.task.__await__()

    async def stream_events(self) -> AsyncGenerator[Event, None]:
        """Yields the events of the run that is explained, and none of its replays'."""
        self._listener.come()
        while (event := await self._listener.events.get()) is not _END:
            yield event
