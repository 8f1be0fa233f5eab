"""Which miner searches, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .errors import InvalidInput, TooManySources
from .lattice import FAMILY_LIMIT, Lattice, Mask, told
from .mining import (
    CONFIDENCE_LIMIT,
    Confidence,
    Exhaustive,
    Grouped,
    Miner,
    Mono,
    RuleSearch,
    Sampled,
    Transversal,
    Verifying,
)
from .probing.limits import Limits
from .rules import RuleKind
from .settings import Settings
from .sources import MOST_SOURCES, SourceSet
from .verdicts import Verdict

EXACT_UP_TO = 7
"""Sources that ``auto`` mines exactly without a cap: at most 128 probes."""
AUTO_REPLAYS = 500
"""The cap ``auto`` sets above that, where the user set none."""
VOTED_REPLAYS = 2000
"""The cap on a sampled search whose verdicts vary, where the user set none."""
MOST_REPLAYS = (1 << FAMILY_LIMIT) + 2
"""More than an exact search ever needs: every subset, the baseline and the repeat check."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A miner that was chosen: its name, why, and the limits that come with it.

    ``share``: the confidence that its rules have at least; ``sampled``: how they are tested, where they
    are not mined exactly; ``samples``: answers to a subset at the most; ``pinned``: how many sources are
    retained with every subset; ``partitions``: what groups are to begin with; ``antecedent``: of the one
    rule to verify, where no others are looked for.
    """

    name: str
    reason: str
    limits: Limits
    share: float = 1.0
    samples: int = 1
    sampled: Sampled | None = None
    pinned: int = 0
    antecedent: Mask | None = None
    partitions: tuple[tuple[Mask, ...], ...] = ()

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """The miner of one kind of rule."""
        if self.antecedent is not None:
            return Verifying(kind, self.antecedent, self.sampled, settings.seed, self.pinned)
        if self.sampled is not None:
            return Transversal(kind, self.sampled, settings.seed, len(settings.kinds), self.pinned)
        if self.name == "grouped":
            return Grouped(kind, self.partitions, seed=settings.seed, kinds=len(settings.kinds))
        if self.name == "confidence":
            return Confidence(kind, self.share, settings.minimal)
        exhaustive = self.name == "exhaustive"
        return Exhaustive(kind, settings.minimal) if exhaustive else Mono(kind, settings.minimal)

    def dividing(self, sources: SourceSet, keys: Sequence[str]) -> "Choice":
        """The same, where groups are what these keys of the sources' metadata make of them to begin with.

        Raises InvalidInput for a key that no source has.
        """
        if not keys:
            return self
        partitions = tuple(map(sources.partition, keys))
        groups = ", ".join(f"{len(each)} by {key}" for each, key in zip(partitions, keys, strict=True))
        return replace(self, partitions=partitions, reason=f"{self.reason}; groups: {groups}")

    @property
    def sees_everything(self) -> bool:
        """Whether it looks at every subset that matters."""
        return self.name not in {"sampled", "grouped"}

    @property
    def finds_all(self) -> bool:
        """Whether its rules are all there are when it has ended."""
        return self.name != "grouped"

    def search(
        self,
        kind: RuleKind,
        lattice: Lattice,
        settings: Settings,
        known: Mapping[Mask, Verdict] | None = None,
    ) -> RuleSearch:
        """A search for the rules of one kind; ``known``: verdicts that are not asked for again."""
        # Who asks for everything at once has nothing left to guess.
        speculate = settings.speculate if self.name == "exact" else 0.0
        return RuleSearch(self.miner(kind, settings), lattice, known=known, speculate=speculate)

    def worst_case(self, sources: int) -> int:
        """Most replays it can come to, but for retries: every subset, the baseline, the repeat check."""
        cap = self.limits.replays
        return self.everything(sources) if cap is None else min(self.everything(sources), cap)

    def everything(self, sources: int) -> int:
        """What that is without a cap."""
        others = sources - (self.antecedent or 0).bit_count()
        subsets = 1 << others
        if self.antecedent is not None and self.sampled is not None:
            subsets = min(subsets, 1 + self.sampled.draws(self.sampled.error(0)))
        return subsets * self.samples + 2


def choose(settings: Settings, sources: int, pinned: int = 0, tied: int = 0) -> Choice:
    """The miner for so many sources, and so many pinned ones beside them; ``tied``: how many more there
    are, each of which is tied to another.

    Raises TooManySources where the one asked for cannot finish, or no explanation could be read back.
    """
    _check_read_back(sources + pinned + tied)
    limits, noise = settings.limits, settings.noise
    choice = Choice(
        "exact", _subsets(sources, tied), limits, noise.min_confidence, noise.samples, pinned=pinned
    )
    if noise.min_confidence < 1:
        return _with_a_share(choice, settings, sources)
    if settings.miner == "auto" and not settings.divides:
        return _automatic(choice, settings, sources)
    choice = replace(choice, reason=f"asked for; {choice.reason}")
    if settings.sampling is not None:
        return _sampled(choice, settings.sampling)
    if settings.divides:
        return _capped(replace(choice, name="grouped"))
    _check_finishes(sources)
    return replace(choice, name=str(settings.miner))


def choose_to_verify(settings: Settings, among: SourceSet, antecedent: Mask) -> Choice:
    """How one rule over these sources is tried: on all its subsets, or on random ones.

    Raises TooManySources where all were asked for and are too many, or no explanation could be read back,
    InvalidInput for a minimum confidence.
    """
    _check_read_back(len(among))
    limits, samples = settings.limits, settings.noise.samples
    if settings.noise.min_confidence < 1:
        raise InvalidInput(
            "verify stops at the first subset that breaks the rule, so there is no share of them to hold "
            "against noise.min_confidence; leave that out"
        )
    sources, pinned = among.lattice.size, len(among.pinned)
    others = sources - antecedent.bit_count()
    tried = f"the rule speaks about {_counted(1 << others)}"
    choice = Choice("verify", tried, limits, samples=samples, pinned=pinned, antecedent=antecedent)
    if settings.miner in {"exact", "exhaustive"}:
        if others > FAMILY_LIMIT:
            raise TooManySources(
                f"{tried}; all of them are tried up to {told(1 << FAMILY_LIMIT)}. Say miner='sampled', "
                "which tries random ones"
            )
        return replace(choice, reason=f"asked for; {tried}")
    sampled = settings.sampling or Sampled()
    drawn = sampled.draws(sampled.error(0))
    cap = AUTO_REPLAYS if limits.replays is None else limits.replays
    fits = settings.sampling is None and others <= FAMILY_LIMIT and choice.everything(sources) <= cap
    if fits or 1 << others <= drawn:
        return replace(choice, reason=f"{tried}, all of which are tried")
    return replace(choice, reason=f"{tried}, of which {drawn} are drawn at random", sampled=sampled)


def _automatic(choice: Choice, settings: Settings, sources: int) -> Choice:
    """Exact where that is cheap or fits in the user's own cap, else sampled."""
    if sources <= EXACT_UP_TO:
        return choice
    cap, reason = choice.limits.replays, choice.reason
    if cap is not None and sources <= FAMILY_LIMIT and choice.everything(sources) <= cap:
        return replace(choice, reason=f"{reason}, which limits.replays={cap} allows for")
    if cap is None:
        choice = replace(choice, limits=replace(choice.limits, replays=AUTO_REPLAYS))
        capped = f"capped at {AUTO_REPLAYS} replays"
    else:
        capped = f"capped at {cap} replays as limits.replays says"
    pace = f"{capped}, {settings.concurrency} at a time"
    if not settings.minimal:
        _check_finishes(sources)
        return replace(choice, reason=f"minimal=False; {reason}, {pace}; miner='exact' lifts the cap")
    exact = "; miner='exact' proves rules" if sources <= FAMILY_LIMIT else ""
    return _sampled(replace(choice, reason=f"{reason}, {pace}{exact}"), Sampled())


