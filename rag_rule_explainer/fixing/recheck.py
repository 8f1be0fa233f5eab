"""This module checks whether a bad outcome is gone after a change of the corpus. It retrieves again and
explains the new answer. As long as the bad outcome is not gone, the next round leaves out more."""

from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..explanation.explanation import Explanation
from ..explanation.records import Finding
from ..explanation.wording import joined
from ..printable import shortened
from ..rules import RuleKind
from ..verdicts import Verdict
from .badness import badness_of
from .change import CorpusChange, is_same_document, sources_in
from .fixes import SURE, Fixes, fixes_of, is_about_all, is_sure_of_promise

RoundOutcome: TypeAlias = Literal["gone", "back", "another rule", "same rule", "still there", "undecided"]
"""The result of a round. *gone*: the application no longer gives the bad outcome. *undecided*: the new
answer has no verdict. All other results mean that the application still gives the bad outcome, and say
which rule of the new answer causes it. *back*: a rule that names a document which was not shown before.
*another rule*: a new rule over documents that were shown before. *same rule*: a rule that the answer
before the change had too. *still there*: it is not known which rule, or whether that rule is new. Only
rules that are sure and known to be minimal are considered: others may name documents without effect."""


@dataclass(frozen=True, slots=True)
class AnswerToNothing:
    """An ``AnswerToNothing`` is the application's answer if no document is retrieved any more.
    ``verdict``: HOLDS if it is the bad outcome, else BREAKS or UNKNOWN."""

    text: str
    verdict: Verdict


AfterChange: TypeAlias = Explanation | AnswerToNothing
Rechecking: TypeAlias = Generator[CorpusChange, AfterChange, "Recheck"]
"""A generator that yields the change to try next. The result after the change is sent to it: the
explanation of the new answer, or the answer without any documents."""

_NOTHING_LEFT = "nothing is retrieved any more, so there is nothing to leave out"
_OF_NOTHING: Mapping[Verdict, RoundOutcome] = {
    Verdict.HOLDS: "still there",
    Verdict.BREAKS: "gone",
    Verdict.UNKNOWN: "undecided",
}
_SAID_OF_RULES: Mapping[RoundOutcome, str] = {
    "another rule": "by another rule now",
    "same rule": "by no new rule",
    "still there": "and whether by another rule is not known",
}


@dataclass(frozen=True, slots=True)
class RecheckRound:
    """A ``RecheckRound`` is one retrieval after a change of the corpus, with the rules of its answer.
    ``change``: the change of the corpus. ``explanation``: the explanation of the new answer; None if
    nothing was retrieved any more, so that there are no sources. ``outcome``: "gone" if the bad outcome
    is gone, "undecided" if this is not known; otherwise, which rule causes it. ``answer``: the new
    answer; None if it is not known. ``promoted``: the ids of the new sources, which were not among the
    sources before the change. ``through``: the ids of the sources that cause the bad outcome; for "back",
    only the new ones."""

    change: CorpusChange
    explanation: Explanation | None
    outcome: RoundOutcome
    answer: str | None = None
    promoted: tuple[str, ...] = ()
    through: tuple[str, ...] = ()

    @property
    def fixes(self) -> Fixes:
        """Returns the fixes of the new answer; none if nothing was retrieved any more."""
        if self.explanation is None:
            return Fixes((), why=_NOTHING_LEFT)
        return fixes_of(self.explanation)

    @property
    def lasting(self) -> Finding | None:
        """Returns the rule which shows that the success lasts: on no subset of the new sources does the
        bad outcome occur. None if no such rule is about all subsets."""
        rules = () if self.explanation is None else self.explanation.omission_rules
        about_all = (rule for rule in rules if not rule.sources and is_about_all(rule))
        return next(about_all, None)

    def __str__(self) -> str:
        without = joined(self.change.left_out)
        changes = [f"without {without}"] if without else []
        if self.change.replaced:
            changes.append(f"with {joined(old.id for old, _ in self.change.replaced)} rewritten")
        changes += [f"with {len(self.change.added)} added"] if self.change.added else []
        answer = "" if self.answer is None else f"; the answer: {shortened(self.answer, 160)!r}"
        return f"{', '.join(changes)}: {self._outcome}{answer}"

    @property
    def _outcome(self) -> str:
        if self.explanation is None:
            return f"{self.outcome}, and nothing is retrieved any more"
        if self.outcome == "gone":
            return f"gone, {self._on_subsets}"
        if self.outcome == "back":
            return f"back {self._through_new}"
        if self.outcome in _SAID_OF_RULES:
            through = f" through {joined(self.through)}" if self.through else ""
            why = self.explanation.why_incomplete or "no sure rule names documents"
            how = _SAID_OF_RULES[self.outcome] if self.through else f"it is not known through what: {why}"
            return f"still there{through}, {how}"
        return f"undecided: {self.explanation.why_incomplete or 'the new answer has no verdict'}"

    @property
    def _through_new(self) -> str:
        """Returns in words which documents cause the bad outcome again, and why they are shown now."""
        shown = () if self.explanation is None else sources_in(self.explanation)
        by_origin = dict[str, list[str]]()
        for each in shown:
            if each.id in self.through:
                by_origin.setdefault(self.change.origin_of(each), []).append(each.id)
        return " and ".join(f"through {joined(ids)} ({how})" for how, ids in by_origin.items())

    @property
    def _on_subsets(self) -> str:
        """Returns a phrase that says on which subsets of the new sources the bad outcome is gone."""
        if self.lasting is not None and self.lasting.claim in SURE:
            return f"on every subset of what is retrieved now [{self.lasting.evidence}]"
        explanation = self.explanation
        if explanation is not None:
            tried = (rule for rule in explanation.omission_rules if not rule.sources)
            promised = next((rule for rule in tried if is_sure_of_promise(rule)), None)
            if promised is not None:
                return f"on every subset of what is retrieved now that was promised [{promised.evidence}]"
            verdicts = (badness_of(explanation, probe) for probe in explanation.probes)
            if Verdict.HOLDS in verdicts:
                return "with all that is retrieved now; on some of its subsets it is there, see the fixes"
        return "with all that is retrieved now; whether on every subset of it is not known"


