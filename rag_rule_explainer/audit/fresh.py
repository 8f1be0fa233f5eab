"""This module makes the fresh replays of one question that decide which documents are to blame."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio

from ..errors import RagRuleError
from ..explainer import Explainer
from ..explanation.origin import content_hash
from ..predicates import Predicate, as_judgement
from ..printable import without_secrets
from ..probing.budget import Budget
from ..probing.limits import LimitReached
from ..probing.replayer import Replayer
from ..probing.replaying import Replay
from ..probing.retries import Retries
from ..sources import Arrangement, Source
from ..verdicts import Answer, Case, Verdict
from .blame_plan import Trial
from .metering import Meter
from .questions import AuditedQuestion


@dataclass(slots=True)
class FreshVerdicts:
    """A ``FreshVerdicts`` holds the verdict of each replay of a question: HOLDS iff the bad outcome was
    seen.

    ``reason``: the first reason why a verdict is UNKNOWN; empty if there is none. ``stopped``: True iff
    a limit forbade some of the replays, which then have no verdict.
    """

    verdicts: dict[Trial, Verdict] = field(default_factory=dict[Trial, Verdict])
    reason: str = ""
    stopped: bool = False

    def note_unknown(self, trial: Trial, reason: str) -> None:
        """Records that a replay has no verdict, and why. Only the first ``reason`` is kept."""
        self.verdicts[trial] = Verdict.UNKNOWN
        self.reason = self.reason or reason


@dataclass(slots=True, eq=False)
class FreshReplays:
    """A ``FreshReplays`` replays and judges trials of one question.

    Its answers are never taken from memory or from the store. Such old answers were used to choose the
    pairs of subsets, so a test that counted them would be wrong. ``condition``: holds iff an answer is
    bad. ``before``: the audit's result of the question. ``baseline``: the answer with all documents,
    with which a condition may compare other answers. A trial whose documents are not found again, with
    the same texts, has no verdict.
    """

    explainer: Explainer
    condition: Predicate
    before: AuditedQuestion
    baseline: Answer
    found: FreshVerdicts = field(init=False, default_factory=FreshVerdicts)
    _reported: tuple[int, float] = field(init=False, default=(0, 0.0))

    async def verdicts(
        self, trials: Sequence[Trial], sources: Sequence[Source], replay: Replay
    ) -> FreshVerdicts:
        """Returns the verdicts of the trials, which begin in their order. May be called only once."""
        texts = {each.id: each.sha256 for each in self.before.shown}
        by_id = {each.id: each for each in sources if content_hash(each.text) == texts.get(each.id)}
        settings = self.explainer.settings
        # The plan already limits the number of replays of all questions together, so this question has
        # no limit of its own.
        budget = Budget(replace(settings.limits, replays=None), settings.prices)
        replayer = Replayer(
            self.before.question,
            replay,
            self.explainer.limiter,
            budget,
            Retries.of(settings.retries),
            settings.timeout,
            settings.accept_finish_reasons,
        )
        try:
            async with anyio.create_task_group() as together:
                for trial in trials:
                    if set(trial.kept) <= by_id.keys():
                        shown = Arrangement(tuple(by_id[each] for each in trial.kept))
                        together.start_soon(self._try, trial, shown, replayer)
                    else:
                        self.found.note_unknown(trial, "its documents were not retrieved again")
        finally:
            replayer.close()
            self._report(budget)
        return self.found

    def _report(self, budget: Budget) -> None:
        """Reports to the meter of the audit the tokens and the cost since the last report."""
        meter: Meter | None = getattr(self.explainer.limiter, "meter", None)
        before, self._reported = self._reported, (budget.tokens, budget.cost or 0.0)
        if meter is not None and before != self._reported:
            meter.spend(self._reported[0] - before[0], self._reported[1] - before[1])

    async def _try(self, trial: Trial, shown: Arrangement, replayer: Replayer) -> None:
        try:
            reply = await replayer.run(shown, replayer.charge)
            self._report(replayer.budget)
        except LimitReached as limit:
            self.found.stopped, self.found.reason = True, self.found.reason or str(limit)
            return
        except RagRuleError as error:
            self.found.note_unknown(trial, str(error))
            return
        if reply.answer is None:
            self.found.note_unknown(trial, reply.error)
            return
        case = Case(self.before.question, self.baseline, reply.answer, shown.sources)
        try:
            judged = self.condition(case)
            judgement = as_judgement(
                await judged if inspect.isawaitable(judged) else judged, self.condition
            )
        except Exception as error:
            self.found.note_unknown(trial, without_secrets(f"the condition failed: {error}"))
            return
        if judgement.verdict is Verdict.UNKNOWN:
            self.found.note_unknown(trial, judgement.reason)
        else:
            self.found.verdicts[trial] = judgement.verdict
