"""This module defines the job of an audit, and the protocol of the engines that carry it out."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from ..predicates import Predicate
from ..probing.limits import Limits
from ..storing.store import Store
from .metering import Meter, SpentTogether
from .questions import AuditedAnswer, LoggedQuestion

WORKERS = 4
"""The number of questions that are explained at the same time by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditJob:
    """An ``AuditJob`` says how the questions of an audit are asked and judged. It can be sent to other
    processes iff its parts can.

    ``application``: an application, an explainer, or the name of an application as ``module:object`` or
    ``FILE.py:object``, which each process imports. ``condition``: holds iff an answer is bad. ``good``:
    holds iff an answer is good; None if every answer that is not bad is good. ``options``: keywords of
    the explainer that is made for the application, such as ``settings``. ``framework``: the name of its
    integration; None to find it.

    ``limits``: caps on what all questions together may spend. ``workers``: the number of questions that
    are explained at the same time. ``identity``: the name under which the spending of the audit is kept
    for later runs; empty for a name that is derived from the job. ``store``: keeps answers if the
    application's settings name no store; None to keep none. ``spent``: what earlier runs of the audit
    have spent. It counts towards the limits, except for seconds.
    """

    application: Any
    condition: Predicate
    good: Predicate | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    framework: str | None = None
    limits: Limits = field(default_factory=lambda: Limits(failures=None))
    workers: int = WORKERS
    identity: str = ""
    store: Store | None = None
    spent: SpentTogether = field(default_factory=SpentTogether)


class AuditEngine(Protocol):
    """An ``AuditEngine`` explains the answers to many questions."""

    def __call__(
        self, job: AuditJob, questions: Iterable[LoggedQuestion], /
    ) -> AsyncGenerator[AuditedAnswer, None]:
        """Yields the result of each question once, in any order.

        A question that fails is yielded as well, with its reason; it never ends the audit. Once a limit
        of the job is reached, every question that has no result yet is yielded as "stopped". Closing the
        generator ends the audit: a result that was not yielded is lost. The caller gives only questions
        without a result from an earlier run. Raises errors that every question would meet, such as that
        the application cannot be imported, before the first question.
        """
        ...


@runtime_checkable
class MeteredEngine(Protocol):
    """A ``MeteredEngine`` is an engine that also counts, under the same limits, replays that are made
    after the questions, such as those that test which documents are to blame."""

    def metered(self, job: AuditJob, began: float, /) -> AbstractAsyncContextManager[Meter]:
        """Provides, for the block, a meter that starts with the spending for the questions of the job.
        ``began``: the monotonic time from which the seconds of the job's limits are counted."""
        ...