def _sampled(choice: Choice, sampled: Sampled) -> Choice:
    return _capped(replace(choice, name="sampled", sampled=sampled))


def _capped(choice: Choice) -> Choice:
    if choice.samples == 1 or choice.limits.replays is not None:
        return choice
    # One wrong verdict that is never noticed may make any number of candidates.
    reason = f"{choice.reason}, capped at {VOTED_REPLAYS} replays as verdicts may vary"
    return replace(choice, reason=reason, limits=replace(choice.limits, replays=VOTED_REPLAYS))


def _with_a_share(choice: Choice, settings: Settings, sources: int) -> Choice:
    if sources > CONFIDENCE_LIMIT:
        raise TooManySources(
            f"rules with a minimum confidence need a verdict on every subset, which is for at most "
            f"{CONFIDENCE_LIMIT} sources, and these are {sources}. Retrieve fewer (a smaller top-k), or "
            "leave min_confidence out"
        )
    reason = f"min_confidence={choice.share:g}; {choice.reason}"
    choice = replace(choice, name="confidence", reason=reason)
    if settings.miner != "auto":
        return replace(choice, reason=f"asked for; {reason}")
    if sources <= EXACT_UP_TO or choice.limits.replays is not None:
        return choice
    capped = f"{reason}, capped at {AUTO_REPLAYS} replays; miner='exact' lifts the cap"
    return replace(choice, reason=capped, limits=replace(choice.limits, replays=AUTO_REPLAYS))


def _check_read_back(sources: int) -> None:
    if sources > MOST_SOURCES:
        raise TooManySources(
            f"{sources:,} sources are more than the {MOST_SOURCES:,} of which an explanation "
            "can be read back; retrieve fewer (a smaller top-k)"
        )


def _check_finishes(sources: int) -> None:
    if sources > FAMILY_LIMIT:
        raise TooManySources(
            f"{sources} sources have {told(1 << sources)} subsets; an exact search takes at most "
            f"{FAMILY_LIMIT} sources. Say miner='sampled', which tests rules on random subsets, or "
            "miner='grouped', which divides groups of them; retrieve fewer (a smaller top-k), or pass "
            "just the ones you suspect"
        )


def _subsets(units: int, tied: int) -> str:
    sources = units + tied
    as_units = f", with near-duplicates tied {units}" if tied else ""
    return f"{sources} source{'s' * (sources != 1)}{as_units}, at most {told(1 << units)} probes"


def _counted(subsets: int) -> str:
    return f"{told(subsets)} subset{'s' * (subsets != 1)}"
