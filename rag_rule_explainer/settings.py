"""How to mine: everything about an explanation that is neither a live object nor the question."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, cast, get_args

from typing_extensions import TypedDict, Unpack

from .errors import InvalidInput, TooManySources
from .lattice import FAMILY_LIMIT, Lattice, Mask
from .mining import CONFIDENCE_LIMIT, Confidence, Exhaustive, Miner, Mono, RuleSearch
from .probing.limits import Limits
from .probing.noise import Noise
from .probing.prices import Prices, checked_prices
from .probing.retries import Retries
from .rules import RuleKind
from .storing.store import Store
from .verdicts import Verdict

Rules: TypeAlias = Literal["retention", "omission", "both"]
MinerName: TypeAlias = Literal["auto", "exact", "exhaustive"]

EXACT_UP_TO = 7
"""Sources that ``auto`` mines exactly without a cap: at most 128 probes."""
DEFAULT_TIMEOUT = 300.0
"""Seconds that a replay may take."""
AUTO_REPLAYS = 500
"""The cap ``auto`` sets above that, where the user set none."""
MOST_REPLAYS = (1 << FAMILY_LIMIT) + 2
"""More than an exact search ever needs: every subset, the baseline and the repeat check."""


class SettingsFields(TypedDict, total=False):
    """The fields of Settings as keywords."""

    rules: Rules
    miner: MinerName
    minimal: bool
    noise: Noise
    limits: Limits
    prices: Prices | None
    concurrency: int
    timeout: float | None
    retries: Retries | int
    speculate: float
    lockstep: bool
    seed: int
    check_repeatable: bool
    reuse_answers: bool
    answer_without_sources: str | None
    store: Store | None


@dataclass(frozen=True, slots=True)
class Settings:
    """Frozen and picklable.

    ``rules``: "retention", "omission" or "both". ``miner``: "exact" (the paper's Mono or Dual),
    "exhaustive" (all 2^n) or "auto". ``minimal=False`` reports all valid rules, not just the minimal
    ones. ``noise``: votes and confidence, where answers vary. ``limits``: caps on spending. ``prices``:
    of tokens, by model. ``concurrency``: most replays in flight. ``timeout``: seconds one replay may
    take, or None. ``retries``: of replays that fail in a way that may pass, and of a baseline that is
    not the user's own run, as a number or as ``Retries``. ``speculate``: the share of its probes that a
    search may waste on guesses made for idle slots, e.g. 0.1; 0 probes nothing that is not needed. Once
    so much is known to be wasted nothing more is guessed, but of what was guessed by then more may turn
    out to be. ``lockstep``: probes go out and are told in rounds, so that which ones are made depends
    on nothing but verdicts. ``seed``: of whatever is drawn. ``check_repeatable``: replay the full set
    once more before mining.
    ``reuse_answers=False``: an arrangement wanted by both kinds is replayed for each (less memory), but
    where samples are put to the vote, which both kinds share.
    ``answer_without_sources``: the answer to the empty set, instead of asking the application, e.g.
    "N/A".

    ``store``: where every paid answer and judgement is kept, and looked for before anything is paid.

    Raises InvalidInput for a value outside of these.
    """

    rules: Rules = "both"
    miner: MinerName = "auto"
    minimal: bool = True
    noise: Noise = field(default_factory=Noise)
    limits: Limits = field(default_factory=Limits)
    prices: Prices | None = None
    concurrency: int = 8
    timeout: float | None = DEFAULT_TIMEOUT
    retries: Retries | int = field(default_factory=Retries)
    speculate: float = 0.0
    lockstep: bool = False
    seed: int = 0
    check_repeatable: bool = True
    reuse_answers: bool = True
    answer_without_sources: str | None = None
    store: Store | None = None

    def __post_init__(self) -> None:
        _one_of("rules", self.rules, get_args(Rules))
        _one_of("miner", self.miner, get_args(MinerName))
        if type(self.concurrency) is not int or self.concurrency < 1:
            raise InvalidInput(f"concurrency is {self.concurrency!r}; give a whole number, at least 1")
        if not isinstance(self.limits, Limits):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"limits is {self.limits!r}; give Limits(replays=...)")
        if not isinstance(self.noise, Noise):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"noise is {self.noise!r}; give Noise(samples=...)")
        if not isinstance(self.store, (Store, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"store is {self.store!r}; give Store(url, namespace)")
        if not isinstance(self.answer_without_sources, (str, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(
                f"answer_without_sources is {self.answer_without_sources!r}; give a str, or None"
            )
        for name in ("minimal", "lockstep", "check_repeatable", "reuse_answers"):
            # A string such as "no" would be taken for a yes.
            if type(getattr(self, name)) is not bool:
                raise InvalidInput(f"{name} is {getattr(self, name)!r}; give True or False")
        _positive("timeout", self.timeout)
        object.__setattr__(self, "prices", checked_prices(self.prices))
        object.__setattr__(self, "retries", Retries.of(self.retries))
        share = self.speculate
        if type(share) not in {int, float} or not 0 <= share < 1:
            raise InvalidInput(f"speculate is {share!r}; give a share from 0 to below 1, such as 0.1")
        if self.limits.cost is not None and self.prices is None:
            raise InvalidInput("limits.cost is set without prices; give prices={model: Price(...)}")

    @classmethod
    def of(cls, settings: "Settings | None", overrides: SettingsFields) -> "Settings":
        """Settings with some fields replaced. Raises InvalidInput for a name that is no field."""
        if not isinstance(settings, (cls, type(None))):
            raise InvalidInput(f"settings is {type(settings).__name__}; give Settings(...)")
        known = {known.name for known in fields(cls)}
        for name in overrides:
            if name not in known:
                raise InvalidInput(f"{name!r} is not a setting; known are {', '.join(sorted(known))}")
        return replace(settings or cls(), **cast("dict[str, Any]", overrides))

    @property
    def kinds(self) -> tuple[RuleKind, ...]:
        """The kinds of rule that are mined."""
        return tuple(RuleKind) if self.rules == "both" else (RuleKind(self.rules),)

    def as_dict(self) -> dict[str, Any]:
        """The fields, nested ones as dicts too."""
        told = asdict(replace(self, store=None))
        return {**told, "store": None if self.store is None else self.store.as_dict()}


@dataclass(frozen=True, slots=True)
class Choice:
    """A miner that was chosen: its name, why, and the limits that come with it.

    ``share``: the confidence that its rules have at least; ``samples``: answers to a subset at the most.
    """

    name: str
    reason: str
    limits: Limits
    share: float = 1.0
    samples: int = 1

    def miner(self, kind: RuleKind, *, minimal: bool) -> Miner:
        """The miner of one kind of rule."""
        if self.name == "confidence":
            return Confidence(kind, self.share, minimal)
        return Exhaustive(kind, minimal) if self.name == "exhaustive" else Mono(kind, minimal)

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
        miner = self.miner(kind, minimal=settings.minimal)
        return RuleSearch(miner, lattice, known=known, speculate=speculate)

    def worst_case(self, sources: int) -> int:
        """Most replays it can come to, but for retries: every subset, the baseline, the repeat check."""
        everything = (1 << sources) * self.samples + 2
        cap = self.limits.replays
        return everything if cap is None else min(everything, cap)


def choose(settings: Settings, sources: int) -> Choice:
    """The miner for so many sources. Raises TooManySources where an exact search cannot finish."""
    if sources > FAMILY_LIMIT:
        raise TooManySources(
            f"{sources} sources have 2^{sources} subsets; an exact search takes at most "
            f"{FAMILY_LIMIT}. Retrieve fewer (a smaller top-k), or pass just the ones you suspect"
        )
    share, samples = settings.noise.min_confidence, settings.noise.samples
    if share < 1 and sources > CONFIDENCE_LIMIT:
        raise TooManySources(
            f"rules with a minimum confidence need a verdict on every subset, which is for at most "
            f"{CONFIDENCE_LIMIT} sources, and these are {sources}. Retrieve fewer (a smaller top-k), or "
            "leave min_confidence out"
        )
    subsets = f"{sources} source{'s' * (sources != 1)}, at most {1 << sources} probes"
    name = "exact" if settings.miner == "auto" else settings.miner
    if share < 1:
        name, subsets = "confidence", f"min_confidence={share:g}; {subsets}"
    if settings.miner != "auto":
        return Choice(name, f"asked for; {subsets}", settings.limits, share, samples)
    if sources <= EXACT_UP_TO or settings.limits.replays is not None:
        return Choice(name, subsets, settings.limits, share, samples)
    capped = replace(settings.limits, replays=AUTO_REPLAYS)
    reason = f"{subsets}, capped at {AUTO_REPLAYS} replays; miner='exact' lifts the cap"
    return Choice(name, reason, capped, share, samples)


def _positive(name: str, seconds: float | None) -> None:
    if seconds is not None and (type(seconds) not in {int, float} or not 0 < seconds < float("inf")):
        raise InvalidInput(f"{name} is {seconds!r}; give seconds above 0, or None")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidInput(f"{name} is {value!r}; give one of {', '.join(map(repr, allowed))}")


__all__ = ["Choice", "Rules", "Settings", "SettingsFields", "Unpack", "choose"]
