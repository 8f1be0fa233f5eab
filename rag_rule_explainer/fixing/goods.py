"""This module finds out how the removal of sources affects good outcomes: conditions that the user wants
to hold. It judges the answers that an explanation already has, and makes no replay."""

import inspect
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..explanation.explanation import Explanation
from ..explanation.records import ProbeRecord
from ..predicates import Predicate
from ..printable import printable
from ..sources import Source
from ..verdicts import Case, Judgement, Verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GoodEffect:
    """A ``GoodEffect`` states what the removal of some sources does to a good outcome (a condition that
    the user wants to hold), as far as the answers in the explanation show it.

    ``condition``: the good outcome in words. ``after``: whether it holds if exactly these sources are
    removed; None if the explanation has no answer to that. ``holds``, ``breaks``: the number of probed
    subsets without these sources on which the good outcome holds, and the number of those on which it
    breaks. ``lost``: the number of pairs of probed subsets that differ only in these sources, and in
    which the good outcome holds with the sources and breaks without them.
    """

    condition: str
    after: Verdict | None
    holds: int
    breaks: int
    lost: int

    def __str__(self) -> str:
        known = {Verdict.HOLDS: "stays", Verdict.BREAKS: "is lost", Verdict.UNKNOWN: "is undecided"}
        then = "is not known from kept answers" if self.after is None else known[self.after]
        asked = self.holds + self.breaks
        return (
            f"the good outcome ({printable(self.condition)}) {then}; without these it holds on "
            f"{self.holds:,} of {asked:,} kept subsets, and is broken by the removal on {self.lost:,}"
        )


class Goods:
    """A ``Goods`` finds out on which answers in an explanation each good outcome (a condition that the
    user wants to hold) holds. Each answer is judged once for each good outcome."""

    def __init__(self, explanation: Explanation, conditions: Sequence[Predicate]) -> None:
        self._explanation = explanation
        self._conditions = conditions
        self._ids = frozenset(source.id for source in explanation.sources)
        answered = [probe for probe in explanation.probes if probe.answers] if conditions else []
        self._verdicts = [
            (str(condition), dict(self._judged(condition, answered))) for condition in conditions
        ]

    def effects_of(self, removed: Sequence[str]) -> tuple[GoodEffect, ...]:
        """Returns the effect of this removal on each of the conditions."""
        return tuple(
            _effect(name, verdicts, frozenset(removed), self._ids) for name, verdicts in self._verdicts
        )

    def notes(self) -> Iterator[str]:
        """Yields a sentence if the explanation has too few answers to show the effects of removals."""
        if not self._conditions:
            return
        made = self._explanation.counts.probes
        kept = sum(bool(probe.answers) for probe in self._explanation.probes)
        if kept < made:
            yield (
                f"the explanation keeps the answers of {kept:,} of its {made:,} probes, too few to say "
                "all that a removal breaks; a saved explanation may keep few of them: ask where it was "
                "made, or explain again"
            )

    def _judged(
        self, condition: Predicate, probes: Sequence[ProbeRecord]
    ) -> Iterator[tuple[frozenset[str], Verdict]]:
        explanation = self._explanation
        sources = tuple(Source(each.id, each.text, each.metadata) for each in explanation.sources)
        by_id = {each.id: each for each in sources}
        remembered = dict[object, Verdict]()
        for probe in probes:
            kept = tuple(by_id[each] for each in probe.kept)
            case = Case(explanation.question, explanation.baseline, probe.answers[0], kept, sources)
            key = condition.memo_key(case)
            verdict = remembered.get(key) if key is not None else None
            if verdict is None:
                verdict = judged_now(condition, case).verdict
            if key is not None:
                remembered[key] = verdict
            yield frozenset(probe.kept), verdict


def judged_now(condition: Predicate, case: Case) -> Judgement:
    """Returns the judgement of a condition, which may be async. Blocks until it is known."""
    return settled(condition(case))


def settled(given: T | Awaitable[T]) -> T:
    """Returns a value, and awaits it first if it is awaitable. Blocks until the value is available."""
    if not inspect.isawaitable(given):
        return given
    from ..probing.loop import run_blocking  # imported late, because most conditions are not async

    async def wait() -> T:
        return await given

    return run_blocking(wait)


def _effect(
    name: str, verdicts: Mapping[frozenset[str], Verdict], removed: frozenset[str], ids: frozenset[str]
) -> GoodEffect:
    without = {kept: each for kept, each in verdicts.items() if kept.isdisjoint(removed)}
    lost = sum(
        verdict is Verdict.HOLDS and without.get(kept - removed) is Verdict.BREAKS
        for kept, verdict in verdicts.items()
        if not kept.isdisjoint(removed)
    )
    found = list(without.values())
    return GoodEffect(
        name,
        without.get(ids - removed),
        sum(each is Verdict.HOLDS for each in found),
        sum(each is Verdict.BREAKS for each in found),
        lost,
    )
