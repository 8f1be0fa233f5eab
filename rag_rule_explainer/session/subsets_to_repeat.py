"""This module chooses the subsets that are replayed once more after the searches."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from ..lattice import ArrangementKey, unit_count
from ..probing.replaying import ReplayFidelity
from ..rules import RuleKind
from ..sources import Arrangement, SourceSet
from ..verdicts import Verdict
from .plan import MOST_AGAIN, MOST_REWOUND
from .tracked_search import TrackedSearch

_FIRST_AGAIN = 2
"""The number of subsets of each search that are replayed again if the application's state has changed.
They are the first ones that the search replayed."""


@dataclass(frozen=True, slots=True)
class SubsetsToRepeat:
    """A ``SubsetsToRepeat`` chooses the subsets that are replayed once more, among all subsets that the
    searches replayed. The choice depends on what ``fidelity`` knows of the application's state."""

    sources: SourceSet
    tracked_searches: Sequence[TrackedSearch]
    fidelity: ReplayFidelity

    def to_repeat(self) -> tuple[ArrangementKey, ...]:
        """Returns the subsets that are replayed again.

        The first is the largest subset whose verdict differs from the verdict on all sources. If the
        application's state has changed, the full set, the subsets on which the rules depend, and the
        first subsets of each search are added. The first subsets were replayed before most changes of
        the state, so their answers may differ now. If a run took another path through the code than the
        baseline, the full set is added.
        """
        full = self.sources.full
        keys: list[ArrangementKey] = [self._decisive()]
        if self.fidelity.unchecked:
            return tuple(keys)
        if self.fidelity.has_changed():
            known = [
                key
                for tracked in self.tracked_searches
                for key in (*islice(tracked.search.verdicts, _FIRST_AGAIN), *tracked.search.decisive())
            ]
            # A run may leave state that influences the next run. The subsets are replayed in reverse
            # order, so that the run before each subset is another one than the first time. If an answer
            # now differs, state has influenced it.
            keys += [full, *(key for key in reversed(known) if self._is_comparable(key))]
        elif self.fidelity.departs:
            keys.append(full)
        return tuple(dict.fromkeys(keys))[:MOST_AGAIN]

    def to_rewind(self) -> list[ArrangementKey]:
        """Returns the subsets to replay once more after the application's state was set back to the state
        from before the baseline. Returns none if the state has not changed since then.

        The returned subsets are, for each source, the smallest and the largest probed subset without this
        source, then the subsets of the rules, the largest subsets that break a condition, and subsets of
        a middle size; at most ``MOST_REWOUND`` in all. If the state may depend on the sources, it may
        influence any single subset. So all other subsets that prove a rule are then added.
        """
        if not self.fidelity.can_rewind():
            return []
        asked = {key for tracked in self.tracked_searches for key in tracked.search.verdicts}
        known = sorted(
            (key for key in asked if self._is_comparable(key)),
            key=unit_count,
        )
        full = self.sources.full
        comparable, size = set(known), unit_count(full)
        own = [
            key for each in self.tracked_searches for key in each.search.decisive() if key in comparable
        ]
        # Some retained sources may hide the influence of state on the answer. Subsets of a middle size
        # retain some sources and omit others. So they can show the influence both if few sources hide it
        # and if many sources hide it.
        others = sorted(known, key=lambda key: abs(2 * unit_count(key) - size))
        by_turns = chain.from_iterable(
            zip_longest(own, self._next_to_rules(comparable), self._lacking_each(known[::-1]), others)
        )
        chosen = dict.fromkeys(
            key for key in (*self._lacking_each(known), *by_turns) if key not in {None, full}
        )
        found = [key for key in chosen if key is not None]
        first = found[:MOST_REWOUND]
        if len(found) == len(first) or not self.fidelity.dependent_places:
            return first
        proven_by = self._proven_by()
        return [*first, *(key for key in found[MOST_REWOUND:] if key in proven_by)]

    def _next_to_rules(self, comparable: Container[ArrangementKey]) -> list[ArrangementKey]:
        """Returns those subsets in ``comparable`` that break a condition, the largest first.

        These subsets show that no part of the sources of a rule makes a rule. So if the verdict on such a
        subset is wrong, a smaller rule stays hidden. If several subsets are equally large, the subset
        that was replayed last comes first, because most earlier replays may have left state that
        influenced it.
        """
        breaking = [
            key
            for tracked in self.tracked_searches
            for key, verdict in tracked.search.verdicts.items()
            if verdict is Verdict.BREAKS and key in comparable
        ]
        breaking.reverse()
        return sorted(breaking, key=unit_count, reverse=True)

    def _decisive(self) -> ArrangementKey:
        """Returns the largest subset whose verdict differs from the verdict on all sources, because
        rules of both kinds depend on this verdict. If there is none, returns the smallest probed
        subset."""
        full = self.sources.full
        seen, other = list[ArrangementKey](), list[ArrangementKey]()
        for search in (tracked.search for tracked in self.tracked_searches):
            usual = Verdict.of(search.kind is RuleKind.RETENTION)
            on_all = search.verdicts.get(full, usual)
            for key, verdict in search.verdicts.items():
                if key != full and verdict is not Verdict.UNKNOWN and self._is_comparable(key):
                    (other if verdict is ~on_all else seen).append(key)
        if other:
            return max(other, key=_fewest_first)
        return min(seen, key=_fewest_first, default=full)

    def _is_comparable(self, key: ArrangementKey) -> bool:
        return self.fidelity.would_compare(Arrangement.of(self.sources, key).ids)

    def _lacking_each(self, keys: Iterable[ArrangementKey]) -> list[ArrangementKey]:
        """Returns some of the subsets in ``keys``, such that each source is omitted in at least one of
        them if possible. A subset is chosen if it omits a source (or a group of tied sources) that no
        subset chosen before omits."""
        lattice = self.sources.lattice
        chosen, lacked = list[ArrangementKey](), set[int]()
        for key in keys:
            lacks = lattice.left_out(key) - lacked
            if lacks:
                chosen.append(key)
                lacked |= lacks
            if len(lacked) == lattice.size:
                break
        return chosen

    def _proven_by(self) -> frozenset[ArrangementKey]:
        """Returns the subsets whose verdicts prove rules. If all rules of a search are proved, returns
        all subsets of the search, because the other subsets prove that there are no further rules."""
        found = set[ArrangementKey]()
        for search in (tracked.search for tracked in self.tracked_searches):
            proved = [claim.antecedent for claim in search.claims if claim.status == "proved"]
            is_all = len(proved) == len(search.claims)
            found |= {
                key
                for key in search.verdicts
                if is_all or any(search.applies(antecedent, key) for antecedent in proved)
            }
        return frozenset(found)


def _fewest_first(key: ArrangementKey) -> tuple[int, ArrangementKey]:
    return unit_count(key), key