@dataclass(frozen=True, slots=True)
class Recheck:
    """A ``Recheck`` says whether a bad outcome is gone after a change of the corpus.

    ``before``: the explanation before any change. ``rounds``: the retrievals after the changes, in order;
    each round after the first also leaves out the first sure fix of the round before: documents without
    which, by a rule that is proved or passed its votes or tests, the bad outcome does not come back.
    ``why_ended``: why the rounds ended although the outcome is not gone; empty otherwise. ``notes``:
    remarks for the reader, such as that sources pinned in ``before`` are no longer pinned.
    """

    before: Explanation
    rounds: tuple[RecheckRound, ...]
    why_ended: str = ""
    notes: tuple[str, ...] = ()

    @property
    def last(self) -> RecheckRound:
        """Returns the last round."""
        return self.rounds[-1]

    @property
    def outcome(self) -> RoundOutcome:
        """Returns the outcome of the last round."""
        return self.last.outcome

    @property
    def is_gone(self) -> bool | None:
        """Returns True if the bad outcome is gone, False if it is not, and None if this is undecided."""
        return None if self.outcome == "undecided" else self.outcome == "gone"

    @property
    def left_out(self) -> tuple[str, ...]:
        """Returns the ids of all documents that were left out in the last round."""
        return self.last.change.left_out

    def __str__(self) -> str:
        lines = [f"round {number}: {each}" for number, each in enumerate(self.rounds, start=1)]
        lines += [f"({each})" for each in (self.why_ended, *self.notes) if each]
        return "\n".join(lines)


def rechecking(
    before: Explanation, change: CorpusChange, rounds: int, *, ids_last: bool = False
) -> Rechecking:
    """Tries the change, and then fixes of the new answers, for at most ``rounds`` rounds, and returns the
    ``Recheck``. This generator yields each change, and must then be sent the explanation of the answer
    that the application gives after the change. ``ids_last``: True if each document has the same id in
    all retrievals."""
    earlier, done, why = before, list[RecheckRound](), ""
    while True:
        seen = yield change
        done.append(_round(change, seen, earlier))
        if done[-1].outcome == "gone":
            break
        if len(done) == rounds:
            made = "1 round was" if rounds == 1 else f"{rounds} rounds were"
            why = f"{made} made; rounds= allows more"
            break
        fixes = done[-1].fixes
        fix = fixes.first_sure
        if fix is None or isinstance(seen, AnswerToNothing):
            why = f"the new answer has no sure fix: {fixes.why or 'none passed its test'}"
            break
        earlier = seen
        change = change.also_without(seen, fix.sources, None if ids_last else before)
    return Recheck(before, tuple(done), why)


