"""Explainer: the one place where sources, miners, replays, predicates and findings meet."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import Unpack

from .assuming import Assuming
from .choosing import Choice, choose
from .display import as_progress
from .errors import InvalidInput
from .predicates import PredicateLike, as_predicate, negated, same_answer, unwrapped
from .probing.prices import TokensByModel
from .probing.replaying import Baseline, Replay
from .progress import Progress
from .rules import RuleKind
from .settings import Settings, SettingsFields
from .sources import Source, SourceSet
from .verdicts import Answer

if TYPE_CHECKING:
    from .estimate import Estimate
    from .explanation import Explanation
    from .inquiry import Inquiry
    from .probing.limiter import Limiter


class Explainer:
    """Explains answers of one application by rules.

    ``replay``: runs the application on a question and the sources it is given, sync or async, and returns
    a str or an Answer. ``predicate``: the condition of retention rules. ``omission_predicate``: that of
    omission rules; by default the negation of ``predicate``. Settings as a whole (``settings``), field by
    field, or both; see ``Settings``. All that one explainer has in flight at a time, over threads and
    loops together, is bounded by ``concurrency``; all that several have, by a ``limiter`` that they
    share. ``progress``: told of every call; True for a ``ProgressBar`` that all who say so share.

    Raises InvalidInput for settings or predicates that cannot be used.
    """

    def __init__(
        self,
        replay: Replay | None = None,
        *,
        predicate: PredicateLike | None = None,
        omission_predicate: PredicateLike | None = None,
        settings: Settings | None = None,
        progress: Progress | bool | None = None,
        limiter: "Limiter | None" = None,
        **fields: Unpack[SettingsFields],
    ) -> None:
        self.replay = replay
        self.settings = Settings.of(settings, fields)
        retention = as_predicate(same_answer() if predicate is None else predicate)
        opposite = negated(retention)
        omission = opposite if omission_predicate is None else as_predicate(omission_predicate)
        self.predicates = {RuleKind.RETENTION: retention, RuleKind.OMISSION: omission}
        self.progress = as_progress(progress)
        # The engine and its event loop are loaded when first needed, not on import.
        from .probing.limiter import Limiter

        if not isinstance(limiter, (Limiter, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"limiter is {limiter!r}; give a Limiter(size), or concurrency= alone")
        self.limiter = limiter or Limiter(self.settings.concurrency)

    def explain(
        self,
        question: str,
        sources: Iterable[Source | str],
        baseline: Baseline | Answer | str | None = None,
        *,
        replay: Replay | None = None,
        pinned: Iterable[str] = (),
        progress: Progress | bool | None = None,
        judge: Callable[[], TokensByModel] | None = None,
    ) -> "Explanation":
        """Every minimal rule of the answer to ``question``, blocking until it is known.

        ``sources``: what was retrieved, in the order shown. ``baseline``: the answer on all of them, from
        a log; the application is asked where it is not given. If it answers otherwise now, that is the
        first of the explanation's warnings. ``pinned``: ids of sources that are always retained and in no
        rule. ``progress``: told of this call, beside the explainer's own. ``judge``: the tokens that a
        judge in the predicate has spent so far, where somebody counts them; they count for ``limits`` as
        well.

        A sync ``replay`` runs in ``concurrency`` threads, an async one on one private loop that lives as
        long as the process, both in a copy of the caller's context. May be called inside a running loop.
        Ctrl-C ends the search and returns what was proved until then; a second one aborts.

        Raises InvalidInput (bad or too many sources), BaselineFailed, AnswerNotRepeatable.
        """
        from .probing.loop import run_blocking

        inquiry = self._inquiry(question, sources, baseline, replay, pinned, progress, judge)
        return run_blocking(inquiry.explanation(), inquiry.interrupt)

    async def aexplain(
        self,
        question: str,
        sources: Iterable[Source | str],
        baseline: Baseline | Answer | str | None = None,
        *,
        replay: Replay | None = None,
        pinned: Iterable[str] = (),
        progress: Progress | bool | None = None,
        judge: Callable[[], TokensByModel] | None = None,
    ) -> "Explanation":
        """The same on the caller's own loop; a sync ``replay`` still runs in threads."""
        return await self._inquiry(
            question, sources, baseline, replay, pinned, progress, judge
        ).explanation()

    def estimate(
        self,
        question: str,
        sources: Iterable[Source | str],
        *,
        pinned: Iterable[str] = (),
        prompt: str | None = None,
        spent_tokens: int = 0,
        notes: Sequence[str] = (),
        assuming: "Assuming | None" = None,
    ) -> "Estimate":
        """What explaining the answer to ``question`` would take at best, typically and at worst.

        Asks nothing and nobody; what a judge would be asked is told as well. ``prompt``: what a model
        would be sent with all sources, where that is known; else the question and the sources' texts are
        counted. ``spent_tokens``: what was spent to find the sources; ``notes``: what else there is to
        say of them. Raises InvalidInput as ``explain`` does.
        """
        from .estimate import Material, estimated
        from .judging_outlay import judge_plan

        if not isinstance(assuming, (Assuming, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"assuming is {assuming!r}; give Assuming(answer_tokens=...)")
        _check_question(question)
        assumed = assuming or Assuming()
        source_set = SourceSet.of(sources, pinned)
        counted = [assumed.count_tokens(source.passage) for source in source_set.units]
        fixed = sum(assumed.count_tokens(s.passage) for s in source_set if s.id in source_set.pinned)
        other = assumed.count_tokens(question) + fixed
        if prompt is not None:
            other = max(other, assumed.count_tokens(prompt) - sum(counted))
        bases = dict.fromkeys(unwrapped(self.predicates[kind])[0] for kind in self.settings.kinds)
        judge = judge_plan(
            bases,
            question,
            count_tokens=assumed.count_tokens,
            answer_tokens=assumed.answer_tokens,
            stored=self.settings.store is not None,
        )
        material = Material(
            counted,
            other,
            assumed.answer_tokens,
            assumed.seconds_per_replay,
            assumed.model,
            spent_tokens,
            tuple(notes),
            judge if judge.conditions else None,
        )
        return estimated(material, self.settings, self._choice(source_set))

    def _choice(self, sources: SourceSet) -> Choice:
        choice = choose(self.settings, sources.lattice.size, len(sources.pinned))
        return choice.dividing(sources, self.settings.granularity)

    def _inquiry(
        self,
        question: str,
        sources: Iterable[Source | str],
        baseline: Baseline | Answer | str | None,
        replay: Replay | None,
        pinned: Iterable[str],
        progress: Progress | bool | None,
        judge: Callable[[], TokensByModel] | None,
    ) -> "Inquiry":
        from .inquiry import Inquiry

        chosen = replay or self.replay
        if chosen is None:
            raise InvalidInput("nothing to replay; pass replay=, a function of (question, sources)")
        if not isinstance(baseline, (Baseline, type(None))):
            baseline = Baseline(Answer.of(baseline), logged=True)
        if not callable(chosen):
            raise InvalidInput(f"replay is {chosen!r}; pass a function of (question, sources)")
        if not (judge is None or callable(judge)):
            raise InvalidInput(f"judge is {judge!r}; pass a function that tells tokens by model")
        _check_question(question)
        source_set = SourceSet.of(sources, pinned)
        told = (self.progress, as_progress(progress))
        return Inquiry(
            question=question,
            sources=source_set,
            baseline=baseline,
            replay=chosen,
            limiter=self.limiter,
            predicates={kind: self.predicates[kind] for kind in self.settings.kinds},
            settings=self.settings,
            choice=self._choice(source_set),
            progress=tuple(each for each in told if each is not None),
            judge=judge,
        )


def _check_question(question: object) -> None:
    if not isinstance(question, str):
        raise InvalidInput(f"the question is {type(question).__name__}; give a str")
