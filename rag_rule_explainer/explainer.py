"""This module contains ``Explainer``, which connects sources, miners, replays and predicates."""

from collections.abc import AsyncGenerator, Generator, Iterable
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from typing_extensions import Unpack

from .allowed import checked_flag, taken
from .predicates import PredicateLike, as_predicate, negated, same_answer
from .predicates.only_calls import beside_calls
from .printable import plain_text
from .probing.replaying import Baseline, Replay
from .progress.report import Progress
from .rules import RuleKind, as_kind
from .session.call_options import (
    CallFields,
    CallOptions,
    as_baseline,
    as_listener,
    check_question,
    checked_replay,
    chosen_replay,
    showing_call_fields,
)
from .session.estimate.options import EstimateFields, EstimateOptions, showing_estimate_fields
from .settings import Settings, SettingsFields, showing_settings
from .sources import SourceLike, SourceSet
from .verdicts import Answer

if TYPE_CHECKING:
    from .explanation.explanation import Explanation
    from .explanation.verification import Verification
    from .probing.limiter import Limiter
    from .session.estimate.estimate import Estimate
    from .session.series import Conditions, SessionSeries
    from .session.session import Session
    from .session.updates import Update

RuleKindLike: TypeAlias = RuleKind | Literal["retention", "omission"]


