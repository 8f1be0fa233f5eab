"""This module runs several sessions on one answer, one for each condition. All of them use the same
replays, so each answer of the application is paid once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ..explanation.explanation import Explanation
from ..predicates import PredicateLike
from ..probing.answer_cache import AnswerMemory
from ..probing.budget import Budget
from ..probing.main_task import told_of_ctrl_c
from ..probing.replaying import Baseline
from ..verdicts import Answer

if TYPE_CHECKING:  # a runtime import would be circular
    from .session import Session

Conditions: TypeAlias = Callable[[Answer], Sequence[PredicateLike]]
"""A function that gets the explained answer, and returns the conditions for which rules are searched.
"""
MakeSession: TypeAlias = "Callable[[PredicateLike | None, Baseline | None, SessionSeries], Session]"
"""A function that returns the session for one condition. With None as the condition, the session only
gets the answer."""


@dataclass(slots=True, repr=False, eq=False)
class SessionSeries:
    """A ``SessionSeries`` is one call that explains an answer by several conditions, one after the
    other.

    ``memory``: the answers that the sessions share. Each session needs the same answers as if it ran
    alone, but it runs the application only for answers that no earlier session has got. Limits apply to
    all sessions together.
    """

    make: MakeSession
    conditions: Conditions
    baseline: Baseline | None
    memory: AnswerMemory = field(init=False, default_factory=AnswerMemory)
    _session: "Session | None" = field(init=False, default=None)
    _latest: Budget | None = field(init=False, default=None)
    _is_interrupted: bool = field(init=False, default=False)

    def begin(self, budget: Budget) -> None:
        """Adds what earlier sessions have spent to the ``budget`` of a new session, so that its limits
        apply to all sessions together."""
        if self._latest is not None:
            budget.earlier, budget.started = self._latest, self._latest.started
            self._latest.judge = None  # only the new budget counts the judge's tokens from now on
        self._latest = budget

    def interrupt(self) -> bool:
        """Stops the running session, and all later ones before their first replay. Returns False if
        there is no baseline yet."""
        self._is_interrupted = self._session is not None and self._session.interrupt()
        return self._is_interrupted

    async def explanations(self) -> tuple[Explanation, ...]:
        """Returns the explanation for each condition, in their order. Call this method only once.

        If a later session finds a reason to doubt the replays, this reason applies to the earlier
        explanations too. The earlier explanations are then made anew, from the same answers.
        """
        with told_of_ctrl_c(self.interrupt):
            return await self._explanations()

    async def _explanations(self) -> tuple[Explanation, ...]:
        baseline = self.baseline
        if baseline is None:
            baseline = await self._begun(None, None).answered()
            self._latest = None
            if baseline.replays:
                # The explanation for the first condition counts the runs and tokens of the baseline.
                answer = baseline.answer
                baseline = replace(baseline, usage=answer.usage or {}, models=answer.models)
        conditions, found = self.conditions(baseline.answer), list[Explanation]()
        for condition in conditions:
            found.append(await self._explained(condition, baseline))
            baseline = baseline.counted_before()
        if baseline.doubt():
            for place, condition in enumerate(conditions):
                if not found[place].doubted:
                    doubted = await self._explained(condition, baseline)
                    found[place] = doubted.model_copy(update={"counts": found[place].counts})
        return tuple(found)

    async def _explained(self, condition: PredicateLike, baseline: Baseline) -> Explanation:
        session = self._begun(condition, baseline)
        if self._is_interrupted:
            session.interrupt()
        return await session.explanation()

    def _begun(self, condition: PredicateLike | None, baseline: Baseline | None) -> "Session":
        self._session = self.make(condition, baseline, self)
        return self._session
