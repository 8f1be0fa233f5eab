"""This module decides what an explanation says about a rule: that there is such a rule, that there is
none, or that the explanation does not decide it.

A set of sources is a *valid* rule if the condition holds on every subset to which the rule applies. A
valid rule need not be minimal. Only subsets count that the explanation could replay: those with all
pinned sources, in which tied sources are retained or omitted together.

- If a probe breaks the condition, no rule that applies to its subset is valid. This is certain for every
  miner, and also if the search was stopped. But if rules need to hold only on a share of subsets
  (``min_confidence``), one probe decides nothing. Then only a complete search decides.
- A reported rule decides that it is valid if it is proved, has the confidence that was asked for, was
  tested, or was voted on. The last two may be wrong; ``error`` bounds the chance of this.
- Every superset of a valid rule is valid. This is not inferred from a tested rule, because its test says
  nothing about supersets.
- A relative rule decides nothing, because it says nothing about the sources outside of ``kept``. An
  unverified rule and a subset without a verdict decide nothing either.
- If the first warning doubts the replays, or a judge saw several answers at once, nothing is decided.
- If a decision may be wrong with a chance above ``max_error``, it is not decided.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import comb

from ..lattice import Mask, maximal
from ..mining.hitting import HittingSets
from ..rules import RuleKind
from .explanation import Explanation
from .judged_subsets import JudgedSubset, JudgedSubsets
from .loose_judging import loosely_judged
from .records import DOUBTED, Finding, Witness
from .wording import joined

MAX_ERROR = 0.05
"""If a decision is wrong with a larger chance than this, it counts as undecided."""
_LOOK_AT_EVERYTHING = frozenset({"exact", "exhaustive", "confidence"})


@dataclass(frozen=True, slots=True)
class Decision:
    """A ``Decision`` says whether there is a rule of the wanted kind, such as a rule that names certain
    sources. ``holds``: True if there is one, False if there is none, None if the explanation does not
    decide it.

    ``rules``: the reported rules from which the decision follows, or would follow if they were certain
    enough. ``witness``: a probe that breaks the rule in question; None if there is none. ``error``: an
    upper bound of the chance that the decision is wrong. ``assuming``: the assumption of this bound, in
    words; empty if the bound is 0. ``open``: if it is undecided, the ids of one set of sources that
    together may be such a rule; empty if nothing is said about any set. ``why``: the reason why it is
    undecided; empty if it is decided.
    """

    holds: bool | None
    rules: tuple[Finding, ...] = ()
    witness: Witness | None = None
    error: float = 0.0
    assuming: str = ""
    open: tuple[str, ...] = ()
    why: str = ""


def decide_rule(
    explanation: Explanation, kind: RuleKind, sources: Iterable[str], max_error: float = MAX_ERROR
) -> Decision:
    """Returns whether these sources are a valid rule of this kind, minimal or not. ``max_error``: a
    decision that may be wrong with a larger chance is not made."""
    return _Deciding(explanation, kind, max_error).rule(tuple(dict.fromkeys(sources)))


def decide_any_rule(
    explanation: Explanation,
    kind: RuleKind,
    within: Iterable[str] | None = None,
    max_size: int | None = None,
    max_error: float = MAX_ERROR,
) -> Decision:
    """Returns whether there is a valid rule of this kind, minimal or not, that names only sources of
    ``within`` and at most ``max_size`` of them. With None, ``within`` means all sources, and
    ``max_size`` any number. ``max_error``: a decision that may be wrong with a larger chance is not
    made."""
    return _Deciding(explanation, kind, max_error).any_rule(
        None if within is None else tuple(dict.fromkeys(within)), max_size
    )


@dataclass(slots=True)
class _Deciding:
    explanation: Explanation
    kind: RuleKind
    max_error: float
    seen: JudgedSubsets = field(init=False)

    def __post_init__(self) -> None:
        self.seen = JudgedSubsets(self.explanation, self.kind)

    def rule(self, sources: tuple[str, ...]) -> Decision:
        seen, asked = self.seen, self.seen.mask(sources)
        why = self._why_nothing() or self._why_never_asked(sources)
        if why:
            return Decision(None, open=sources, why=why)
        breaking = sorted(seen.breaking(asked), key=lambda each: each.chance)
        errors = [each.chance * seen.applicable(asked) for each in breaking[:1]]
        if breaking and errors[0] <= self.max_error:
            return self._decided(holds=False, error=errors[0], witness=breaking[0].witness)
        within = self._reported(asked, len(self.explanation.sources))
        deciding = [each for each in within if self._speaks_of(each, asked)]
        errors += [self._error(each) for each in deciding]
        errors += [] if (whole := seen.seen_whole(asked)) == 1 else [whole]
        if not breaking and errors and min(errors) <= self.max_error:
            return self._decided(holds=True, error=min(errors), rules=tuple(deciding))
        if seen.is_shared and self._is_settled() and not within and not seen.splits(asked):
            errors.append(self._error_of_share())
            if errors[-1] <= self.max_error:
                return self._decided(holds=False, error=errors[-1])
        return self._open(asked, within, errors)

    def any_rule(self, within: tuple[str, ...] | None, max_size: int | None) -> Decision:
        if why := self._why_nothing():
            return Decision(None, why=why)
        seen = self.seen
        among = seen.lattice.full if within is None else seen.mask(within)
        most = among.bit_count() if max_size is None else min(max_size, among.bit_count())
        reported = self._reported(among, most)
        certain = [each for each in reported if self._speaks_of(each, seen.mask(each.sources))]
        errors = [self._error(each, comb(among.bit_count(), most)) for each in certain]
        if most == among.bit_count() and (whole := seen.seen_whole(among)) < 1:
            errors.append(whole)
        if errors and min(errors) <= self.max_error:
            return self._decided(holds=True, error=min(errors), rules=tuple(certain))
        if seen.is_shared:
            return self._none_of_share(among, reported, errors)
        times = seen.asked()
        usable = [each for each in seen.breaking(0) if each.chance * times <= self.max_error]
        left = self._left(among, most, usable)
        if left is None:
            error = max((each.chance for each in usable), default=0.0) * times
            return self._decided(holds=False, error=error)
        errors += [min(each.chance for each in broken) * times] if (broken := seen.breaking(left)) else []
        return self._open(left, reported, errors)

    def _none_of_share(self, among: Mask, reported: Sequence[Finding], errors: list[float]) -> Decision:
        """Returns the decision that there is no rule, if a complete search found none and is certain
        enough; otherwise an undecided decision.

        This method is for explanations in which a rule needs to hold only on a share of its subsets, so
        that a single probe cannot refute it. ``among``: the sources that the rule may name.
        ``reported``: the reported rules with these sources. ``errors``: the chances of error of other
        ways to decide; if nothing is decided, the reason names them.
        """
        if self._is_settled() and not reported and not self.seen.splits(among):
            errors = [*errors, self._error_of_share()]
            if errors[-1] <= self.max_error:
                return self._decided(holds=False, error=errors[-1])
        return self._open(among, reported, errors)

    def _why_nothing(self) -> str:
        """Returns the reason why the explanation decides nothing about this kind of rule; empty if there
        is no such reason."""
        explanation = self.explanation
        if self.kind not in explanation.predicates:
            return f"no {self.kind.value} rules were looked for"
        if loose := loosely_judged(explanation.warnings):
            return loose
        if is_doubted(explanation):
            return ": ".join([DOUBTED, *explanation.warnings[:1]])
        return ""

    def _why_never_asked(self, sources: Sequence[str]) -> str:
        pinned = [each for each in sources if each not in self.seen.free]
        never = pinned and self.kind is RuleKind.OMISSION
        return f"{joined(pinned)}: pinned, and so never omitted" if never else ""

    def _reported(self, among: Mask, most: int) -> list[Finding]:
        """Returns the reported rules that name at most ``most`` sources, and only sources of
        ``among``."""
        rules = (rule for rule in self.explanation.rules if rule.kind is self.kind)
        return [
            rule
            for rule in rules
            if self.seen.mask(rule.sources) & ~among == 0 and len(rule.sources) <= most
        ]

    def _speaks_of(self, rule: Finding, asked: Mask) -> bool:
        """Returns True iff the reported ``rule`` shows that a rule over the sources in ``asked`` is
        valid. ``asked``: a mask that contains all sources of ``rule``, and perhaps more."""
        named = self.seen.mask(rule.sources)
        if self.seen.breaking(named):
            return False
        if rule.claim in {"confident", "tested"} or self.seen.is_shared:
            return named == asked and rule.claim not in {"relative", "unverified"}
        return rule.claim in {"proved", "voted"}

    def _error(self, rule: Finding, ways: int = 1) -> float:
        """Returns an upper bound of the chance that ``rule`` was reported although it is not valid.
        ``ways``: the number of sets of sources that could have been reported instead. The chance grows
        with this number."""
        noise = self.seen.noise
        if rule.claim == "tested":
            return noise.passed_test(self.explanation, rule, alone=ways == 1)
        if not noise.wrong:
            return 0.0
        if self.seen.is_shared:
            return self._error_of_share()
        applying = self.seen.applying(self.seen.mask(rule.sources))
        return min(1.0, ways * max((each.chance for each in applying), default=1.0))

    def _error_of_share(self) -> float:
        unseen = self.seen.noise.unseen
        return min(1.0, max(unseen(held=True), unseen(held=False)) * 2 ** len(self.explanation.units))

    def _is_settled(self) -> bool:
        return self.explanation.complete and self.explanation.miner.name in _LOOK_AT_EVERYTHING

    def _left(self, among: Mask, most: int, broken: Iterable[JudgedSubset]) -> Mask | None:
        """Returns the smallest set of sources that may still be a rule, among those that have at most
        ``most`` sources, all of them in ``among``; None if there is none.

        ``broken``: the subsets on which the condition broke. A set is certainly no rule if a rule with
        these sources would apply to one of these subsets.
        """
        lattice = self.seen.lattice
        inside = maximal({each.antecedent & among for each in broken}, lattice.size)
        smallest = HittingSets(lattice, [among & ~each for each in inside]).smallest()
        return None if smallest is None or smallest.bit_count() > most else smallest

    def _decided(
        self,
        *,
        holds: bool,
        error: float,
        rules: tuple[Finding, ...] = (),
        witness: Witness | None = None,
    ) -> Decision:
        return Decision(holds, rules, witness, error, self.seen.noise.wording if error else "")

    def _open(self, mask: Mask, rules: Sequence[Finding], errors: Sequence[float]) -> Decision:
        why = self._why_open(mask, rules, min(errors, default=0.0))
        return Decision(None, tuple(rules), open=self.seen.ids(mask), why=why)

    def _why_open(self, mask: Mask, rules: Sequence[Finding], error: float) -> str:
        explanation, seen = self.explanation, self.seen
        if error > self.max_error:
            wrong = f"{min(1.0, error):.1%}".replace("%", " %")
            votes = "votes on every subset, with more samples," if seen.noise.wrong else "jointly=True"
            return f"saying so could be wrong with a chance of {wrong}; {votes} would make it rarer"
        for rule in rules:
            if rule.claim in {"relative", "unverified", "tested"}:
                return f"there is only a rule that does not decide it: {rule}"
        for each in explanation.unresolved:
            if each.kind is self.kind and mask & ~seen.fulfilled(each.kept) == 0:
                return f"no verdict with {joined(each.kept) or 'no sources'} retained: {each.reason}"
        if seen.splits(mask):
            return "tied near-duplicates were never asked about one without the other"
        seldom = f"the miner {explanation.miner.name!r} did not ask about every subset that matters"
        return explanation.why_incomplete or seldom


def is_doubted(explanation: Explanation) -> bool:
    """Returns True iff the replays of an explanation cannot be trusted. An explanation of schema version
    1 does not state this; then returns True if its other fields suggest such a doubt."""
    if explanation.doubted is not None:
        return explanation.doubted
    # A doubt is the stop reason only if nothing else, such as a limit, stopped the search. After a limit,
    # a warning and the fact that every rule is unverified are the only signs of a doubt.
    stopped, claims = explanation.stop_reason, {rule.claim for rule in explanation.rules}
    perhaps = stopped and explanation.warnings and claims <= {"unverified"} and not explanation.ended
    return stopped == DOUBTED or bool(perhaps)
