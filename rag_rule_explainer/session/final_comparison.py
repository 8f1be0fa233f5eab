"""This module repeats some replays after the searches, to check that the application still gives the
same answers."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..errors import StoreFailed
from ..lattice import ArrangementKey
from ..printable import plain_id, shortened
from ..probing.limits import LimitReached
from ..probing.prober import Prober
from ..probing.replayer import Replayer
from ..probing.replaying import ReplayFidelity
from ..sources import Arrangement, SourceSet
from ..verdicts import Answer, Verdict
from .subsets_to_repeat import SubsetsToRepeat
from .tracked_search import TrackedSearch

NOT_COMPARED_AGAIN = "the application was not run once more at the end, to see that it is still the same"

JUDGED_OTHERWISE = (
    "fidelity not checked: run again on {sources} after the search, the application was judged otherwise "
    "({came!r} instead of {was}). Its model answers by chance, or remembers what it was asked before. "
    "noise=9 lets votes decide; a model that remembers needs a session of its own in every run"
)

NOT_REWOUND = (
    "fidelity not checked: later runs find {places}, and only {made} of {count} replays were made once "
    "more from the state before the first run ({why}), so the others may rest on what that run left. "
    "{way_out}"
)

NOT_REPEATED = (
    "fidelity not checked: what the application keeps from run to run has changed, and only {made} of "
    "{count} replays were made once more to see whether runs go by it ({why}). {way_out}"
)


@dataclass(frozen=True, slots=True)
class FinalComparison:
    """A ``FinalComparison`` repeats replays after all searches, and compares their answers with the
    earlier ones.

    An application may keep state that influences its answers only after several runs, so at least one
    replay is repeated. If state has changed since before the baseline, some replays are also repeated
    with the earlier state restored. Only these repetitions can show that the change of state influences
    answers, because all earlier replays ran after the change.

    ``is_start_known``: True if the state before the baseline is known.
    """

    sources: SourceSet
    prober: Prober
    tracked_searches: Sequence[TrackedSearch]
    notes: list[str]
    is_start_known: bool = False

    @property
    def replayer(self) -> Replayer:
        """Returns the object that runs the application."""
        return self.prober.sampler.replayer

    def _subsets(self, fidelity: ReplayFidelity) -> SubsetsToRepeat:
        return SubsetsToRepeat(self.sources, self.tracked_searches, fidelity)

    async def run(self, fidelity: ReplayFidelity) -> None:
        """Repeats the replays. If an answer differs from the earlier one, or is judged otherwise,
        ``fidelity.doubt`` then says so, as a warning for the user. Raises StateShared if the requests to
        models differ from those of the earlier replays."""
        if not fidelity.is_comparable:
            return
        if not self.replayer.budget.samples:
            return
        if fidelity.doubt:
            if self.replayer.stopper.reason:
                return
            # The replays are in doubt already, so only one of them is repeated. The one on all sources is
            # compared with the baseline, the earliest run of all. So it shows best whether the
            # application behaves differently after many runs, for example because it counts them.
            await self._replay(self.sources.full, fidelity)
            return
        keys = self._subsets(fidelity).to_repeat()
        for made, key in enumerate(keys):
            if fidelity.doubt:
                return
            if why := await self._replay(key, fidelity):
                await self._compare_rewound(fidelity, why, len(keys) - made)
                if not (self.is_start_known or fidelity.doubt) and fidelity.has_changed():
                    fidelity.doubt = NOT_REPEATED.format(
                        made=made, count=len(keys), why=why, way_out=_more(len(keys) - made)
                    )
                return
        await self._compare_rewound(fidelity)

    async def _compare_rewound(self, fidelity: ReplayFidelity, why: str = "", lacking: int = 0) -> None:
        """Repeats earlier replays after setting the application's state back to that from before the
        baseline. If a repetition differs from the earlier replay, or if not all repetitions can be made,
        sets ``fidelity.doubt`` (a warning for the user).

        ``why``: the reason why no more replays can be made; empty if they can be made. ``lacking``: the
        number of repetitions that the caller wanted, without setting the state back, and could not make;
        the warning adds them to the number of missing replays.
        """
        keys = self._subsets(fidelity).to_rewind()
        for made, key in enumerate(keys):
            if not why:
                with fidelity.rewound():
                    why = await self._replay(key, fidelity)
            if fidelity.doubt:
                return
            if why:
                fidelity.doubt = NOT_REWOUND.format(
                    places=fidelity.dependent_places or "what earlier runs have changed",
                    made=made,
                    count=len(keys),
                    why=why,
                    way_out=_more(len(keys) - made + lacking),
                )
                return

    async def _replay(self, key: ArrangementKey, fidelity: ReplayFidelity) -> str:
        """Replays a subset once more. During the replay, ``fidelity`` compares it with the earlier one,
        and sets its ``doubt`` (a warning for the user) if they differ. Returns why no more replays can be
        made: the limit that is reached; empty if they can."""
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
            return str(limit)
        if reply.cause is not None:
            self.notes.append(f"{NOT_COMPARED_AGAIN}: {reply.error}")
        return ""

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
                # All rules have been found, so if the store fails, only this comparison is lost.
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


def _more(count: int) -> str:
    return f"Raise the limit: about {count} more replays let all of them be made"


def _listed(arrangement: Arrangement) -> str:
    return shortened(", ".join(map(plain_id, arrangement.ids)), 100) or "no sources"
