"""One more look at the application when all is asked: whether it still is what it was."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from ..lattice import Mask
from ..probing.limits import LimitReached
from ..probing.replayer import Replayer
from ..probing.replaying import ReplayFidelity
from ..rules import RuleKind
from ..sources import Arrangement, SourceSet
from ..verdicts import Verdict
from .plan import MOST_AGAIN
from .tracked_search import TrackedSearch

NOT_COMPARED_AGAIN = "the application was not run once more at the end, to see that it is still the same"

_FIRST_AGAIN = 2
"""Subsets of each search that are asked about again where the application has changed."""


@dataclass(frozen=True, slots=True)
class FinalComparison:
    """What an application remembers may show only after several runs, so one is made again at last.

    It is one on which rules hang, alone this time; the one on all sources where there is none.
    """

    sources: SourceSet
    replayer: Replayer
    tracked_searches: Sequence[TrackedSearch]
    notes: list[str]

    async def made(self, fidelity: ReplayFidelity) -> None:
        """Raises StateShared, which ends the call, where models are sent something else than before."""
        replayer, budget = self.replayer, self.replayer.budget
        if fidelity.doubt or not fidelity.is_comparable or replayer.stopper.reason or not budget.samples:
            return

        def begin() -> None:
            replayer.charge()
            budget.repeat_check += 1

        for mask in self._once_more(fidelity):
            if fidelity.doubt:
                return
            try:
                reply = await replayer.run(Arrangement.of(self.sources, mask), begin, "comparison")
            except LimitReached as limit:
                self.notes.append(f"{NOT_COMPARED_AGAIN}: {limit}")
                return
            if reply.cause is not None:
                self.notes.append(f"{NOT_COMPARED_AGAIN}: {reply.error}")

    def _once_more(self, fidelity: ReplayFidelity) -> tuple[Mask, ...]:
        """The subsets to ask about again: also all sources where a run went another way than the
        baseline; and where the application holds something else than before, those that were asked about
        first, when it held the least, and those of the rules themselves."""
        full = self.sources.lattice.full
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

    def _deciding(self, fidelity: ReplayFidelity) -> Mask:
        """The largest subset on which a condition came out otherwise than on all sources: rules of both
        kinds hang on it. Else the smallest one that was asked about."""
        full = self.sources.lattice.full
        seen, other = list[Mask](), list[Mask]()
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

    def _is_comparable(self, fidelity: ReplayFidelity, mask: Mask) -> bool:
        return fidelity.would_compare(Arrangement.of(self.sources, mask).ids)
