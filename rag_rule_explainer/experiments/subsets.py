"""This module replays subsets of one question's sources through ``Explainer``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..explanation.records import ProbeRecord
from ..lattice import Lattice, Mask
from ..predicates import Judge, consistent_with
from ..probing.limiter import Limiter
from ..probing.loop import run_blocking
from ..probing.replaying import Baseline
from ..rules import RuleKind
from ..settings import Rules, Settings
from ..sources import Source
from ..testing.reader import NO_ANSWER
from ..verdicts import Answer, Judgement, Verdict
from .examples import Example
from .models import Examined
from .running import several_at_once
from .walking import WalkedVerdicts


@dataclass(frozen=True, slots=True)
class Answered:
    """An ``Answered`` holds the probes of one question.

    ``probes``: the probe of each subset of ``sources``, by the mask of the subset; the first source is
    the highest bit. ``incomplete``: the reason why requested probes are missing; empty if none are
    missing. ``calls``: the number of calls of the model. ``stored``: the number of answers from the
    store.
    """

    sources: tuple[Source, ...]
    probes: Mapping[Mask, ProbeRecord]
    incomplete: str
    calls: int
    stored: int
    judge_requests: int

    @property
    def is_answered(self) -> bool:
        """Returns True iff the model gave at least one answer."""
        return any(probe.kept and probe.answers for probe in self.probes.values())

    def verdict(self, mask: Mask, size: int) -> Verdict | None:
        """Returns the verdict for ``mask``, a subset of the first ``size`` sources: HOLDS if the answer
        is consistent with the truth. Returns None if the subset was not replayed."""
        probe = self._probe(mask, size)
        return None if probe is None else judgement_in(probe).verdict

    def verdicts(self, size: int) -> WalkedVerdicts:
        """Returns the verdicts for all subsets of the first ``size`` sources, for both kinds of rule."""
        found = tuple([self.verdict(mask, size) for mask in Lattice(size).masks()])
        return WalkedVerdicts(found, tuple([None if verdict is None else ~verdict for verdict in found]))

    def judged(self) -> Iterator[tuple[Answer, Judgement]]:
        """Yields every answer with the judgement on whether it is consistent with the truth."""
        for probe in self.probes.values():
            yield from ((answer, judgement_in(probe)) for answer in probe.answers)

    def seconds(self, masks: Iterable[Mask], size: int) -> float:
        """Returns the total seconds of the calls for ``masks``, which are subsets of the first ``size``
        sources. A mask that occurs twice counts twice."""
        probes = (self._probe(mask, size) for mask in masks)
        return sum((probe.latency or 0.0) for probe in probes if probe is not None)

    def _probe(self, mask: Mask, size: int) -> ProbeRecord | None:
        return self.probes.get(mask << (len(self.sources) - size))


@dataclass(frozen=True, slots=True)
class SubsetAsking:
    """A ``SubsetAsking`` replays subsets of a question's sources with one model.

    The condition of retention rules is that the answer is consistent with the truth: it matches the truth
    nearly exactly or, if not, the ``judge`` accepts it. The condition of omission rules is the opposite.

    ``without_sources``: the answer without sources; None to call the model for it. ``settings``: as for
    any explanation, but the kinds of rule and the miner are replaced for each question.
    """

    model: Examined
    settings: Settings
    limiter: Limiter
    judge: Judge | None = None
    without_sources: str | None = NO_ANSWER

    def everything(self, example: Example, sources: tuple[Source, ...]) -> Answered:
        """Returns the probes of all subsets of ``sources``. If the search was stopped, some are missing,
        and ``Answered.incomplete`` says why. Raises the errors of ``Explainer.explain``."""
        # The verdicts for omission rules are the opposite ones, so searching for retention rules alone is
        # enough.
        explanation = self._explained(example, sources, "exhaustive", "retention")
        return _merged(sources, [explanation])

    def needed(
        self, example: Example, sources: tuple[Source, ...], sizes: Iterable[int], rules: Rules
    ) -> Answered:
        """Returns the probes that exact miners need to find all rules of the wanted kinds. ``rules``:
        these kinds. ``sizes``: for each of these numbers, one search is made over this number of
        sources, counted from the first. The largest number comes first. If its search cannot be
        completed, no search over fewer sources is made."""
        explanations = list[Explanation]()
        for size in sorted(sizes, reverse=True):
            explanations.append(self._explained(example, sources[:size], "exact", rules))
            if not explanations[-1].complete:
                break
        return _merged(sources, explanations)

    def some(self, example: Example, sources: tuple[Source, ...], masks: Iterable[Mask]) -> Answered:
        """Returns the probes of the subsets ``masks`` and of no others. After Ctrl-C, raises
        KeyboardInterrupt as soon as the running calls have ended."""
        stopped, lattice, found = list[bool](), Lattice(len(sources)), dict[Mask, Explanation]()

        explainer = self.explainer(example, self.settings)

        async def verify(mask: Mask) -> None:
            shown = [sources[unit] for unit in lattice.units(mask)]
            found[mask] = await verified(explainer, example, shown, sources)

        async def verify_all() -> None:
            await several_at_once(masks, verify, self.limiter.size, lambda: stopped)

        run_blocking(verify_all, lambda: stopped.append(True))
        if stopped:
            raise KeyboardInterrupt
        explanations = list(found.values())
        probes = [probe for each in explanations for probe in each.probes]
        missing = (each.error or "it has no answer" for each in probes if not each.answers)
        why = next(missing, "" if len(probes) == len(found) else "a subset has no answer")
        return replace(_merged(sources, explanations), incomplete=why)

    def _explained(
        self,
        example: Example,
        sources: tuple[Source, ...],
        miner: Literal["exact", "exhaustive"],
        rules: Rules,
    ) -> Explanation:
        explainer = self.explainer(example, replace(self.settings, miner=miner, rules=rules))
        # The condition compares answers with the truth, so the truth serves as the baseline, and no first
        # run is needed.
        return explainer.explain(example.question, sources, Baseline(Answer(example.answer)))

    def explainer(self, example: Example, settings: Settings) -> Explainer:
        """Returns an explainer of the model's answers to ``example``. Its condition is that the answer
        is consistent with the truth."""
        return Explainer(
            self.model.replay,
            predicate=consistent_with(example.answer, judge=self.judge),
            settings=settings.accepting(length=True),
            limiter=self.limiter,
            check_repeatable=False,
            answer_without_sources=self.without_sources,
        )


def judgement_in(probe: ProbeRecord) -> Judgement:
    """Returns the judgement on whether the probe's answer is consistent with the truth."""
    retention = probe.verdicts.get(RuleKind.RETENTION)
    # The condition of omission rules is the opposite, so its judgement is inverted.
    return ~probe.verdicts[RuleKind.OMISSION] if retention is None else retention


