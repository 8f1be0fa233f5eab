"""This module judges labelled cases: identical cases only once, and several cases in one request if the
judge allows it."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import anyio

from ..errors import RagRuleError, StoreFailed
from ..predicates import Predicate
from ..predicates.inside import juries_in
from ..probing import threads
from ..probing.budget import Budget
from ..probing.containing import contained
from ..probing.judge_barrier import together
from ..probing.judge_batcher import JudgeBatcher
from ..probing.judge_requests import JudgeRequests
from ..probing.judging import Judging, judgings
from ..probing.limiter import Limiter
from ..probing.limits import INTERRUPTED, LimitReached
from ..probing.pausing import Stopper
from ..probing.retries import Retries
from ..settings import Settings
from ..verdicts import Case, Judgement, Verdict

if TYPE_CHECKING:  # imported only for types, so that a check without a store does not load SQLAlchemy
    from ..storing.opened import Opened

NOT_JUDGED = Judgement(Verdict.UNKNOWN, "not judged")

CheckProgress: TypeAlias = Callable[[int, int], object]
"""A function that is called with the number of judged cases and the number of all cases."""


@dataclass(slots=True, eq=False)
class TrialItem:
    """A ``TrialItem`` is a case to be judged. ``places``: the positions, in the list of all cases, of
    this case and of those that are identical for the judge. They all get the same judgement."""

    judging: Judging
    case: Case
    places: list[int]
    judgement: Judgement = NOT_JUDGED


@dataclass(slots=True, eq=False)
class JudgeTrial:
    """A ``JudgeTrial`` judges labelled cases. It can be used only once, on one event loop. Afterwards,
    ``budget`` has the numbers of requests and tokens, and ``stop_reason`` says why not all cases were
    judged."""

    settings: Settings
    progress: CheckProgress | None = None
    budget: Budget = field(init=False)
    _stopper: Stopper = field(init=False)
    _limiter: Limiter = field(init=False)
    _error: RagRuleError | None = None
    _judged: int = 0
    _all: int = 0

    def __post_init__(self) -> None:
        self.budget = Budget(self.settings.limits, self.settings.prices)
        self._stopper = Stopper(self.budget)
        self._limiter = Limiter(self.settings.concurrency)

    @property
    def stop_reason(self) -> str:
        """Returns the reason why not all cases were judged; an empty text if all were judged."""
        return self._stopper.reason

    async def judged(self, cases: Iterable[tuple[Predicate, Case]]) -> list[TrialItem]:
        """Returns every distinct case with its judgement, which is UNKNOWN if the trial stopped before it
        was judged. Raises RagRuleError, such as InvalidInput for a predicate that returns no truth
        value."""
        settings, listed = self.settings, tuple(cases)
        store = None if settings.store is None else await threads.shared().run(settings.store.open)
        items = _distinct(listed, store, self._stopper)
        self._all = len(listed)
        retries = Retries.of(settings.retries)
        requests = JudgeRequests(self._limiter, self.budget, retries, self._stopper, settings.timeout)
        with JudgeBatcher(requests, store).at_work():
            by_judge = [item for item in items if any(juries_in(item.judging.base))]
            async with anyio.create_task_group() as group:
                for item in items:
                    if not any(juries_in(item.judging.base)):
                        group.start_soon(self._judge_in_a_slot, item)
            await together((partial(self._judge, item) for item in by_judge), needed=False)
        if self._error is not None:
            raise self._error
        return items

    def interrupt(self) -> None:
        """Stops the trial. Judgements that are already being made are still awaited."""
        self._stopper.stop(INTERRUPTED)

    async def _judge_in_a_slot(self, item: TrialItem) -> None:
        async with self._limiter.aslot():
            await self._judge(item)

    async def _judge(self, item: TrialItem) -> None:
        item.judgement = await self._judgement(item)
        self._judged += len(item.places)
        if self.progress is not None:
            try:
                with contained():
                    self.progress(self._judged, self._all)
            except LimitReached as interrupt:
                self._stopper.stop(str(interrupt))
            except Exception:  # An error in the progress bar must not lose judgements that were paid for.
                self.progress = None

    async def _judgement(self, item: TrialItem) -> Judgement:
        if not self.stop_reason:
            try:
                return await item.judging.judge(item.case)
            except LimitReached as limit:
                self._stopper.stop(str(limit))
            except StoreFailed as failed:
                self._stopper.stop(f"the store failed: {failed}")
            except RagRuleError as error:
                # Other judgements may have been paid for and must first be stored. So the error is raised
                # at the end.
                self._error = self._error or error
                self._stopper.stop(str(error))
        return Judgement(Verdict.UNKNOWN, self.stop_reason)


def _distinct(
    listed: Sequence[tuple[Predicate, Case]], store: "Opened | None", stopper: Stopper
) -> list[TrialItem]:
    """Returns the cases as items, in order.

    Cases with the same predicate and the same memo key (a cache key that says that they get the same
    judgement) become one item. A case without a memo key gets an item of its own.
    """
    predicates = tuple(dict.fromkeys(predicate for predicate, _ in listed))
    judging_of = dict(zip(predicates, judgings(predicates, store, stopper), strict=True))
    items: list[TrialItem] = []
    keyed: dict[tuple[Predicate, Hashable], TrialItem] = {}
    for place, (predicate, case) in enumerate(listed):
        judging = judging_of[predicate]
        try:
            key = judging.base.memo_key(case)
        except Exception:
            key = None  # The case gets no key. ``Judging.judge`` later reports why.
        known = None if key is None else keyed.get((predicate, key))
        if known is not None:
            known.places.append(place)
            continue
        item = TrialItem(judging, case, [place])
        items.append(item)
        if key is not None:
            keyed[predicate, key] = item
    return items
