"""Progress as custom events, for ``astream_events`` and for callback handlers."""

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
    """Tells handlers in a run's config how far its explanation is; nobody, where it is no run."""

    config: RunnableConfig | None = None

    @property
    def sync(self) -> Progress | None:
        """For an explanation that blocks."""
        if not self._anybody():
            return None

        def tell(report: ProgressReport) -> None:
            dispatch_custom_event(EVENT, asdict(report), config=self.config)

        return tell

    @asynccontextmanager
    async def told(self) -> AsyncGenerator[Progress | None, None]:
        """For an explanation on the running loop: events are sent by a task beside it."""
        if not self._anybody():
            yield None
            return
        reports: asyncio.Queue[ProgressReport | None] = asyncio.Queue()
        telling = asyncio.create_task(self._tell(reports))
        try:
            yield reports.put_nowait
        finally:
            reports.put_nowait(None)
            await telling

    async def _tell(self, reports: "asyncio.Queue[ProgressReport | None]") -> None:
        while (report := await reports.get()) is not None:
            await adispatch_custom_event(EVENT, asdict(report), config=self.config)

    def _anybody(self) -> bool:
        callbacks = (self.config or {}).get("callbacks")
        return isinstance(callbacks, BaseCallbackManager) and bool(
            callbacks.handlers and callbacks.parent_run_id
        )