async def verified(
    explainer: Explainer, example: Example, shown: Sequence[Source], sources: Sequence[Source]
) -> Explanation:
    """Returns an explanation with one probe: the answer from the sources ``shown``. It comes from
    verifying a rule that applies to this subset only. ``sources``: all sources of the question, which
    are needed if ``shown`` is empty."""
    # Each of these rules applies to a single subset: all shown sources retained or, if none is shown, all
    # sources omitted. So verifying the rule replays only this subset.
    found = await explainer.averify(
        [source.id for source in shown or sources],
        RuleKind.RETENTION if shown else RuleKind.OMISSION,
        example.question,
        shown or sources,
        Baseline(Answer(example.answer)),
    )
    return found.explanation


def by_mask(sources: Sequence[Source], probes: Iterable[ProbeRecord]) -> dict[Mask, ProbeRecord]:
    """Returns the first probe of each subset, by mask. In a mask, the first of ``sources`` is the highest
    bit."""
    lattice, found = Lattice(len(sources)), dict[Mask, ProbeRecord]()
    bits = {source.id: lattice.bit(place) for place, source in enumerate(sources)}
    for probe in probes:
        found.setdefault(sum(bits[each] for each in probe.kept), probe)
    return found


def _merged(sources: tuple[Source, ...], explanations: list[Explanation]) -> Answered:
    return Answered(
        sources,
        by_mask(sources, (probe for each in explanations for probe in each.probes)),
        next((_why(each) for each in explanations if not each.complete), ""),
        sum(each.counts.replays for each in explanations),
        sum(each.counts.stored for each in explanations),
        sum(each.counts.judge_requests for each in explanations),
    )


def _why(explanation: Explanation) -> str:
    if explanation.stop_reason:
        return explanation.stop_reason
    missing = explanation.unresolved
    first = f", such as: {missing[0].reason}" if missing else ""
    return f"{len(missing)} subsets have no verdict{first}"
