"""This module estimates how many subsets a search probes in the best, the typical and the worst case of
an estimate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...lattice import Lattice, Mask, bits
from ...probing.noise import Noise
from ...rules import RuleKind
from ...settings import Settings
from ...verdicts import Verdict
from ..plan import (
    ByBatches,
    ByBisection,
    ByGroups,
    BySamples,
    Exhaustively,
    MiningPlan,
    WithConfidence,
)

MOST_LOOKED_ON = 1 << 13
"""The maximum number of subsets for which ``_batched`` simulates the search. With more, this would take
too long, and the worst case is used for all cases."""


@dataclass(frozen=True, slots=True)
class Probes:
    """A ``Probes`` counts the probes of a search.

    ``subsets``: the number of probed subsets. ``shown``: the number of sources in them, summed over all
    these subsets. ``depth``: the number of probes that must run one after the other, because each
    depends on the one before. ``with_full``: True if the set of all sources is among the subsets; the
    baseline already gives its answer.

    ``border``: the number of subsets on which the first answer is not enough, so that further answers
    are drawn for a vote. All answers are assumed to agree. None if the largest number of answers is
    drawn for every subset.
    """

    subsets: int
    shown: float
    depth: int
    border: int | None = None
    with_full: bool = True

    def replays(self, noise: Noise) -> int:
        """Returns the number of replays for these probes. With votes, the number of replays is larger
        than the number of probes, because several answers are drawn for a subset. ``noise``: the settings
        of the votes."""
        agreeing = noise.count.soonest(0, 0)
        if self.border is None:
            return self.subsets * noise.samples
        return self.subsets + (self.subsets if noise.everywhere else self.border) * (agreeing - 1)


def foreseen(size: int, settings: Settings, plan: MiningPlan) -> tuple[Probes, Probes, Probes]:
    """Returns the probes of three cases: one source decides alone, two sources decide together, and the
    worst case. ``size``: the number of sources."""
    match plan.method:
        case ByBatches() as method:
            return _batched(size, settings, plan, method)
        case ByGroups() | ByBisection():
            one, two = (_simulated(deciding, size, settings, plan) for deciding in (1, 2))
        case BySamples(sampled, missed=missed):
            tested = sampled.draws(sampled.error(0, len(settings.kinds)), missed)
            one, two = (_tested(deciding, size, settings.kinds, tested) for deciding in (1, 2))
        case _:
            one, two = _best(size, settings.kinds), _typical(size, settings.kinds)
    return one, two, _worst(size)


def sees_all(plan: MiningPlan) -> bool:
    """Returns True iff the search probes every subset, whatever their verdicts are."""
    return isinstance(plan.method, (Exhaustively, WithConfidence))


def fewest(size: int, settings: Settings, plan: MiningPlan, *, pinned: bool) -> Probes:
    """Returns the fewest probes that a search can need if the condition holds of the baseline's answer. A
    search for retention rules must omit each source once. A search for omission rules needs only the
    empty set. ``pinned``: True if some sources are always retained, so that no probe is without sources.
    ``size``: the number of all other sources."""
    # If the user set the answer without sources, the empty set needs no replay.
    is_answered = settings.answer_without_sources is not None and not pinned
    if sees_all(plan):
        every = replace(_worst(size), border=1)
        return replace(every, subsets=every.subsets - is_answered)
    by_kind = [_fewest_of(kind, size, plan) for kind in settings.kinds]
    largest = max(by_kind, key=lambda probes: probes.subsets)
    # An exact search for retention rules needs at least 1 + ``size`` probes: all sources, and all sources
    # except each one. If omission rules are searched for too, they add the empty set. With a single
    # source they add nothing, because the empty set is already among these probes.
    beside = len(by_kind) > 1 and largest.subsets == 1 + size > 2
    subsets = max(0, largest.subsets + beside - _has_none(by_kind, size) * is_answered)
    return replace(largest, subsets=subsets, depth=min(largest.depth, subsets), border=min(1, subsets))


def _fewest_of(kind: RuleKind, size: int, plan: MiningPlan) -> Probes:
    method = plan.method
    if isinstance(method, ByBatches):
        held, roots = method.partition.held(kind), len(method.batches)
        if held == "omitted" and kind is RuleKind.RETENTION:
            return Probes(roots, size, 1, with_full=False)
        if kind is RuleKind.OMISSION:
            return Probes(roots if held == "retained" else 1, 0, 1, with_full=False)
    if kind is RuleKind.OMISSION:
        return Probes(1, 0, 1, with_full=False)
    single = size
    if isinstance(method, BySamples):
        # The same subset may be drawn several times, so fewer subsets are probed than drawn.
        single = min(size, method.sampled.draws(method.sampled.error(0), method.missed) // 2)
    if isinstance(method, ByGroups):
        single = min(size, 1)
    return Probes(1 + single, size + single * (size - 1), 2)


def _has_none(by_kind: Sequence[Probes], size: int) -> bool:
    """Returns True iff the subset without sources may be among the probes. ``by_kind``: for each kind of
    rule, the probes that its search needs. ``size``: the number of sources."""
    return size == 1 or any(not probes.with_full for probes in by_kind) or by_kind[0].subsets == 2


def _worst(size: int) -> Probes:
    return Probes(1 << size, (size << size) // 2, size + 1)


def _best(size: int, kinds: Sequence[RuleKind]) -> Probes:
    near_full, empty = (
        Probes(1 + size, size + size * (size - 1), 2, 1 + size),
        Probes(1, 0, 1, 1, with_full=False),
    )
    if len(kinds) > 1:
        subsets = min(near_full.subsets + 1, 1 << size)
        return Probes(subsets, near_full.shown, 2, subsets)
    return near_full if kinds[0] is RuleKind.RETENTION else empty


def _typical(size: int, kinds: Sequence[RuleKind]) -> Probes:
    if len(kinds) > 1 or size < 2:
        return _worst(size)
    rest = size - 2
    with_both = 1 << rest
    retained = Probes(with_both + 2, with_both * (2 + rest / 2) + 2 * (size - 1), rest + 2, 3)
    if kinds[0] is RuleKind.RETENTION:
        return retained
    everything = _worst(size)
    shown = everything.shown - with_both * (2 + rest / 2) + 2
    return Probes(everything.subsets - with_both + 1, shown, size, 3)


def _tested(deciding: int, size: int, kinds: Sequence[RuleKind], draws: int) -> Probes:
    """Returns the probes of a sampled search for these kinds of rule if ``deciding`` sources decide
    together. There is then one retention rule, which names all deciding sources, and one omission rule
    for each deciding source. ``draws``: the number of random subsets on which each rule is tested.
    ``size``: the number of sources."""
    together = min(deciding, size)
    rules = sum(1 if kind is RuleKind.RETENTION else together for kind in kinds)
    # The search finds each deciding source by halving, which takes about log2(``size``) probes, and one
    # more probe to test the candidate. Each kind of rule needs these probes. The 2 is for the first
    # probes of each kind, before the search knows any deciding source.
    sought = len(kinds) * (2 + together * (1 + size.bit_length()))
    subsets = min(1 << size, sought + rules * draws)
    border = min(subsets, rules + len(kinds) * (together * size.bit_length() // 2 + 1))
    return Probes(subsets, subsets * size / 2, min(subsets, sought + rules), border)


def _simulated(deciding: int, size: int, settings: Settings, plan: MiningPlan) -> Probes:
    """Returns the probes of a search if ``deciding`` sources decide together. The search is simulated,
    with the deciding sources evenly spread over all sources. ``size``: the number of sources."""
    lattice, together = Lattice(size), min(deciding, size)
    named = lattice.mask(size * (2 * place + 1) // (2 * together) for place in range(together))
    return _looked_on(lattice, named, settings, plan)


def _batched(
    size: int, settings: Settings, plan: MiningPlan, method: ByBatches
) -> tuple[Probes, Probes, Probes]:
    """Returns the probes of the best, typical and worst case if each batch of sources is searched
    separately. The sources that decide are assumed to be in one batch. ``method``: has the batches.
    ``size``: the number of sources."""
    lattice, subsets = Lattice(size), method.subsets(size)
    sizes = [batch.bit_count() for batch in method.batches]
    own = sum(count << count >> 1 for count in sizes)
    of_others = sum((size - count) << count for count in sizes) - size * (len(sizes) - 1)
    held_in = any(method.partition.held(kind) == "retained" for kind in settings.kinds)
    shown = method.ways * own + held_in * of_others
    everything = Probes(subsets, shown, 1 + max(sizes), with_full=held_in)
    if subsets > MOST_LOOKED_ON:
        return everything, everything, everything
    one, *more = bits(max(method.batches, key=int.bit_count))
    best, typical = (_looked_on(lattice, named, settings, plan) for named in (one, one | sum(more[-1:])))
    return best, typical, everything


def _looked_on(lattice: Lattice, named: Mask, settings: Settings, plan: MiningPlan) -> Probes:
    """Returns the number of probes of a simulated search for all kinds of rule, if the sources in the
    mask ``named`` (one bit for each source) decide together."""
    probed, rounds = set[Mask](), 0
    for kind in settings.kinds:
        search = plan.search(kind, lattice, settings)
        retention, depth = kind is RuleKind.RETENTION, 0
        while asks := search.ask():
            depth += 1
            search.tell({ask.key: Verdict.of((ask.key & named == named) is retention) for ask in asks})
        probed.update(search.verdicts)
        rounds = max(rounds, depth)
    shown = sum(mask.bit_count() for mask in probed)
    return Probes(len(probed), shown, rounds, len(probed), lattice.full in probed)
