"""This module reports progress as events of LlamaIndex's dispatcher."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.events.base import BaseEvent
from typing_extensions import override

from rag_rule_explainer import Progress, ProgressReport

dispatcher = get_dispatcher("llama_index_rag_rule_explainer")


class RuleProgressEvent(BaseEvent):
    """This event reports the progress of an explanation. It holds a ``ProgressReport``."""

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
    """This class reports progress to the event handlers of LlamaIndex's dispatcher.

    ``reports``: False if no progress is reported.
    """

    reports: bool = True

    @property
    def sync(self) -> Progress | None:
        """Returns a function that sends a report as an event; None if ``reports`` is False."""
        return _send if self.reports else None

    @asynccontextmanager
    async def on_loop(self) -> AsyncGenerator[Progress | None, None]:
        """Yields a function that sends a report as an event; None if ``reports`` is False. Events can
        also be sent from the running event loop."""
        yield self.sync


def _send(report: ProgressReport) -> None:
    dispatcher.event(
        RuleProgressEvent(
            probes=report.probes,
            upper_bound=report.upper_bound,
            replays=report.replays,
            failures=report.failures,
            done=report.done,
        )
    )