def rechecked(course: Rechecking, explain: Callable[[CorpusChange], AfterChange]) -> Recheck:
    """Runs a generator that ``rechecking`` has returned (``course``) to its end, and returns the
    ``Recheck``. ``explain``: a function that retrieves after a change, and explains the answer."""
    change = next(course)
    while True:
        try:
            change = course.send(explain(change))
        except StopIteration as end:
            return end.value


async def arechecked(
    course: Rechecking, explain: Callable[[CorpusChange], Awaitable[AfterChange]]
) -> Recheck:
    """Runs a generator that ``rechecking`` has returned (``course``) to its end, and returns the
    ``Recheck``. ``explain``: an async function that retrieves after a change, and explains the answer."""
    change = next(course)
    while True:
        explanation = await explain(change)
        try:
            change = course.send(explanation)
        except StopIteration as end:
            return end.value


def _round(change: CorpusChange, explanation: AfterChange, earlier: Explanation) -> RecheckRound:
    if isinstance(explanation, AnswerToNothing):
        return RecheckRound(change, None, _OF_NOTHING[explanation.verdict], explanation.text)
    known = list(sources_in(earlier))
    promoted = tuple(
        each.id
        for each in sources_in(explanation)
        if not any(is_same_document(old, each) for old in known)
    )
    verdict, answer = outcome_with_all(explanation)
    if verdict is Verdict.UNKNOWN:
        return RecheckRound(change, explanation, "undecided", answer, promoted)
    if verdict is Verdict.BREAKS:
        return RecheckRound(change, explanation, "gone", answer, promoted)
    outcome, through = _by_which_rule(explanation, earlier, frozenset(promoted))
    return RecheckRound(change, explanation, outcome, answer, promoted, through)


def _by_which_rule(
    explanation: Explanation, earlier: Explanation, promoted: frozenset[str]
) -> tuple[RoundOutcome, tuple[str, ...]]:
    rules = [rule for rule in _of_bad_outcome(explanation) if rule.claim in SURE and rule.minimal is True]
    through = tuple(dict.fromkeys(name for rule in rules for name in rule.sources))
    # If one of several tied sources was shown earlier, it alone may be the cause. So none counts as new.
    ties = (tie for rule in rules for tie in rule.tied if not promoted.issuperset(tie))
    is_new = promoted.difference(*ties)
    if new := tuple(name for name in through if name in is_new):
        return "back", new
    known = set(_rules_before(earlier, explanation))
    others = [rule for rule in rules if (rule.kind, frozenset(rule.sources)) not in known]
    # With pinned or tied sources, the earlier explanation may lack rules, so no rule is surely new.
    asked_all = not (earlier.ties or explanation.ties or any(each.pinned for each in earlier.sources))
    if others and earlier.complete and asked_all:
        return "another rule", through
    is_known = bool(rules) and not others and explanation.complete
    return ("same rule" if is_known else "still there"), through


def _rules_before(
    earlier: Explanation, explanation: Explanation
) -> Iterator[tuple[RuleKind, frozenset[str]]]:
    """Yields the earlier rules about the bad outcome that still apply to the documents shown now: the
    kind of each rule, and the ids (in ``explanation``) of those of its documents that are still shown."""
    now = list(sources_in(explanation))
    names = {
        old.id: next((each.id for each in now if is_same_document(old, each)), "")
        for old in sources_in(earlier)
    }
    for rule in _of_bad_outcome(earlier):
        shown = frozenset(filter(None, (names[each] for each in rule.sources)))
        # A retention rule no longer applies if one of its documents is not shown.
        if rule.kind is RuleKind.OMISSION or len(shown) == len(rule.sources):
            yield rule.kind, shown


def _of_bad_outcome(explanation: Explanation) -> tuple[Finding, ...]:
    """Returns the omission rules; also the retention rules if both kinds have opposite conditions, so
    that they are about the same bad outcome."""
    return explanation.rules if explanation.conditions_are_opposite else explanation.omission_rules


def outcome_with_all(explanation: Explanation) -> tuple[Verdict, str | None]:
    """Returns whether the answer from all sources is the bad outcome (UNKNOWN if no probe of them has a
    verdict), and this answer (None if it is not known)."""
    count = len(explanation.sources)
    for probe in explanation.probes:
        badness = badness_of(explanation, probe) if len(probe.kept) == count else None
        if badness is not None:
            return badness, probe.answers[0].shown if probe.answers else None
    return Verdict.UNKNOWN, None
