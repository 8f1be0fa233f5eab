"""This module repeats some replays at the end, to check that the application is unchanged."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from ..lattice import Subset
from ..probing.limits import LimitReached
from ..probing.replayer import Replayer
from ..probing.replaying import ReplayFidelity
from ..rules import RuleKind
from ..sources import Arrangement, SourceSet
from ..verdicts import Verdict
from .plan import MOST_AGAIN, MOST_REWOUND
from .tracked_search import TrackedSearch

NOT_COMPARED_AGAIN = "the application was not run once more at the end, to see that it is still the same"

_FIRST_AGAIN = 2
"""The number of first subsets of each search that are replayed again if the application has changed."""


@dataclass(frozen=True, slots=True)
class FinalComparison:
    """A FinalComparison compares the application at the end of all searches with its earlier replays.

    State that an application keeps may show only after several runs, so at least one replay is repeated.
    If state has changed since before the baseline, some replays are also repeated with that earlier state
    restored: no other comparison shows state that the baseline set and all later runs found.
    """

    sources: SourceSet
    replayer: Replayer
    tracked_searches: Sequence[TrackedSearch]
    notes: list[str]

    async def run(self, fidelity: ReplayFidelity) -> None:
        """Repeats the replays. They leave a doubt in ``fidelity`` if a run answers otherwise than before.
        Raises StateShared, which ends the call, if the models' requests differ from before."""
        await self._compare(fidelity)
        fidelity.remember()

    async def _compare(self, fidelity: ReplayFidelity) -> None:
        if fidelity.doubt or not fidelity.is_comparable:
            return
        if self.replayer.stopper.reason or not self.replayer.budget.samples:
            return
        for mask in self._to_repeat(fidelity):
            if fidelity.doubt or not await self._replay(mask):
                return
        await self._compare_rewound(fidelity)

    async def _compare_rewound(self, fidelity: ReplayFidelity) -> None:
        for mask in self._rewound(fidelity):
            has_room = True
            with fidelity.rewound():
                has_room = await self._replay(mask)
            if fidelity.doubt or not has_room:
                return

    async def _replay(self, mask: Subset) -> bool:
        """Makes one replay. Returns False iff a limit allows no more replays."""

        def begin() -> None:
            self.replayer.charge()
            self.replayer.budget.repeat_check += 1

        try:
            reply = await self.replayer.run(Arrangement.of(self.sources, mask), begin, "comparison")
        except LimitReached as limit:
            self.notes.append(f"{NOT_COMPARED_AGAIN}: {limit}")
            return False
        if reply.cause is not None:
            self.notes.append(f"{NOT_COMPARED_AGAIN}: {reply.error}")
        return True

    def _to_repeat(self, fidelity: ReplayFidelity) -> tuple[Subset, ...]:
        """Returns the subsets to replay again.

        They include all sources if a run took another course than the baseline. If the application's
        state has changed, they include the first subsets that were replayed, before most changes, and
        those of the rules.
        """
        full = self.sources.full
        masks = [self._decisive(fidelity)]
        if fidelity.unchecked:
            return tuple(masks)
        if fidelity.has_changed():
            known = [
                mask
                for tracked in self.tracked_searches
                for mask in (*islice(tracked.search.verdicts, _FIRST_AGAIN), *tracked.subsets_of_rules())
            ]
            # The order is reversed, since the state that a run leaves shows in the next run.
            masks += [full, *(mask for mask in reversed(known) if self._is_comparable(fidelity, mask))]
        elif fidelity.departs:
            masks.append(full)
        return tuple(dict.fromkeys(masks))[:MOST_AGAIN]

    def _rewound(self, fidelity: ReplayFidelity) -> Iterator[Subset]:
        """Yields the subsets to replay with the state from before the baseline, if that state has
        changed.

        These are, for each source, the smallest and the largest subset without it, and those of the
        rules.
        """
        if not fidelity.can_rewind():
            return
        asked = {mask for tracked in self.tracked_searches for mask in tracked.search.verdicts}
        known = sorted(
            (mask for mask in asked if self._is_comparable(fidelity, mask)),
            key=lambda mask: mask.bit_count(),
        )
        full = self.sources.full
        comparable, size = set(known), full.bit_count()
        own = [
            mask
            for each in self.tracked_searches
            for mask in each.subsets_of_rules()
            if mask in comparable
        ]
        # Subsets of a middle size find state that few sources hide, and state that many hide.
        others = sorted(known, key=lambda mask: abs(2 * mask.bit_count() - size))
        by_turns = chain.from_iterable(zip_longest(own, _lacking_each(known[::-1], full), others))
        chosen = dict.fromkeys(
            mask for mask in (*_lacking_each(known, full), *by_turns) if mask not in {None, full}
        )
        yield from islice((mask for mask in chosen if mask is not None), MOST_REWOUND)

    def _decisive(self, fidelity: ReplayFidelity) -> Subset:
        """Returns the largest subset whose verdict differs from that on all sources: rules of both kinds
        depend on it. Without one, it returns the smallest subset that was probed."""
        full = self.sources.full
        seen, other = list[Subset](), list[Subset]()
        for search in (tracked.search for tracked in self.tracked_searches):
            usual = Verdict.of(search.kind is RuleKind.RETENTION)
            on_all = search.verdicts.get(full, usual)
            for mask, verdict in search.verdicts.items():
                if (
                    mask != full
                    and verdict is not Verdict.UNKNOWN
                    and self._is_comparable(fidelity, mask)
                ):
                    (other if verdict is ~on_all else seen).append(mask)
        if other:
            return max(other, key=lambda mask: (mask.bit_count(), mask))
        return min(seen, key=lambda mask: (mask.bit_count(), mask), default=full)

    def _is_comparable(self, fidelity: ReplayFidelity, mask: Subset) -> bool:
        return fidelity.would_compare(Arrangement.of(self.sources, mask).ids)


def _lacking_each(masks: Iterable[Subset], full: Subset) -> list[Subset]:
    """Returns the first mask, and each later one that lacks a source which no earlier one lacks."""
    chosen, lacked = list[Subset](), 0
    for mask in masks:
        lacks = full & ~mask
        if lacks & ~lacked:
            chosen.append(mask)
            lacked |= lacks
    return chosen
