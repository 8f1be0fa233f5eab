"""This module determines, from the rules of an explanation, which sources cause the claim that its
condition is about.

The condition of retention rules is that the answer makes the claim. A minimal retention rule is then a
set of sources that is sufficient for the claim. If the condition of omission rules is the opposite, an
omission rule with one source says that the claim is never made without this source.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..explanation.deciding import is_doubted
from ..explanation.explanation import Explanation
from ..explanation.loose_judging import loosely_judged
from ..explanation.records import DOUBTED, DROPPED, Finding
from ..explanation.wording import joined
from ..rules import ClaimStatus, RuleKind
from ..verdicts import Verdict

_STRONGEST_FIRST: tuple[ClaimStatus, ...] = (
    "proved",
    "confident",
    "voted",
    "tested",
    "relative",
    "unverified",
)
_LOOK_AT_EVERYTHING = frozenset({"exact", "exhaustive", "confidence"})
"""The names of the miners that request the verdict on every subset that can change the rules."""
_SEVERAL = 3
"""A threshold: if at least this many sources are each sufficient alone for the claim, their texts may not
be the cause. The model may then make the claim from its own knowledge."""
_MINERS_OF_ALL = frozenset({"exact", "exhaustive", "confidence", "sampled", "quick", "grouped"})
"""The names of the miners that search for rules over all sources. Other miners find only rules over some
of the sources."""


def weakest(claims: Iterable[ClaimStatus]) -> ClaimStatus:
    """Returns the weakest of these statuses of claims. A statement that depends on several rules is only
    as certain as the least certain of them. Returns "unverified" for an empty collection."""
    given: set[ClaimStatus] = set(claims)
    found: ClaimStatus = "unverified"
    for each in reversed(_STRONGEST_FIRST):
        if each in given:
            return each
    return found


@dataclass(frozen=True, slots=True)
class EnoughSources:
    """An ``EnoughSources`` is a set of sources that is sufficient for the claim. ``sources``: the ids;
    the claim needs all of them. ``rule``: the retention rule that states this."""

    sources: frozenset[str]
    rule: Finding


@dataclass(slots=True)
class Causes:
    """A ``Causes`` determines which sources cause the claim, from the rules and the probes of one
    explanation.

    ``enough``: the minimal retention rules. ``all_known``: True iff the search has found all minimal
    retention rules. ``why_nothing``: the reason why the explanation does not decide anything about
    causes; empty if there is no such reason.
    """

    explanation: Explanation
    enough: tuple[EnoughSources, ...] = field(init=False)
    all_known: bool = field(init=False)
    why_nothing: str = field(init=False)
    _made: dict[frozenset[str], bool] = field(init=False)
    _unit_of: dict[str, frozenset[str]] = field(init=False)

    def __post_init__(self) -> None:
        explanation = self.explanation
        self._made = dict(self._seen())
        self._unit_of = {each: frozenset(unit) for unit in explanation.units for each in unit}
        rules = [rule for rule in explanation.retention_rules if rule.minimal]
        self.enough = tuple(EnoughSources(self._whole(rule), rule) for rule in rules)
        self.all_known = self._knows_all()
        self.why_nothing = self._why_nothing()

    def _seen(self) -> Iterator[tuple[frozenset[str], bool]]:
        """Yields, for each probe, its retained sources, and whether its answer made the claim. Probes
        without a verdict are left out."""
        explanation, opposite = self.explanation, self.explanation.conditions_are_opposite
        for witness in explanation.witnesses:
            if witness.kind is RuleKind.RETENTION or opposite:
                yield frozenset(witness.kept), witness.kind is RuleKind.OMISSION
        for probe in explanation.probes:
            for kind, judged in probe.verdicts.items():
                known = judged.verdict is not Verdict.UNKNOWN
                if known and (kind is RuleKind.RETENTION or opposite):
                    held = judged.verdict is Verdict.HOLDS
                    yield frozenset(probe.kept), held is (kind is RuleKind.RETENTION)

    def _whole(self, rule: Finding) -> frozenset[str]:
        """Returns all sources that a rule requires, also those that it does not name. For example, a rule
        about a batch of sources may name only D1 and hold only while all sources of the other batches are
        retained too."""
        if not rule.with_others:
            return frozenset(rule.sources)
        free = (source.id for source in self.explanation.sources if not source.pinned)
        return frozenset(rule.sources).union(each for each in free if each not in rule.kept)

    def _knows_all(self) -> bool:
        explanation = self.explanation
        if explanation.miner.name not in _MINERS_OF_ALL:
            return False
        open_kinds = {each.kind for each in explanation.unresolved}
        if RuleKind.RETENTION in open_kinds:
            return False
        if explanation.complete or explanation.stop_reason in {"", DROPPED}:
            return True
        # If a search of all subsets was stopped early, the explanation lists its unresolved subsets. If
        # all of these belong to omission rules, the search for retention rules was complete.
        return bool(open_kinds) and explanation.miner.name in _LOOK_AT_EVERYTHING

    def _why_nothing(self) -> str:
        explanation = self.explanation
        if RuleKind.RETENTION not in explanation.predicates:
            return "no retention rules were looked for; leave out rules='omission'"
        if loose := loosely_judged(explanation.warnings):
            return loose
        if is_doubted(explanation):
            return ": ".join([DOUBTED, *explanation.warnings[:1]])
        everything = frozenset(source.id for source in explanation.sources)
        if self.made(everything) is False:
            return "with all sources the claim is not made, so nothing is there to be cited for"
        return ""

    def made(self, kept: Iterable[str]) -> bool | None:
        """Returns True iff the answer made the claim with exactly these sources retained; None if there
        is no such probe. Also returns None if rules need to hold only on a share of the subsets, because
        a single probe then decides nothing."""
        return None if self.explanation.min_confidence < 1 else self._made.get(frozenset(kept))

    @property
    def seen_claim(self) -> ClaimStatus:
        """Returns how certain a statement is, such as "proved", if it depends only on single probes and
        on no rule."""
        return "voted" if self.explanation.voted else "proved"

    @property
    def all_claim(self) -> ClaimStatus:
        """Returns how certain a statement about all minimal retention rules is, such as "proved"."""
        claims: list[ClaimStatus] = [each.rule.claim for each in self.enough]
        if self.explanation.stop_reason == DROPPED:
            claims.append("relative")
        return weakest(claims)

    @property
    def pinned(self) -> tuple[str, ...]:
        """Returns the ids of the sources that every replay retained."""
        return tuple(source.id for source in self.explanation.sources if source.pinned)

    def without(self, identity: str) -> frozenset[str]:
        """Returns all sources, without this one and without the sources that are tied to it."""
        everything = frozenset(source.id for source in self.explanation.sources)
        return everything - self._unit_of.get(identity, frozenset((identity,)))

    def anyhow(self) -> EnoughSources | None:
        """Returns the rule with no sources, which says that the claim is made whichever sources are
        retained; None if there is no such rule."""
        return next((each for each in self.enough if not each.sources), None)

    def with_source(self, identity: str) -> list[EnoughSources]:
        """Returns the minimal rules that need this source."""
        return [each for each in self.enough if identity in each.sources]

    def needed_by_all(self, identity: str) -> bool | None:
        """Returns True iff every minimal rule contains this source; None if this is not known.

        A replay on all sources except this one also decides this: if a minimal rule lacked the source,
        that replay would make the claim.
        """
        made = self.made(self.without(identity))
        if made is not None:
            return not made
        if any(identity not in each.sources for each in self.enough):
            return False
        # A grouped search retains or omits a whole group of sources at once, and divides a group only if
        # a rule names the group. It may therefore have missed rules even if it was not stopped.
        may_miss = self.explanation.miner.name == "grouped" and not self.explanation.complete
        return True if self.all_known and self.enough and not may_miss else None

    def never_without(self, identity: str) -> tuple[bool | None, Finding | None]:
        """Returns whether the claim is never made without this source, and the omission rule that says
        so.

        Returns False and None if the claim can be made without the source, and None and None if this is
        not known.
        """
        if not self.explanation.conditions_are_opposite:
            return None, None
        unit = self._unit_of.get(identity, frozenset((identity,)))
        for rule in self.explanation.omission_rules:
            if frozenset(rule.sources) == unit and not rule.with_others:
                return True, rule
        without = self.without(identity)
        if any(kept <= without and self.made(kept) for kept in self._made):
            return False, None
        return False if self.explanation.complete else None, None

    def lies_within(self, cited: frozenset[str]) -> list[EnoughSources]:
        """Returns the minimal rules whose sources are all cited. A rule that needs no sources is left
        out."""
        return [each for each in self.enough if each.sources and each.sources <= cited]

    def without_sources(self) -> tuple[bool | None, str]:
        """Returns whether the claim is also made without any source (True or False), and an empty text.
        If this is not known, returns None and the reason.

        It is not known if the application was never run without sources, or if it did not call its model
        in that run.
        """
        settings, pinned = self.explanation.settings, self.pinned
        if pinned:
            return None, f"{joined(pinned)} stayed in every replay, so it was never asked without sources"
        if isinstance(settings.get("answer_without_sources"), str):
            return None, "the application was not asked without sources: its answer was given"
        if self._is_asked_without() is False:
            return None, "without sources the application answers without asking its model"
        made = self._made.get(frozenset())
        return made, "" if made is not None else "it was not seen what is answered without sources"

    def _is_asked_without(self) -> bool | None:
        """Returns True iff the application asks its model for the answer even if there is no source;
        None if this is not known.

        A model call in a replay without sources proves nothing, because it may only rewrite the
        question. A replay without any model call proves that the model is not asked for the answer.
        """
        probes = self.explanation.probes
        without = [answer for probe in probes if not probe.kept for answer in probe.answers]
        others = [answer for probe in probes if probe.kept for answer in probe.answers]
        if any(answer.seen is not None for answer in (*without, *others)):
            is_open = not without or any(answer.seen is not None for answer in without)
            return None if is_open else False
        if any(answer.usage for answer in without):
            return True
        return False if without and any(answer.usage for answer in others) else None

    def why_memory_is_open(self) -> str:
        """Returns the reason why it is not known whether the model makes the claim from memory, which is
        its own knowledge. Returns an empty text if this is known."""
        made, remark = self.without_sources()
        is_always_made = self.anyhow() is not None and not self.pinned
        if made is None and (is_always_made or self._each_alone_is_enough()):
            return f"the claim may be made from memory: it is made with each source alone, and {remark}"
        several = len(self.explanation.units) >= _SEVERAL and self._each_alone_is_enough()
        if made is False and several and self._is_asked_without() is None:
            return (
                "each source alone is enough for the claim, and no source is not; it would be so as well "
                "if the application did not ask its model without sources, and the model needed none"
            )
        return ""

    def _each_alone_is_enough(self) -> bool:
        singles: set[frozenset[str]] = {each.sources for each in self.enough}
        units: Sequence[tuple[str, ...]] = self.explanation.units
        return bool(units) and all(frozenset(unit) in singles for unit in units)

    def tied(self, sources: Iterable[str]) -> tuple[str, ...]:
        """Returns the ids of the first group of tied sources (retained or omitted only together) that has
        at least two of ``sources``; empty if no group has."""
        named = frozenset(sources)
        ties = (tie.sources for tie in self.explanation.ties)
        return next((tie for tie in ties if len(named.intersection(tie)) > 1), ())

    def uncited(self, cited: frozenset[str]) -> tuple[str, ...]:
        """Returns the sources that some minimal rule contains and that are neither cited nor tied to a
        cited source, in the order of the explanation. Empty if the model may make the claim from its own
        knowledge."""
        if self.why_memory_is_open():
            return ()
        known = cited.union(*(self._unit_of.get(each, frozenset[str]()) for each in cited))
        named = frozenset[str]().union(*(each.sources for each in self.enough)) - known
        return tuple(source.id for source in self.explanation.sources if source.id in named)