class Explainer:
    """This class explains the answers of one application by rules.

    ``replay``: a sync or async function that runs the application on a question and a sequence of
    sources, and returns a str or an Answer. ``predicate``: the condition of retention rules.
    ``omission_predicate``: the condition of omission rules; by default the negation of ``predicate``.
    ``settings``: a ``Settings``. Single fields may also be given as keywords and then take precedence.
    ``concurrency`` limits how many replays of this explainer run at the same time, over all threads and
    event loops. Explainers that get the same ``limiter`` share this limit. ``progress``: gets a report of
    every call; True stands for a ``ProgressBar`` that all explainers share.

    If the process has loaded OpenTelemetry, every explanation is one span, "rag_rule_explanation". Every
    replay is a span inside it, "rag_rule_replay". Its attributes are the explanation's id, the ids of the
    retained sources and the verdict. Traces that OpenInference and LangSmith make during a replay get the
    same attributes. ``trace_replays=False`` switches off all tracing in replays.
    Raises InvalidInput for settings or predicates that cannot be used.
    """

    @showing_settings
    def __init__(
        self,
        replay: Replay | None = None,
        predicate: PredicateLike | None = None,
        *,
        omission_predicate: PredicateLike | None = None,
        settings: Settings | None = None,
        progress: Progress | bool | None = None,
        limiter: "Limiter | None" = None,
        trace_replays: bool = True,
        **fields: Unpack[SettingsFields],
    ) -> None:
        self.replay = None if replay is None else checked_replay(replay)
        self.settings = Settings.of(settings, fields, type(self).__init__)
        retention = as_predicate(same_answer() if predicate is None else predicate)
        opposite = negated(retention)
        omission = opposite if omission_predicate is None else as_predicate(omission_predicate)
        self.predicates = {RuleKind.RETENTION: retention, RuleKind.OMISSION: omission}
        self.progress = as_listener(progress)
        self._trace_replays = checked_flag("trace_replays", trace_replays)
        # Modules that run replays are imported late, so that the package is imported fast.
        from .probing.narrow_limiter import limiter_for

        bound = self.settings.concurrency
        self.limiter = limiter_for(limiter, bound, is_bound="concurrency" in fields)

    @showing_call_fields
    def explain(
        self,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "Explanation":
        """Returns every minimal rule of the answer to ``question``. Blocks until the search has ended.

        ``sources``: the retrieved sources, in the order in which the model is shown them. ``baseline``: a
        logged answer from all sources; without it, the application is run once. If the application now
        answers differently from the log, the first warning of the explanation says so. ``pinned``: ids of
        sources that are always retained and are in no rule. ``progress``: receives reports of this call,
        in addition to the explainer's own ``progress``.

        A sync ``replay`` runs in ``concurrency`` threads. An async ``replay`` runs on a private event
        loop that lives as long as the process. Both run in a copy of the caller's context. The method may
        be called while an event loop is running. Ctrl-C ends the search and returns the rules found so
        far; a second Ctrl-C aborts. Before there is an answer to explain, Ctrl-C raises
        KeyboardInterrupt. In the main thread, the SIGINT handler is replaced during the call and then
        restored.

        Raises InvalidInput (bad or too many sources), BaselineFailed, AnswerNotRepeatable.
        """
        from .probing.loop import run_blocking

        session = self._session(question, sources, baseline, fields)
        return run_blocking(session.explanation, session.interrupt)

    @showing_call_fields
    async def aexplain(
        self,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "Explanation":
        """Returns every minimal rule, as ``explain`` does, but runs on the caller's event loop. A sync
        ``replay`` still runs in threads."""
        session = self._session(question, sources, baseline, fields)
        return await session.explanation()

    @showing_call_fields
    def stream(
        self,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "Generator[Update | Explanation, None, None]":
        """Returns a generator that yields each finding of ``explain`` as an ``Update``, and the
        explanation last.

        A sampled search first yields a rule as *unverified*, and again once it is *tested* or *proved*.
        An exact search yields a rule when it is known to be minimal. A grouped search yields smaller and
        smaller rules. A rule that later breaks, or is found not to be minimal, is yielded again as
        ``withdrawn``. When the explanation is yielded, it reports exactly those yielded rules that were
        not withdrawn.

        New replays start only while the caller waits for the next update. Closing the generator, for
        example by leaving a loop over it, ends the search like Ctrl-C: replays that are running are
        awaited. ``contextlib.closing`` guarantees that the generator is closed. Raises the errors of
        ``explain``: at once for bad input, and during iteration for everything else.
        """
        from .session.streaming import stream_of

        return stream_of(self._session(question, sources, baseline, fields))

    @showing_call_fields
    def astream(
        self,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "AsyncGenerator[Update | Explanation, None]":
        """Yields each finding, and the explanation last, as ``stream`` does, on the caller's event loop.
        ``contextlib.aclosing`` guarantees that the generator is closed."""
        from .session.streaming import astream_of

        return astream_of(self._session(question, sources, baseline, fields))

    @showing_call_fields
    def verify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "Verification":
        """Returns whether one rule holds: "whenever these sources are retained (or omitted), ...".

        ``antecedent``: the ids of the sources in the rule. The id of a tied source stands for all sources
        tied to it. ``kind``: "retention" or "omission". The subset with only these sources retained (or
        omitted) is tried first. The trial ends at the first subset that breaks the rule. With k other
        sources, the rule applies to 2^k subsets. If k is at most 8, or if ``limits.replays`` allows it,
        all 2^k are tried, and a rule that holds is *proved*. Otherwise, random subsets are tried. The
        evidence then says on which share of subsets the rule may still fail, and with which confidence.
        ``Sampled(...)`` sets both; ``miner="exact"`` always tries all subsets. The setting ``rules`` is
        ignored. Whether a smaller rule holds too is not examined.

        Everything else is as for ``explain``. Raises InvalidInput also for an id that no source has.
        """
        from .probing.loop import run_blocking

        session = self._session(question, sources, baseline, fields, (antecedent, kind))
        return session.verification_from(run_blocking(session.explanation, session.interrupt))

    @showing_call_fields
    async def averify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "Verification":
        """Returns whether one rule holds, as ``verify`` does, but runs on the caller's event loop."""
        session = self._session(question, sources, baseline, fields, (antecedent, kind))
        return session.verification_from(await session.explanation())

    @showing_estimate_fields
    def estimate(
        self, question: str, sources: Iterable[SourceLike], **fields: Unpack[EstimateFields]
    ) -> "Estimate":
        """Returns the lowest, typical and highest cost of explaining the answer to ``question``.

        Nothing is sent to the application, a model or a judge. The estimate includes the requests to a
        judge. ``prompt``: the text that a model gets if all sources are retained; if None, the tokens of
        the question and of the sources' texts are counted. ``spent_tokens``: the tokens already spent to
        find the sources. ``notes``: remarks about the sources, which the estimate repeats. ``shape``:
        the requests to models in each run; None for one request. Raises InvalidInput like ``explain``.
        """
        from .session.estimate.estimate import estimated
        from .session.estimate.outlay import Material
        from .session.planning import choose

        options = taken(EstimateOptions, fields, Explainer, ("question", "sources"))
        check_question(question)
        source_set = SourceSet.of(sources, options.pinned, self.settings.tied_from)
        predicates = [self.predicates[kind] for kind in self.settings.kinds]
        stored = self.settings.store is not None
        material = Material.of(question, source_set, predicates, options, stored=stored)
        return estimated(material, self.settings, choose(self.settings, source_set))

    def series(
        self,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None,
        conditions: "Conditions",
        fields: CallFields,
    ) -> "SessionSeries":
        """Returns the sessions that explain one answer, one for each condition. They share the answers of
        the replays."""
        from .session.series import SessionSeries

        given = tuple(sources)

        def make(
            condition: PredicateLike | None, baseline: Baseline | None, of: SessionSeries
        ) -> "Session":
            asking, kept = copy(self), as_predicate(same_answer() if condition is None else condition)
            asking.predicates = {RuleKind.RETENTION: kept, RuleKind.OMISSION: negated(kept)}
            return asking._session(question, given, baseline, fields, series=of)

        return SessionSeries(make, conditions, as_baseline(baseline))

    def _session(
        self,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None,
        fields: CallFields,
        rule: tuple[Iterable[str], RuleKindLike] | None = None,
        series: "SessionSeries | None" = None,
    ) -> "Session":
        """Returns the session of one call. ``rule``: the rule to verify; None to search for rules."""
        from .probing.tracing.marks import TracedExplanation
        from .session.planning import choose, choose_to_verify
        from .session.session import Session

        self.limiter.check_free()
        options = taken(CallOptions, fields, Explainer, ("question", "sources", "baseline"))
        replay = chosen_replay(options.replay, self.replay)
        # A recorded run is replayed on its own input, so ``question`` may then be empty.
        check_question(question, may_be_empty=isinstance(baseline, Baseline))
        settings = self.settings
        source_set = SourceSet.of(sources, options.pinned, settings.tied_from)
        if rule is None:
            plan = choose(settings, source_set)
        else:
            settings = replace(settings, rules=as_kind(rule[1]).value)
            plan = choose_to_verify(settings, source_set, source_set.mask_of(rule[0]))
        listeners = (self.progress, as_listener(options.progress))
        return Session(
            question=plain_text(question),
            sources=source_set,
            baseline=as_baseline(baseline),
            replay=replay,
            limiter=self.limiter,
            predicates=beside_calls({kind: self.predicates[kind] for kind in settings.kinds}),
            settings=settings,
            plan=plan,
            progress=tuple(each for each in listeners if each is not None),
            trace=TracedExplanation(replays=self._trace_replays, follows_threads=True),
            series=series,
        )
