"""This module repeats some replays after the searches, to check that the application still gives the
same answers."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

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

FAILED_REWOUND = (
    "fidelity not checked: later runs find {places}, and the replay on {sources}, made once more from "
    "the state before the first run, failed ({error}). So its earlier answer may rest on what that run "
    "left. Pass a function that makes the application anew for every run, to see what it answers then; "
    "where the failure is one of the moment, explain again"
)


class _Repeated(NamedTuple):
    """A ``_Repeated`` says how a replay was repeated. ``limit``: the limit that is reached, so that no
    more replays can be made; ``error``: why the replay has no answer, or none with a verdict. Both may be
    empty."""

    limit: str = ""
    error: str = ""


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
        """Repeats the replays. If an answer differs from the earlier answer, or gets another verdict,
        this is stored in ``fidelity.doubt`` as a warning for the user. Raises StateShared if the requests
        to models differ from those of the earlier replays."""
        if not fidelity.is_comparable:
            return
        if not self.replayer.budget.samples:
            return
        if fidelity.doubt:
            if self.replayer.stopper.reason:
                return
            # The replays are in doubt already, so only one of them is repeated: the replay on all
            # sources. It is compared with the baseline, the earliest run of all. So it shows best whether
            # the application behaves differently after many runs, for example because the application
            # counts them.
            await self._replay(self.sources.full, fidelity)
            return
        keys = self._subsets(fidelity).to_repeat()
        for made, key in enumerate(keys):
            if fidelity.doubt:
                return
            if why := (await self._replay(key, fidelity)).limit:
                await self._compare_rewound(fidelity, why, len(keys) - made)
                if not (self.is_start_known or fidelity.doubt) and fidelity.has_changed():
                    fidelity.doubt = NOT_REPEATED.format(
                        made=made, count=len(keys), why=why, way_out=_more(len(keys) - made)
                    )
                return
        await self._compare_rewound(fidelity)

    async def _compare_rewound(self, fidelity: ReplayFidelity, why: str = "", lacking: int = 0) -> None:
        """Repeats replays from the state before the baseline. If a proof depends on one of these replays
        and this replay cannot be made, ``fidelity.doubt`` then says so. ``why``: the reason why no more
        replays can be made; empty if more can be made. ``lacking``: the number of other replays that
        could not be made."""
        keys = self._subsets(fidelity).to_rewind()
        for made, key in enumerate(keys):
            if not why:
                repeated = _Repeated()
                with fidelity.rewound():  # the block ends early, with a doubt, if a replay differs
                    repeated = await self._replay(key, fidelity)
                why = repeated.limit
                self._note_failure(key, repeated.error, fidelity)
            if fidelity.doubt:
                return
            if why:
                fidelity.doubt = NOT_REWOUND.format(
                    places=self._places(fidelity),
                    made=made,
                    count=len(keys),
                    why=why,
                    way_out=_more(len(keys) - made + lacking),
                )
                return

    def _note_failure(self, key: ArrangementKey, error: str, fidelity: ReplayFidelity) -> None:
        """Doubts the rules if a replay from the state before the baseline ended with an error, and rules
        may rest on its subset. ``error``: that error; empty if there is none."""
        if error and not fidelity.doubt and self._is_judged(key):
            sources = _listed(Arrangement.of(self.sources, key))
            fidelity.doubt = FAILED_REWOUND.format(
                places=self._places(fidelity), sources=sources, error=error
            )

    @staticmethod
    def _places(fidelity: ReplayFidelity) -> str:
        return fidelity.dependent_places or "what earlier runs have changed"

    def _is_judged(self, key: ArrangementKey) -> bool:
        """Returns True iff a search has a verdict on this subset, which rules may rest on."""
        known = (each.search.verdicts.get(key, Verdict.UNKNOWN) for each in self.tracked_searches)
        return any(each is not Verdict.UNKNOWN for each in known)

    async def _replay(self, key: ArrangementKey, fidelity: ReplayFidelity) -> _Repeated:
        """Replays a subset once more. During the replay, ``fidelity`` compares it with the earlier one,
        and sets its ``doubt`` (a warning for the user) if they differ."""
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
            return _Repeated(limit=str(limit))
        if reply.cause is not None:
            self.notes.append(f"{NOT_COMPARED_AGAIN}: {reply.error}")
        why = reply.error if reply.answer is None else self._not_judged(key, arrangement, reply.answer)
        return _Repeated(error=shortened(why, 200))

    def _not_judged(self, key: ArrangementKey, arrangement: Arrangement, answer: Answer) -> str:
        """Returns why this answer gets no verdict, although a search has one on the same sources, as
        where the replay was ended at a tool call; empty if there is no such search."""
        case = self.prober.case(arrangement, answer)
        for tracked in self.tracked_searches:
            judgement = tracked.judging.known(case)
            was = tracked.search.verdicts.get(key, Verdict.UNKNOWN)
            if judgement is not None and judgement.verdict is Verdict.UNKNOWN is not was:
                return judgement.reason or "no verdict"
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
