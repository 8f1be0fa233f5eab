"""Progress as an instrumentation event."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.events.base import BaseEvent
from typing_extensions import override

from rag_rule_explainer import Progress, ProgressReport

dispatcher = get_dispatcher("llama_index_rag_rule_explainer")


class RuleProgressEvent(BaseEvent):
    """How far an explanation is: see ``rag_rule_explainer.ProgressReport``."""

    probes: int
    upper_bound: int
    replays: int
    failures: int
    done: bool = False

    @classmethod
    @override
    def class_name(cls) -> str:
        return "RuleProgressEvent"


@dataclass(frozen=True, slots=True)
class ProgressEvents:
    """Tells the dispatcher's event handlers, if ``telling``."""

    telling: bool = True

    @property
    def sync(self) -> Progress | None:
        """For an explanation that blocks."""
        return _tell if self.telling else None

    @asynccontextmanager
    async def told(self) -> AsyncGenerator[Progress | None, None]:
        """For an explanation on the running loop."""
        yield self.sync


def _tell(report: ProgressReport) -> None:
    dispatcher.event(
        RuleProgressEvent(
            probes=report.probes,
            upper_bound=report.upper_bound,
            replays=report.replays,
            failures=report.failures,
            done=report.done,
        )
    )
