"""This module chooses the method by which rules are mined, and states the reason for the choice."""

from collections.abc import Sequence
from dataclasses import replace

from ..errors import InvalidInput, TooManySources
from ..lattice import FAMILY_LIMIT, Mask, subset_count
from ..mining import CONFIDENCE_LIMIT, QUICK_SAMPLING, Partition, Sampled
from ..probing.noise import Noise
from ..settings import Settings
from ..sources import MOST_SOURCES, SourceSet
from .plan import (
    ByBatches,
    ByBisection,
    ByGroups,
    BySamples,
    Exactly,
    Exhaustively,
    MiningPlan,
    OneRule,
    WithConfidence,
)

EXACT_UP_TO = 7
"""The largest number of sources for which ``miner="auto"`` uses an exact search without a cap on replays.
That takes at most 128 probes."""
AUTO_REPLAYS = 500
"""The cap on replays that ``miner="auto"`` sets for more than ``EXACT_UP_TO`` sources, if the user has
set none."""
QUICK_EXACT_UP_TO = 6
"""The largest number of sources for which ``miner="quick"`` searches exactly, with at most 64 probes."""
QUICK_REPLAYS = 120
"""The maximum number of replays of ``miner="quick"`` if the user sets no limit."""
VOTED_REPLAYS = 2000
"""The cap on replays if verdicts are voted on and the search is not exact over all sources. This cap
applies if the user has set no other."""
MOST_REPLAYS = (1 << FAMILY_LIMIT) + 2
"""The largest number of replays that any exact search may need: one for every subset, one for the
baseline, and one for the repeat check (one more replay on all sources)."""


def choose(settings: Settings, among: SourceSet) -> MiningPlan:
    """Returns the plan for mining rules over these sources.

    Raises TooManySources if there are too many sources for the method, or more than ``MOST_SOURCES``,
    which no saved explanation may have. Raises InvalidInput for a metadata key that no source has.
    """
    _check_read_back(among)
    noise, sources = settings.noise, among.lattice.size
    plan = MiningPlan(Exactly(), _subsets(among), settings.limits, noise.samples)
    if noise.min_confidence < 1:
        return _with_a_share(plan, settings, sources)
    if settings.batching is not None:
        return _batched(plan, settings, settings.batching, among)
    if settings.is_automatic and not settings.divides:
        return _automatic(plan, settings, among)
    plan = replace(plan, reason=f"asked for; {plan.reason}")
    if settings.sampling is not None:
        return _sampled(plan, settings.sampling, among, noise)
    if settings.divides:
        return _divided(plan, among, settings.granularity)
    _check_finishes(sources)
    return replace(plan, method=Exhaustively()) if settings.miner == "exhaustive" else plan


def choose_to_verify(settings: Settings, among: SourceSet, antecedent: Mask) -> MiningPlan:
    """Returns the plan to test one rule. The rule is tested on all subsets to which it applies, or on a
    random selection of them. ``antecedent``: the sources of the rule.

    Raises TooManySources if the settings require all subsets and these are too many, or if there are more
    than ``MOST_SOURCES``, which no saved explanation may have. Raises InvalidInput if the settings have a
    minimum confidence.
    """
    _check_read_back(among)
    limits, samples = settings.limits, settings.noise.samples
    if settings.noise.min_confidence < 1:
        raise InvalidInput(
            "verify stops at the first subset that breaks the rule, so there is no share of them to hold "
            "against noise.min_confidence; leave that out"
        )
    sources, pinned = among.lattice.size, len(among.pinned)
    others = sources - antecedent.bit_count()
    tried = f"the rule speaks about {_counted(1 << others)}"
    plan = MiningPlan(OneRule(antecedent, pinned=pinned), tried, limits, samples)
    if settings.miner in {"exact", "exhaustive"}:
        if others > FAMILY_LIMIT:
            raise TooManySources(
                f"{tried}; all of them are tried up to {subset_count(1 << FAMILY_LIMIT)}. Say "
                "miner='sampled', which tries random ones"
            )
        return replace(plan, reason=f"asked for; {tried}")
    sampled = settings.sampling or Sampled()
    method = OneRule(antecedent, sampled, pinned, settings.noise.missed)
    drawn = method.drawn
    cap = AUTO_REPLAYS if limits.replays is None else limits.replays
    may_see_all = settings.sampling is None or settings.is_automatic
    fits = may_see_all and others <= FAMILY_LIMIT and plan.everything(sources) <= cap
    if fits or 1 << others <= drawn:
        return replace(plan, reason=f"{tried}, all of which are tried")
    return replace(plan, reason=f"{tried}, of which {drawn} are drawn at random", method=method)


def _automatic(plan: MiningPlan, settings: Settings, among: SourceSet) -> MiningPlan:
    """Returns an exact plan if there are few sources or the user's cap on replays allows it, else a plan
    that tests rules on random subsets."""
    sources, quick = among.lattice.size, settings.miner == "quick"
    if sources <= (QUICK_EXACT_UP_TO if quick else EXACT_UP_TO):
        return plan
    cap, reason, own = plan.limits.replays, plan.reason, QUICK_REPLAYS if quick else AUTO_REPLAYS
    if cap is not None and sources <= FAMILY_LIMIT and plan.everything(sources) <= cap:
        return replace(plan, reason=f"{reason}, which limits.replays={cap} allows for")
    if cap is None:
        plan = replace(plan, limits=replace(plan.limits, replays=own))
        capped = f"capped at {own} replays"
    else:
        capped = f"capped at {cap} replays as limits.replays says"
    pace = f"{capped}, {settings.concurrency} at a time"
    if not settings.minimal:
        _check_finishes(sources)
        return replace(plan, reason=f"minimal=False; {reason}, {pace}; miner='exact' lifts the cap")
    exact = "; miner='exact' proves rules" if sources <= FAMILY_LIMIT else ""
    if quick:
        stronger = "; miner='sampled' tests rules on 59 random subsets"
        return _quick(replace(plan, reason=f"{reason}, {pace}{stronger}{exact}"), among, settings.noise)
    sampled = replace(plan, reason=f"{reason}, {pace}{exact}")
    return _sampled(sampled, settings.sampling or Sampled(), among, settings.noise)


