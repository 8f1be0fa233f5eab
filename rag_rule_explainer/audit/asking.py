"""This module asks one question of an audit, for every ``AuditEngine``. It explains the answer by the
conditions of bad and of good answers, and returns the data that the audit keeps of it."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from time import monotonic
from typing import Any, Final

from ..allowed import brief
from ..citations.several_conditions import aexplain_each
from ..errors import InvalidInput, RagRuleError
from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..explanation.records import Finding
from ..fixing.recheck import outcome_with_all
from ..instrumentation.importing import load_application
from ..instrumentation.integration import Integration
from ..predicates import Predicate, negated
from ..printable import shortened, type_said
from ..probing.budget import total
from ..probing.judging import error_text
from ..probing.limits import LimitReached
from ..progress.report import Progress
from ..rules import RuleKind
from ..sources import SourceLike
from ..sources.given import name_in
from ..verdicts import Verdict
from .documents import DocumentKey, is_made_up_for, keys_of, names_of
from .engine import AuditJob
from .metering import Meter, MeteredLimiter, TokenMeter
from .questions import (
    AnswerOutcome,
    AuditedAnswer,
    AuditedQuestion,
    AuditedRule,
    LoggedQuestion,
    RuleOutcome,
    ShownDocument,
)

OF_THE_AUDIT = ("the audit's limit", "the audit was stopped")
"""The beginnings of the reasons for which the audit itself, and not the limit for a single question,
stopped a question. Such a question is asked again when the audit is continued."""
TIED: Final = "near-duplicates were only retained or omitted together"
PINNED: Final = "pinned documents were never omitted"
_CONCURRENCY = 8
_LOOK_AT_EVERYTHING = frozenset({"exact", "exhaustive"})
_LONGEST_ANSWER = 2000
_OUTCOMES: dict[Verdict, AnswerOutcome] = {
    Verdict.HOLDS: "bad",
    Verdict.BREAKS: "not bad",
    Verdict.UNKNOWN: "undecided",
}


def explainer_for(job: AuditJob, meter: Meter) -> Any:
    """Returns the explainer that one process uses for all of its questions. Before each replay, the
    explainer asks ``meter``, which counts the replay, or forbids it if a limit is reached.

    Raises InvalidInput for an application that cannot be imported or explained, MissingExtra if its
    integration is not installed, and the errors of settings that cannot be used.
    """
    application = job.application
    if isinstance(application, Explainer):
        return _metered(application, job, meter)
    if hasattr(application, "aexplain_each"):
        raise InvalidInput(
            f"the application is {type_said(application)}; an audit makes the explainer itself: "
            "give what it wraps (.application), and its settings as keywords"
        )
    if isinstance(application, str):
        name, loaded = application, load_application(application)
    else:
        name, loaded = type(application).__name__, application
    # By default, an explainer raises an error for an answer that does not meet the condition. Most
    # answers do not meet the condition of bad answers, so a warning replaces the error.
    options = {**job.options, "false_condition": "warn"}
    settings: Any = options.get("settings")
    if "store" not in options and getattr(settings, "store", None) is None:
        options["store"] = job.store
    size: Any = options.get("concurrency", getattr(settings, "concurrency", _CONCURRENCY))
    given = options.pop("progress", None)
    return Integration.of(loaded, job.framework).explainer(
        loaded,
        name,
        predicate=job.condition,
        limiter=MeteredLimiter(size, meter),
        progress=_both(given, TokenMeter(meter)),
        **options,
    )


def _metered(explainer: Explainer, job: AuditJob, meter: Meter) -> Explainer:
    if job.options:
        name = next(iter(job.options))
        raise InvalidInput(f"{name} is a setting of the explainer; give it to Explainer(...) there")
    asking = copy(explainer)
    own = explainer.settings
    asking.settings = replace(own, false_condition="warn", store=own.store or job.store)
    asking.limiter = MeteredLimiter(explainer.limiter.size, meter)
    asking.progress = _both(explainer.progress, TokenMeter(meter))
    return asking


async def audited_answer(explainer: Any, job: AuditJob, question: LoggedQuestion) -> AuditedAnswer:
    """Asks and explains one question, and returns its result. ``explainer``: made by ``explainer_for``.

    Raises no errors of the application or of the explanation. After an error, the outcome of the
    question is "failed"; if a limit of the audit was reached first, it is "stopped".
    """
    begun = monotonic()
    asked = AuditedQuestion(question.id, question.question, "failed")
    try:
        found = await _explained(explainer, question, _conditions(job))
    except Exception as error:
        return AuditedAnswer(_failed(asked, error, monotonic() - begun))
    for each in found:
        if each.stop_reason.startswith(OF_THE_AUDIT):
            return AuditedAnswer(replace(_stopped(asked, each.stop_reason), **_spent(found)))
    return AuditedAnswer(_read(asked, question, job, found, monotonic() - begun), found)


def _stopped(asked: AuditedQuestion, reason: str) -> AuditedQuestion:
    return AuditedQuestion(asked.id, asked.question, "stopped", reason)


def _failed(asked: AuditedQuestion, error: Exception, seconds: float) -> AuditedQuestion:
    causes = (error, error.__context__ if error.__cause__ is None else error.__cause__)
    limit = next((each for each in causes if isinstance(each, LimitReached)), None)
    if limit is not None and str(limit).startswith(OF_THE_AUDIT):
        return _stopped(asked, str(limit))
    reason = str(error) if isinstance(error, RagRuleError) else error_text(error)
    return AuditedQuestion(
        asked.id, asked.question, "failed", shortened(reason, _LONGEST_ANSWER), seconds=seconds
    )


def _conditions(job: AuditJob) -> list[Predicate]:
    bad, good = job.condition, job.good
    # The rules of a negated condition say which documents keep answers from being bad, or from being
    # good.
    opposite = negated(bad)
    return [bad, opposite] if good is None else [bad, good, negated(good), opposite]


def _promised(job: AuditJob) -> list[tuple[RuleOutcome, RuleOutcome]]:
    """Returns, for each condition of the audit, what its retention rules and what its omission rules
    claim. For the condition of bad answers, these claims are "bad" and "not bad"."""
    of_bad: list[tuple[RuleOutcome, RuleOutcome]] = [("bad", "not bad"), ("not bad", "bad")]
    if job.good is None:
        return of_bad
    return [of_bad[0], ("good", "not good"), ("not good", "good"), of_bad[1]]


async def _explained(
    explainer: Any, question: LoggedQuestion, conditions: list[Predicate]
) -> tuple[Explanation, ...]:
    if not isinstance(explainer, Explainer):
        documents = None if question.documents is None else list(question.documents)
        return await explainer.aexplain_each(question.given, conditions, documents=documents)
    if question.documents is None:
        raise InvalidInput(
            f"the question {brief(question.id)} has no documents; an Explainer does not retrieve, so "
            "give each question its documents, or give an application"
        )
    return await aexplain_each(
        explainer, question.question, question.documents, lambda _answer: conditions
    )


def _read(
    asked: AuditedQuestion,
    question: LoggedQuestion,
    job: AuditJob,
    found: Sequence[Explanation],
    seconds: float,
) -> AuditedQuestion:
    first, doubted = found[0], any(each.doubted for each in found)
    verdict, _ = outcome_with_all(first)
    outcome = "undecided" if doubted else _OUTCOMES[verdict]
    why_open = next((why for each in found if (why := _why_open(each))), "")
    shown = tuple(_shown(first, question.documents))
    return AuditedQuestion(
        asked.id,
        asked.question,
        outcome,
        _why_undecided(first) if outcome == "undecided" else "",
        shortened(first.baseline.shown, _LONGEST_ANSWER),
        shown,
        tuple(_rules(job, found, keys_of(shown))),
        not why_open,
        why_open,
        doubted,
        _is_good(job, found),
        first.warnings,
        probes=max(each.counts.probes for each in found),
        seconds=seconds,
        **_spent(found),
    )


def _spent(found: Sequence[Explanation]) -> dict[str, Any]:
    """Returns what the explanations of one question have spent together, as fields of an
    ``AuditedQuestion``: replays, answers taken from the store, tokens, and cost."""
    spent = [each.spent for each in found]
    return {
        "replays": sum(each.counts.replays for each in found),
        "stored": sum(each.counts.stored for each in found),
        "tokens": sum(total(each.replays) + total(each.judge) for each in spent),
        "cost": sum((each.replays_cost or 0.0) + (each.judge_cost or 0.0) for each in spent),
    }


def _is_good(job: AuditJob, found: Sequence[Explanation]) -> bool | None:
    if job.good is None or found[1].doubted:
        return None
    verdict, _ = outcome_with_all(found[1])
    return None if verdict is Verdict.UNKNOWN else verdict is Verdict.HOLDS


def _shown(explanation: Explanation, documents: Sequence[SourceLike] | None) -> Iterator[ShownDocument]:
    own = names_of(documents or ())
    for rank, source in enumerate(explanation.sources, start=1):
        named = source.id in own or not is_made_up_for(source.id, given=documents is not None)
        name = "" if named or documents is None else name_in(source.metadata) or ""
        yield ShownDocument(source.id, source.sha256, rank, source.pinned, named, name)


def _rules(
    job: AuditJob, found: Sequence[Explanation], keys: Mapping[str, DocumentKey]
) -> Iterator[AuditedRule]:
    for explanation, (retained, omitted) in zip(found, _promised(job), strict=True):
        for rule in explanation.rules:
            outcome = retained if rule.kind is RuleKind.RETENTION else omitted
            yield AuditedRule(
                rule.kind,
                outcome,
                rule.sources,
                rule.claim,
                rule.evidence,
                _minimal(rule, keys),
                rule.confidence if rule.claim == "confident" else 1.0,
                tuple(_untried(rule)),
            )


def _minimal(rule: Finding, keys: Mapping[str, DocumentKey]) -> bool | None:
    """Returns True if the rule needs each of its documents, False if not, and None if this is not known.
    It is not known, for example, if the rule names near-duplicates that were only retained or omitted
    together, because one of them may be enough."""
    several = any(len({keys[each] for each in tied}) > 1 for tied in rule.tied)
    return None if several and rule.minimal else rule.minimal


def _untried(rule: Finding) -> Iterator[str]:
    """Yields a sentence for each kind of subset that the claim of a rule does not cover."""
    if rule.tied_beside:
        yield TIED
    if rule.pinned:
        yield PINNED


def _why_undecided(explanation: Explanation) -> str:
    why = explanation.warnings[0] if explanation.doubted and explanation.warnings else ""
    return why or explanation.why_incomplete or "the answer with all documents has no verdict"


def _why_open(explanation: Explanation) -> str:
    """Returns the reason why the search may have missed rules; empty if it has missed none."""
    if not explanation.complete:
        return explanation.why_incomplete or "the search was not complete"
    if explanation.doubted:
        return _why_undecided(explanation)
    if explanation.voted or explanation.min_confidence < 1:
        return "verdicts are votes, or rules may break on a share of the subsets"
    return next((why for is_so, why in _limits(explanation) if is_so), "")


def _limits(explanation: Explanation) -> Iterator[tuple[bool, str]]:
    """Yields a bool and a sentence for each reason why even a complete search may not have tried every
    subset. The bool is True iff the reason applies."""
    name = explanation.miner.name
    yield bool(explanation.ties), TIED
    yield any(each.pinned for each in explanation.sources), PINNED
    yield name not in _LOOK_AT_EVERYTHING, f"the miner {name!r} does not look at every subset"


def _both(given: Any, meter: Progress) -> Progress:
    from ..progress import as_progress

    own = as_progress(given)
    if own is None:
        return meter

    def on_progress(report: Any, /) -> None:
        meter(report)
        own(report)

    return on_progress
