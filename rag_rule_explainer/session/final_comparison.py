"""This module repeats some replays after the searches. It checks that the application still gives the
same answers."""

from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from ..errors import StoreFailed
from ..lattice import ArrangementKey, unit_count
from ..printable import plain_id, shortened
from ..probing.limits import LimitReached
from ..probing.prober import Prober
from ..probing.replayer import Replayer
from ..probing.replaying import ReplayFidelity
from ..rules import RuleKind
from ..sources import Arrangement, SourceSet
from ..verdicts import Answer, Verdict
from .plan import MOST_AGAIN, MOST_REWOUND
from .tracked_search import TrackedSearch

NOT_COMPARED_AGAIN = "the application was not run once more at the end, to see that it is still the same"

JUDGED_OTHERWISE = (
    "fidelity not checked: run again on {sources} after the search, the application was judged otherwise "
    "({came!r} instead of {was}). Its model answers by chance, or remembers what it was asked before. "
    "noise=9 lets votes decide; a model that remembers needs a session of its own in every run"
)

NOT_REWOUND = (
    "fidelity not checked: later runs find {places}, and only {made} of {count} replays were made once "
    "more from the state before the first run ({limit}), so the others may rest on what that run left. A "
    "higher limit lets all of them be made once more"
)

_FIRST_AGAIN = 2
"""The number of subsets of each search that are replayed again if the application's state has changed.
They are the first ones that the search replayed."""