def _divided(plan: MiningPlan, among: SourceSet, keys: Sequence[str]) -> MiningPlan:
    """Returns a plan that first mines rules about groups of sources. ``keys``: the metadata keys by whose
    values the sources are grouped."""
    partitions = tuple(map(among.partition, keys))
    groups = ", ".join(f"{len(each)} by {key}" for each, key in zip(partitions, keys, strict=True))
    reason = f"{plan.reason}; groups: {groups}" if groups else plan.reason
    return _capped(replace(plan, method=ByGroups(partitions), reason=reason))


def _batched(plan: MiningPlan, settings: Settings, partition: Partition, among: SourceSet) -> MiningPlan:
    """Returns a plan that mines each batch of the sources exactly and separately. ``partition``: how the
    sources are divided into batches."""
    batches = among.batches(partition.by)
    largest = max(batch.bit_count() for batch in batches)
    by = f" by {partition.by}" if isinstance(partition.by, str) else ""
    if largest > FAMILY_LIMIT:
        raise TooManySources(
            f"a batch{by} has {largest} sources, and each is mined exactly, which takes at most "
            f"{FAMILY_LIMIT} of them; give partition= a number of sources"
        )
    if len(batches) == 1:
        return replace(plan, reason=f"asked for; all sources are one batch{by}; {plan.reason}")
    held = {kind: partition.held(kind) for kind in settings.kinds}
    ways = " and ".join(
        f"{'left out' if others == 'omitted' else others} for {kind.value} rules"
        for kind, others in held.items()
    )
    method = ByBatches(partition, batches, len(set(held.values())))
    reason = (
        f"asked for; {_sources(among)} in {len(batches)} batches{by} of at most {largest}, the others "
        f"{ways}: at most {subset_count(method.subsets(among.lattice.size))} probes"
    )
    return _capped(replace(plan, method=method, reason=reason))


def _sampled(plan: MiningPlan, sampled: Sampled, among: SourceSet, noise: Noise) -> MiningPlan:
    return _capped(replace(plan, method=BySamples(sampled, len(among.pinned), noise.missed)))


def _quick(plan: MiningPlan, among: SourceSet, noise: Noise) -> MiningPlan:
    method = ByBisection(QUICK_SAMPLING, len(among.pinned), noise.missed)
    return _capped(replace(plan, method=method))


def _capped(plan: MiningPlan) -> MiningPlan:
    if plan.samples == 1 or plan.limits.replays is not None:
        return plan
    # With votes, a verdict may be wrong. One wrong verdict may lead to any number of further candidates,
    # so such a search gets a cap on replays.
    reason = f"{plan.reason}, capped at {VOTED_REPLAYS} replays as verdicts may vary"
    return replace(plan, reason=reason, limits=replace(plan.limits, replays=VOTED_REPLAYS))


def _with_a_share(plan: MiningPlan, settings: Settings, sources: int) -> MiningPlan:
    if sources > CONFIDENCE_LIMIT:
        raise TooManySources(
            f"rules with a minimum confidence need a verdict on every subset, which is for at most "
            f"{CONFIDENCE_LIMIT} sources, and these are {sources}. Retrieve fewer (a smaller top-k), or "
            "leave min_confidence out"
        )
    share = settings.noise.min_confidence
    reason = f"min_confidence={share:g}; {plan.reason}"
    plan = replace(plan, method=WithConfidence(share), reason=reason)
    if not settings.is_automatic:
        return replace(plan, reason=f"asked for; {reason}")
    if sources <= EXACT_UP_TO or plan.limits.replays is not None:
        return plan
    capped = f"{reason}, capped at {AUTO_REPLAYS} replays; miner='exact' lifts the cap"
    return replace(plan, reason=capped, limits=replace(plan.limits, replays=AUTO_REPLAYS))


def _check_read_back(among: SourceSet) -> None:
    if len(among) > MOST_SOURCES:
        raise TooManySources(
            f"{len(among):,} sources are more than the {MOST_SOURCES:,} of which an explanation "
            "can be read back; retrieve fewer (a smaller top-k)"
        )


def _check_finishes(sources: int) -> None:
    if sources > FAMILY_LIMIT:
        raise TooManySources(
            f"{sources} sources have {subset_count(1 << sources)} subsets; an exact search takes at most "
            f"{FAMILY_LIMIT} sources. Say miner='sampled', which tests rules on random subsets, or "
            "miner='grouped', which divides groups of them; retrieve fewer (a smaller top-k), or pass "
            "just the ones you suspect"
        )


def _subsets(among: SourceSet) -> str:
    return f"{_sources(among)}, at most {subset_count(1 << among.lattice.size)} probes"


def _sources(among: SourceSet) -> str:
    units, sources = among.lattice.size, len(among) - len(among.pinned)
    as_units = f", with near-duplicates tied {units}" if units < sources else ""
    return f"{sources} source{'s' * (sources != 1)}{as_units}"


def _counted(subsets: int) -> str:
    return f"{subset_count(subsets)} subset{'s' * (subsets != 1)}"
