"""Explainer: the one place where sources, miners, replays, predicates and findings meet."""

from collections.abc import AsyncGenerator, Generator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from typing_extensions import Unpack

from .allowed import checked_flag, checked_function, named_function, taken, takes
from .errors import InvalidInput
from .estimate.options import EstimateFields, EstimateOptions, showing_estimate_fields
from .predicates import PredicateLike, as_predicate, negated, same_answer
from .probing.replaying import Baseline, Replay
from .progress import as_progress
from .progress.report import Progress
from .rules import RuleKind, as_kind
from .session.call_options import CallFields, CallOptions, showing_call_fields
from .session.plan import OneRule
from .session.planning import choose, choose_to_verify
from .settings import Settings, SettingsFields, showing_settings
from .sources import SourceLike, SourceSet
from .verdicts import Answer, logged_answer, plain_text

if TYPE_CHECKING:
    from .estimate.estimate import Estimate
    from .explanation.explanation import Explanation
    from .explanation.verification import Verification
    from .probing.limiter import Limiter
    from .session.session import Session
    from .session.updates import Update

Kind: TypeAlias = RuleKind | Literal["retention", "omission"]


class Explainer:
    """Explains answers of one application by rules.

    ``replay``: runs the application on a question and the sources it is given, sync or async, and returns
    a str or an Answer. ``predicate``: the condition of retention rules. ``omission_predicate``: that of
    omission rules; by default the negation of ``predicate``. Settings as a whole (``settings``), field by
    field, or both; see ``Settings``. All that one explainer has in flight at a time, over threads and
    loops together, is bounded by ``concurrency``; all that several have, by a ``limiter`` that they
    share. ``progress``: told of every call; True for a ``ProgressBar`` that all who say so share.

    Where the process has loaded OpenTelemetry, every explanation is one span, "rag_rule_explanation", and
    every replay one inside it, "rag_rule_replay", with the explanation's id, the ids retained, and the
    verdict as attributes; what OpenInference and LangSmith trace in a replay is marked so too.
    ``trace_replays=False`` silences all of them in replays.

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
        self.replay = None if replay is None else _checked_replay(replay)
        self.settings = Settings.of(settings, fields, type(self).__init__)
        retention = as_predicate(same_answer() if predicate is None else predicate)
        opposite = negated(retention)
        omission = opposite if omission_predicate is None else as_predicate(omission_predicate)
        self.predicates = {RuleKind.RETENTION: retention, RuleKind.OMISSION: omission}
        self.progress = as_progress(progress)
        self._trace_replays = checked_flag("trace_replays", trace_replays)
        # The engine and its event loop are loaded when first needed, not on import.
        from .probing.limiter import Limiter

        if not isinstance(limiter, (Limiter, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"limiter is {limiter!r}; give a Limiter(size), or concurrency= alone")
        self.limiter = limiter or Limiter(self.settings.concurrency)

    @showing_call_fields
    def explain(
        self,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "Explanation":
        """Returns every minimal rule of the answer to ``question``, blocking until it is known.

        ``sources``: what was retrieved, in the order shown. ``baseline``: the answer on all of them, from
        a log; the application is asked where it is not given. If it answers otherwise now, that is the
        first of the explanation's warnings. ``pinned``: ids of sources that are always retained and in no
        rule. ``progress``: told of this call, beside the explainer's own.

        A sync ``replay`` runs in ``concurrency`` threads, an async one on one private loop that lives as
        long as the process, both in a copy of the caller's context. May be called inside a running loop.
        Ctrl-C ends the search and returns what was proved until then; a second one aborts. Before there
        is an answer to explain it raises KeyboardInterrupt. SIGINT is handled here meanwhile, in the main
        thread: by asking whatever handled it before, which is put back in the end.

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
        """Returns the same on the caller's own loop; a sync ``replay`` still runs in threads."""
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
        """Returns the findings of ``explain`` as they become known, each an ``Update``; its explanation
        last.

        A rule of a sampled search is told as soon as it held where it was tried, *unverified*, and once
        more when it is *tested* or *proved*; one of an exact search when it is known to be minimal; those
        of a grouped one grow smaller. What was told and turns out to break, or to be too large, is told
        again, as ``withdrawn``. When the explanation comes, what stands is what it reports.

        Nothing new is asked before the next update is asked for. Closing the generator, as leaving its
        loop does, ends the search as Ctrl-C does: what is in flight is awaited. ``contextlib.closing``
        does it for sure. Raises what ``explain`` raises: bad input at once, the rest when it is iterated.
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
        """Returns the same on the caller's own loop, for ``async for``; ``contextlib.aclosing`` closes it
        for sure."""
        from .session.streaming import astream_of

        return astream_of(self._session(question, sources, baseline, fields))

    @showing_call_fields
    def verify(
        self,
        antecedent: Iterable[str],
        kind: Kind,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "Verification":
        """Returns whether one rule holds: "whenever the sources of these ids are retained" (or omitted).

        It is tried on its own subset first, and ends with the first subset that breaks it. Up to 8 other
        sources, or as many as ``limits.replays`` allows for, all 2^(n-|S|) subsets are tried, and the
        rule is *proved*; above that random ones, and the finding states what that guarantees. ``miner``
        "exact" always tries all, "sampled" or ``Sampled(...)`` says which guarantee. ``rules`` is not
        looked at. Whether a smaller rule inside it holds as well is not looked for. An id stands for all
        that are tied to it.

        The rest is as for ``explain``. Raises InvalidInput for an id that is no source's as well.
        """
        from .probing.loop import run_blocking

        rule = antecedent, kind
        session = self._session(question, sources, baseline, fields, rule)
        return _verified(session, run_blocking(session.explanation, session.interrupt))

    @showing_call_fields
    async def averify(
        self,
        antecedent: Iterable[str],
        kind: Kind,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None = None,
        **fields: Unpack[CallFields],
    ) -> "Verification":
        """Returns the same on the caller's own loop."""
        rule = antecedent, kind
        session = self._session(question, sources, baseline, fields, rule)
        return _verified(session, await session.explanation())

    @showing_estimate_fields
    def estimate(
        self, question: str, sources: Iterable[SourceLike], **fields: Unpack[EstimateFields]
    ) -> "Estimate":
        """Returns what explaining the answer to ``question`` would take at best, typically and at worst.

        Asks nothing and nobody; what a judge would be asked is told as well. ``prompt``: what a model
        would be sent with all sources, where that is known; else the question and the sources' texts are
        counted. ``spent_tokens``: what was spent to find the sources; ``notes``: what else there is to
        say of them; ``shape``: what else models are asked in each run. Raises InvalidInput as ``explain``
        does.
        """
        from .estimate.estimate import Material, estimated

        options = taken(EstimateOptions, fields, Explainer)
        _check_question(question)
        source_set = SourceSet.of(sources, options.pinned, self.settings.tied_from)
        predicates = [self.predicates[kind] for kind in self.settings.kinds]
        stored = self.settings.store is not None
        material = Material.of(question, source_set, predicates, options, stored=stored)
        return estimated(material, self.settings, choose(self.settings, source_set))

    def _session(
        self,
        question: str,
        sources: Iterable[SourceLike],
        baseline: Baseline | Answer | str | None,
        fields: CallFields,
        rule: tuple[Iterable[str], Kind] | None = None,
    ) -> "Session":
        """``rule``: the only one that is looked at."""
        from .probing.tracing.marks import TracedExplanation
        from .session.session import Session

        self.limiter.check_free()
        options = taken(CallOptions, fields, Explainer)
        replay = self._replay(options.replay)
        # An application that ran had an input, whatever its question is.
        _check_question(question, may_be_empty=isinstance(baseline, Baseline))
        if not isinstance(baseline, (Baseline, type(None))):
            baseline = Baseline(logged_answer(baseline), logged=True)
        settings = self.settings
        source_set = SourceSet.of(sources, options.pinned, settings.tied_from)
        if rule is None:
            plan = choose(settings, source_set)
        else:
            settings = replace(settings, rules=as_kind(rule[1]).value)
            plan = choose_to_verify(settings, source_set, source_set.mask_of(rule[0]))
        told = (self.progress, as_progress(options.progress))
        return Session(
            question=plain_text(question),
            sources=source_set,
            baseline=baseline,
            replay=replay,
            limiter=self.limiter,
            predicates={kind: self.predicates[kind] for kind in settings.kinds},
            settings=settings,
            plan=plan,
            progress=tuple(each for each in told if each is not None),
            trace=TracedExplanation(replays=self._trace_replays, follows_threads=True),
        )

    def _replay(self, given: Replay | None) -> Replay:
        chosen = self.replay if given is None else _checked_replay(given)
        if chosen is None:
            raise InvalidInput("nothing to replay; pass replay=, a function of (question, sources)")
        return chosen


def _check_question(question: object, *, may_be_empty: bool = False) -> None:
    if not isinstance(question, str):
        raise InvalidInput(f"the question is {type(question).__name__}; give a str")
    if not (may_be_empty or question.strip()):
        raise InvalidInput("the question is empty; give the one that the answer is to")


def _checked_replay(replay: Replay) -> Replay:
    what = "a function of (question, sources) that returns the answer"
    checked_function("replay", replay, what)
    if not takes(replay, 2):
        raise InvalidInput(
            f"replay is {named_function(replay)}, which cannot be called with two; give {what}"
        )
    return replay


def _verified(session: "Session", explanation: "Explanation") -> "Verification":
    from .explanation.verification import Verification

    (kind,), method = session.settings.kinds, session.plan.method
    antecedent = method.antecedent if isinstance(method, OneRule) else 0
    return Verification(kind, session.sources.ids_of(antecedent), explanation)
