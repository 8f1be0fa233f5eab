"""This module defines an audit as a job, and the protocol of the engines that carry it out."""

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
    """An ``AuditJob`` describes how each question of an audit is asked and judged. It can be sent to
    other processes iff its parts can.

    ``application``: an application, an explainer, or the name of an application as ``module:object`` or
    ``FILE.py:object``, which each process imports. ``condition``: holds iff an answer is bad. ``good``:
    holds iff an answer is good; None if every answer that is not bad is good. ``options``: further
    keywords of the explainer that is made for the application, such as ``settings``. ``framework``: the
    name of its integration; None to find it. ``limits``: caps on what all questions together may spend.
    ``workers``: the number of questions that are explained at the same time. ``identity``: the name under
    which the spending of the audit is kept for later runs; empty for a name that is derived from the job.
    ``store``: keeps answers if the application's settings name no store; None to keep none. ``spent``:
    what earlier runs of the audit have spent. It counts towards the limits, except for seconds.
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
        """Yields what became of each question, in any order, and of no question twice.

        A question that fails is yielded as well, with its reason; it never ends the audit. Once a limit
        of the job is reached, the questions that are left are yielded as "stopped". Closing the generator
        ends the audit: what was not yielded is not kept. The caller gives only questions that are not
        known from an earlier run. Raises the errors that every question would meet, such as an
        application that cannot be imported, before the first question.
        """
        ...


@runtime_checkable
class MeteredEngine(Protocol):
    """A ``MeteredEngine`` is an engine whose limits also count replays that are made after the questions,
    such as those that test which documents are to blame."""

    def metered(self, job: AuditJob, began: float, /) -> AbstractAsyncContextManager[Meter]:
        """Provides, for the block, a meter that includes what the questions of the job have spent.
        ``began``: the monotonic time from which the seconds of the job's limits are counted."""
        ...