@dataclass(frozen=True, slots=True)
class FinalComparison:
    """A ``FinalComparison`` repeats replays after all searches, and compares their answers with the
    earlier ones.

    An application may keep state that influences its answers only after several runs, so at least one
    replay is repeated. If state has changed since before the baseline, some replays are also repeated
    with the earlier state restored. Only these repetitions can show that the change of state influences
    answers, because all earlier replays ran after the change.
    """

    sources: SourceSet
    prober: Prober
    tracked_searches: Sequence[TrackedSearch]
    notes: list[str]

    @property
    def replayer(self) -> Replayer:
        """Returns the object that runs the application."""
        return self.prober.sampler.replayer

    async def run(self, fidelity: ReplayFidelity) -> None:
        """Repeats the replays. If an answer differs from the earlier one, or is judged otherwise,
        ``fidelity.doubt`` then says so, as a warning for the user. Raises StateShared if the requests to
        models differ from those of the earlier replays."""
        if not fidelity.is_comparable:
            return
        if self.replayer.stopper.reason or not self.replayer.budget.samples:
            return
        if fidelity.doubt:
            # The replays are in doubt already, so only one of them is repeated. The one on all sources is
            # compared with the baseline, the earliest run of all. So it shows best whether the
            # application behaves differently after many runs, for example because it counts them.
            await self._replay(self.sources.full, fidelity)
            return
        for key in self._to_repeat(fidelity):
            if fidelity.doubt or not await self._replay(key, fidelity):
                return
        await self._compare_rewound(fidelity)

    async def _compare_rewound(self, fidelity: ReplayFidelity) -> None:
        keys = self._rewound(fidelity)
        for made, key in enumerate(keys):
            has_room = True
            with fidelity.rewound():
                has_room = await self._replay(key, fidelity)
            if not has_room and len(keys) > MOST_REWOUND and not fidelity.doubt:
                places, limit = (
                    fidelity.dependent_places,
                    self.replayer.stopper.reason or "a limit was reached",
                )
                fidelity.doubt = NOT_REWOUND.format(
                    places=places, made=made, count=len(keys), limit=limit
                )
            if fidelity.doubt or not has_room:
                return

    def _proven_by(self) -> frozenset[ArrangementKey]:
        """Returns the subsets whose verdicts prove rules. If all rules of a search are proved, returns
        all its subsets, because the others prove that there are no further rules."""
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

    async def _replay(self, key: ArrangementKey, fidelity: ReplayFidelity) -> bool:
        """Replays a subset once more. During the replay, ``fidelity`` compares it with the earlier one,
        and sets its ``doubt`` (a warning for the user) if they differ. Returns False iff a limit allows
        no more replays."""
        arrangement = Arrangement.of(self.sources, key)

        def begin() -> None:
            self.replayer.charge()
            self.replayer.budget.repeat_check += 1

        try:
            reply = await self.replayer.run(arrangement, begin, "comparison")
            if reply.answer is not None and not fidelity.doubt:
                fidelity.doubt = await self._judged_otherwise(key, arrangement, reply.answer)
        except LimitReached as limit:
            self.notes.append(f"{NOT_COMPARED_AGAIN}: {limit}")
            return False
        if reply.cause is not None:
            self.notes.append(f"{NOT_COMPARED_AGAIN}: {reply.error}")
        return True

    async def _judged_otherwise(
        self, key: ArrangementKey, arrangement: Arrangement, answer: Answer
    ) -> str:
        """Returns a warning for the user if the verdict on this answer is the opposite of a search's
        verdict on the same sources; else an empty text.

        Opposite verdicts mean that the model answers by chance, or that the application remembers earlier
        requests in a place that is not observed. No judge is asked for this comparison. With votes,
        nothing is compared, because the outcome of a vote may differ from the verdict on one answer.
        """
        case = self.prober.case(arrangement, answer)
        for tracked in self.tracked_searches:
            judging, was = tracked.judging, tracked.search.verdicts.get(key, Verdict.UNKNOWN)
            if was is Verdict.UNKNOWN or tracked.voting.is_wanted:
                continue
            judgement = judging.known(case)
            if judgement is None and not judging.has_jury:
                # All rules are found by now, so a store that fails costs only this comparison.
                with suppress(StoreFailed):
                    judgement = await judging.judge(case)
            if judgement is not None and judgement.verdict is ~was:
                earlier = tracked.get(key)
                known = None if earlier is None else earlier.reply.answer
                return JUDGED_OTHERWISE.format(
                    sources=_listed(arrangement),
                    came=shortened(answer.text, 100),
                    was="an earlier answer" if known is None else repr(shortened(known.text, 100)),
                )
        return ""

    def _to_repeat(self, fidelity: ReplayFidelity) -> tuple[ArrangementKey, ...]:
        """Returns the subsets that are replayed again.

        The first is the decisive subset; see ``_decisive``. If the application's state has changed, the
        full set, the subsets on which the rules depend, and the first subsets of each search are added.
        The first subsets were replayed before most changes of the state, so their answers may differ now.
        If a run took another path through the code than the baseline, the full set is added.
        """
        full = self.sources.full
        keys: list[ArrangementKey] = [self._decisive(fidelity)]
        if fidelity.unchecked:
            return tuple(keys)
        if fidelity.has_changed():
            known = [
                key
                for tracked in self.tracked_searches
                for key in (*islice(tracked.search.verdicts, _FIRST_AGAIN), *tracked.search.decisive())
            ]
            # A run may leave state that influences the next run. The subsets are replayed in reverse
            # order, so that each comes after a different subset than the first time. If the answer now
            # differs, there is such an influence.
            keys += [full, *(key for key in reversed(known) if self._is_comparable(fidelity, key))]
        elif fidelity.departs:
            keys.append(full)
        return tuple(dict.fromkeys(keys))[:MOST_AGAIN]

    def _rewound(self, fidelity: ReplayFidelity) -> list[ArrangementKey]:
        """Returns the subsets to replay once more after the application's state was set back to that from
        before the baseline; none if the state has not changed since then.

        They are, for each source, the smallest and the largest probed subset without it, then the subsets
        of the rules, the largest subsets that break a condition, and subsets of a middle size; at most
        ``MOST_REWOUND`` in all. If the state may depend on the sources, any single subset may be
        influenced by it. So all other subsets that prove a rule are added.
        """
        if not fidelity.can_rewind():
            return []
        asked = {key for tracked in self.tracked_searches for key in tracked.search.verdicts}
        known = sorted(
            (key for key in asked if self._is_comparable(fidelity, key)),
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
        if len(found) == len(first) or not fidelity.dependent_places:
            return first
        proven_by = self._proven_by()
        return [*first, *(key for key in found[MOST_REWOUND:] if key in proven_by)]

    def _next_to_rules(self, comparable: Container[ArrangementKey]) -> list[ArrangementKey]:
        """Returns those subsets in ``comparable`` that break a condition, the largest first.

        They show that no part of the sources of a rule makes a rule, so a wrong verdict on them hides a
        smaller rule. Of equally large subsets, the one that was replayed last comes first, because the
        most earlier replays may have left state that influenced it.
        """
        breaking = [
            key
            for tracked in self.tracked_searches
            for key, verdict in tracked.search.verdicts.items()
            if verdict is Verdict.BREAKS and key in comparable
        ]
        breaking.reverse()
        return sorted(breaking, key=unit_count, reverse=True)

    def _decisive(self, fidelity: ReplayFidelity) -> ArrangementKey:
        """Returns the largest subset whose verdict differs from the verdict on all sources, because
        rules of both kinds depend on this verdict. If there is none, returns the smallest probed
        subset."""
        full = self.sources.full
        seen, other = list[ArrangementKey](), list[ArrangementKey]()
        for search in (tracked.search for tracked in self.tracked_searches):
            usual = Verdict.of(search.kind is RuleKind.RETENTION)
            on_all = search.verdicts.get(full, usual)
            for key, verdict in search.verdicts.items():
                if key != full and verdict is not Verdict.UNKNOWN and self._is_comparable(fidelity, key):
                    (other if verdict is ~on_all else seen).append(key)
        if other:
            return max(other, key=_fewest_first)
        return min(seen, key=_fewest_first, default=full)

    def _is_comparable(self, fidelity: ReplayFidelity, key: ArrangementKey) -> bool:
        return fidelity.would_compare(Arrangement.of(self.sources, key).ids)

    def _lacking_each(self, keys: Iterable[ArrangementKey]) -> list[ArrangementKey]:
        """Returns some of these subsets (``keys``), so that each unit is omitted in at least one of them
        if possible. A subset is chosen if it omits a unit that no chosen subset before it omits."""
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


def _listed(arrangement: Arrangement) -> str:
    return shortened(", ".join(map(plain_id, arrangement.ids)), 100) or "no sources"


def _fewest_first(key: ArrangementKey) -> tuple[int, ArrangementKey]:
    return unit_count(key), key
