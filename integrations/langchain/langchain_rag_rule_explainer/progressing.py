"""This module reports progress as custom events, which ``astream_events`` and callback handlers
receive."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from langchain_core.callbacks import BaseCallbackManager, adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig

from rag_rule_explainer import Progress, ProgressReport

EVENT = "rag_rule_progress"


@dataclass(frozen=True, slots=True)
class ProgressEvents:
    """This class sends progress reports to the callback handlers in a run's config.

    ``config``: the config of the run; None if nobody receives reports.
    """

    config: RunnableConfig | None = None

    @property
    def sync(self) -> Progress | None:
        """Returns a function that sends a progress report as an event to the callback handlers; None if
        there are no handlers."""
        if not self._has_handlers():
            return None

        def report_progress(report: ProgressReport) -> None:
            dispatch_custom_event(EVENT, asdict(report), config=self.config)

        return report_progress

    @asynccontextmanager
    async def on_loop(self) -> AsyncGenerator[Progress | None, None]:
        """Yields, for the block, a function that reports progress without blocking the event loop. All
        reports are sent as events before the block is left.

        Yields None if there are no handlers.
        """
        if not self._has_handlers():
            yield None
            return
        reports: asyncio.Queue[ProgressReport | None] = asyncio.Queue()
        sending = asyncio.create_task(self._send(reports))
        try:
            yield reports.put_nowait
        finally:
            reports.put_nowait(None)
            await sending

    async def _send(self, reports: "asyncio.Queue[ProgressReport | None]") -> None:
        while (report := await reports.get()) is not None:
            await adispatch_custom_event(EVENT, asdict(report), config=self.config)

    def _has_handlers(self) -> bool:
        callbacks = (self.config or {}).get("callbacks")
        return isinstance(callbacks, BaseCallbackManager) and bool(
            callbacks.handlers and callbacks.parent_run_id
        )
