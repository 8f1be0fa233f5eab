"""The replays that are made again at the end, to see that the application is still the same."""

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
"""Subsets of each search that are asked about again where the application has changed."""


@dataclass(frozen=True, slots=True)
class FinalComparison:
    """Compares the application at the end of all searches with what it was before.

    What an application remembers may show only after several runs, so one replay at least is made again.
    Where the application holds something else than before the baseline, some are also made with that put
    back: what the baseline has set, and every later run has found, shows in no other comparison.
    """

    sources: SourceSet
    replayer: Replayer
    tracked_searches: Sequence[TrackedSearch]
    notes: list[str]

    async def run(self, fidelity: ReplayFidelity) -> None:
        """Makes the replays. They leave a doubt in ``fidelity`` where a run answers otherwise than
        before.

        Raises StateShared, which ends the call, where models are sent something else than before.
        """
        await self._compare(fidelity)
        fidelity.remember()

    async def _compare(self, fidelity: ReplayFidelity) -> None:
        if fidelity.doubt or not fidelity.is_comparable:
            return
        if self.replayer.stopper.reason or not self.replayer.budget.samples:
            return
        for mask in self._again(fidelity):
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
        """Makes one replay. Returns False iff a limit is reached, which leaves no room for any."""

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

    def _again(self, fidelity: ReplayFidelity) -> tuple[Subset, ...]:
        """Returns the subsets to ask about again: also all sources where a run went another way than the
        baseline; and where the application holds something else than before, those that were asked about
        first, when it held the least, and those of the rules themselves."""
        full = self.sources.full
        masks = [self._deciding(fidelity)]
        if fidelity.unchecked:
            return tuple(masks)
        if fidelity.has_changed():
            known = [
                mask
                for tracked in self.tracked_searches
                for mask in (*islice(tracked.search.verdicts, _FIRST_AGAIN), *tracked.hanging())
            ]
            # In another order than the first time: what the run before left shows in the next.
            masks += [full, *(mask for mask in reversed(known) if self._is_comparable(fidelity, mask))]
        elif fidelity.departs:
            masks.append(full)
        return tuple(dict.fromkeys(masks))[:MOST_AGAIN]

    def _rewound(self, fidelity: ReplayFidelity) -> Iterator[Subset]:
        """Yields the subsets to ask about with what the application held before the baseline, if it holds
        something else by now: the smallest and the largest ones without each source, and the rules'."""
        if not fidelity.can_rewind():
            return
        asked = {mask for tracked in self.tracked_searches for mask in tracked.search.verdicts}
        known = sorted(
            (mask for mask in asked if self._is_comparable(fidelity, mask)),
            key=lambda mask: mask.bit_count(),
        )
        full = self.sources.full
        comparable, size = set(known), full.bit_count()
        own = [mask for each in self.tracked_searches for mask in each.hanging() if mask in comparable]
        # Of a middle size: state that few sources hide, and many as well.
        others = sorted(known, key=lambda mask: abs(2 * mask.bit_count() - size))
        by_turns = chain.from_iterable(zip_longest(own, _lacking_each(known[::-1], full), others))
        chosen = dict.fromkeys(
            mask for mask in (*_lacking_each(known, full), *by_turns) if mask not in {None, full}
        )
        yield from islice((mask for mask in chosen if mask is not None), MOST_REWOUND)

    def _deciding(self, fidelity: ReplayFidelity) -> Subset:
        """Returns the largest subset on which a condition came out otherwise than on all sources: rules
        of both kinds hang on it. Else the smallest one that was asked about."""
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
    """Returns the first of these, and those after it that lack a source which none before them lacks."""
    chosen, lacked = list[Subset](), 0
    for mask in masks:
        lacks = full & ~mask
        if lacks & ~lacked:
            chosen.append(mask)
            lacked |= lacks
    return chosen
