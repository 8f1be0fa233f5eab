"""This module lets the caller of an explained workflow read and send events while it runs."""

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
    """A ``Listener`` passes the events of a workflow's first run to the caller, who may answer them.

    ``handler``: the workflow's handler; None before the run. ``is_there``: True if the caller reads the
    events or has taken the context. ``is_code``: True if the caller is an application that is being
    explained itself.
    """

    is_code: bool
    events: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue[Any])
    handler: Any = None
    is_there: bool = False
    _decided: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, handler: Any) -> bool:
        """Returns True iff this is the first run; later runs are replays."""
        if self.handler is None:
            self.handler = handler
        return self.handler is handler

    def tell(self, event: Event) -> None:
        """Passes an event on to the caller."""
        self.events.put_nowait(event)
        if isinstance(event, StopEvent):
            self.events.put_nowait(_END)

    def come(self) -> None:
        """Notes that the caller reads the events."""
        self.is_there = True
        self._decided.set()

    def wait_for_the_end(self) -> None:
        """Notes that the caller awaits the result; a caller that reads no events by now never will."""
        self._decided.set()

    async def is_answered(self) -> bool:
        """Waits until it is known whether the caller reads the events. Returns True iff it does."""
        await self._decided.wait()
        return self.is_there


listening: ContextVar[Listener | None] = ContextVar("rag_rule_listening", default=None)
"""The listener of the workflow's run in this context; None if there is none."""


@dataclass(slots=True, eq=False)
class ExplainedRun:
    """An ``ExplainedRun`` is a run of an explained workflow; awaiting it returns the result with rules.

    ``stream_events`` yields its events, and ``ctx`` sends it events. A run that asks a human continues
    when the caller answers, and has a result; its rules are an error, since a human cannot answer the
    replays. If the caller does not read the events, the run raises that error.
    """

    task: "asyncio.Task[Any]"
    _listener: Listener

    @classmethod
    def of(cls, run: Callable[[], Awaitable[Any]], *, is_code: bool) -> "ExplainedRun":
        """Begins a run on the caller's loop. ``is_code``: see ``Listener``."""
        listener = Listener(is_code)

        async def heard() -> Any:
            listening.set(listener)
            try:
                return await run()
            finally:
                listener.events.put_nowait(_END)

        return cls(asyncio.create_task(heard()), listener)

    @property
    def ctx(self) -> Context | None:
        """Returns the context of the explained run; None before it has begun."""
        self._listener.come()
        return getattr(self._listener.handler, "ctx", None)

    def __await__(self) -> Generator[Any, None, Any]:
        self._listener.wait_for_the_end()
        return self.task.__await__()

    async def stream_events(self) -> AsyncGenerator[Event, None]:
        """Yields the events of the explained run, without those of its replays."""
        self._listener.come()
        while (event := await self._listener.events.get()) is not _END:
            yield event
