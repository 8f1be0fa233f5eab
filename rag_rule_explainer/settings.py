"""How to mine: everything about an explanation that is neither a live object nor the question."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, cast, get_args

from typing_extensions import TypedDict, Unpack

from .allowed import checked_flag, checked_whole, did_you_mean, keywords_of, showing, unknown_name
from .duplicates import SIMILARITY
from .errors import InvalidInput
from .mining import Partition, Sampled
from .probing.limits import MOST_AT_A_TIME, Limits
from .probing.noise import Noise
from .probing.prices import Prices, checked_prices
from .probing.retries import Retries
from .probing.wholeness import checked_reasons
from .rules import RuleKind
from .storing.store import Store

Rules: TypeAlias = Literal["retention", "omission", "both"]
MinerName: TypeAlias = Literal["auto", "exact", "exhaustive", "sampled", "grouped"]

DEFAULT_TIMEOUT = 300.0
"""Seconds that a replay may take."""


class SettingsFields(TypedDict, total=False):
    """The fields of Settings as keywords."""

    rules: Rules
    miner: MinerName | Sampled
    granularity: tuple[str, ...] | str
    partition: Partition | int | str | None
    merge_duplicates: bool | float
    minimal: bool
    noise: Noise | int
    limits: Limits | int
    prices: Prices | None
    concurrency: int
    timeout: float | None
    retries: Retries | int
    speculate: float
    lockstep: bool
    seed: int
    check_repeatable: bool
    false_condition: Literal["warn", "error"]
    reuse_answers: bool
    answer_without_sources: str | None
    accept_finish_reasons: tuple[str, ...]
    store: Store | str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """Frozen and picklable.

    ``rules``: "retention", "omission" or "both". ``miner``: "exact" (the paper's Mono or Dual),
    "exhaustive" (all 2^n), "sampled" or ``Sampled(...)`` (each rule tested on random subsets, for any
    number of sources), "grouped" (the paper's divide and conquer, exact relative to the sources that it
    keeps) or "auto". ``granularity``: keys of the sources' metadata, the coarsest first, such as
    ("domain", "document"): rules are mined over the groups that these make, and only groups that rules
    name are divided, down to single sources; it takes the grouped miner. ``partition``: rules are mined
    exactly and separately per batch of sources: at most so many, those with the same value under this key
    of their metadata, or ``Partition(by, others)``; rules over several batches are not looked for.
    ``merge_duplicates``: sources
    with nearly the same text are tied into one unit, which is retained or left out as a whole and counts
    as one source; pinned ones are left alone. True ties texts that share 90 % of their word shingles, a
    float those that share so much; identical texts always are. ``minimal=False`` reports all
    valid rules, not just the minimal ones; not when sampled or grouped. ``noise``: votes and confidence,
    where answers vary. ``limits``: caps on spending.
    ``prices``: of tokens, by model. ``concurrency``: most replays in flight. ``timeout``: seconds one
    replay may take, or None. ``retries``: of replays that fail in a way that may pass, and of a baseline
    that is not the user's own run, as a number or as ``Retries``. ``speculate``: the share of its probes
    that an exact search may waste on guesses made for idle slots, e.g. 0.1; 0 probes nothing that is not
    needed. Once so much is known to be wasted nothing more is guessed, but of what was guessed by then
    more may turn out to be. ``lockstep``: probes go out and are told in rounds, so that which ones are
    made depends on nothing but verdicts. ``seed``: of whatever is drawn. ``check_repeatable``: replay the
    full set once more before mining. ``reuse_answers=False``: an arrangement wanted by both kinds is
    replayed for each (less memory), but where samples are put to the vote, which both kinds share.
    ``answer_without_sources``: the answer to the empty set, instead of asking the application, e.g.
    "N/A". ``accept_finish_reasons``: of replies that count as answers, beside those known to mean whole
    ones: "length" for all that were cut off at a length limit, or the word of a model that nobody knows.

    ``store``: where every paid answer and judgement is kept, and looked for before anything is paid.

    Raises InvalidInput for a value outside of these.
    """

    rules: Rules = "both"
    miner: MinerName | Sampled = "auto"
    granularity: tuple[str, ...] | str = ()
    partition: Partition | int | str | None = None
    merge_duplicates: bool | float = False
    minimal: bool = True
    noise: Noise = field(default_factory=Noise)  # or a number of samples
    limits: Limits = field(default_factory=Limits)  # or a number of replays
    prices: Prices | None = None
    concurrency: int = 8
    timeout: float | None = DEFAULT_TIMEOUT
    retries: Retries | int = field(default_factory=Retries)
    speculate: float = 0.0
    lockstep: bool = False
    seed: int = 0
    check_repeatable: bool = True
    false_condition: Literal["warn", "error"] = "warn"
    reuse_answers: bool = True
    answer_without_sources: str | None = None
    accept_finish_reasons: tuple[str, ...] = ()
    store: Store | None = None

    def __post_init__(self) -> None:
        _one_of("rules", self.rules, get_args(Rules))
        _one_of(
            "miner", "sampled" if isinstance(self.miner, Sampled) else self.miner, get_args(MinerName)
        )
        object.__setattr__(self, "granularity", self._keys())
        object.__setattr__(self, "partition", Partition.of(self.partition))
        checked_whole("concurrency", self.concurrency, 1, MOST_AT_A_TIME)
        checked_whole("seed", self.seed, 0)
        object.__setattr__(self, "limits", Limits.of(self.limits))
        object.__setattr__(self, "noise", Noise.of(self.noise))
        object.__setattr__(self, "store", Store.of(self.store))
        _one_of("false_condition", self.false_condition, ("warn", "error"))
        if not isinstance(self.answer_without_sources, (str, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(
                f"answer_without_sources is {self.answer_without_sources!r}; give a str, or None"
            )
        for name in ("minimal", "lockstep", "check_repeatable", "reuse_answers"):
            checked_flag(name, getattr(self, name))
        object.__setattr__(self, "accept_finish_reasons", checked_reasons(self.accept_finish_reasons))
        _positive("timeout", self.timeout)
        object.__setattr__(self, "prices", checked_prices(self.prices))
        object.__setattr__(self, "retries", Retries.of(self.retries))
        share = self.speculate
        if type(share) not in {int, float} or not 0 <= share < 1:
            raise InvalidInput(f"speculate is {share!r}; give a share from 0 to below 1, such as 0.1")
        self._check_merging()
        self._check_sampling()
        self._check_partition()
        if self.limits.cost is not None and self.prices is None:
            raise InvalidInput("limits.cost is set without prices; give prices={model: Price(...)}")

    def _keys(self) -> tuple[str, ...]:
        given: object = self.granularity
        listed: Any = (given,) if isinstance(given, str) else given
        keys = cast("tuple[object, ...]", tuple(listed)) if type(listed) in {tuple, list} else ("",)
        if not all(isinstance(key, str) and key for key in keys):
            raise InvalidInput(
                f"granularity is {given!r}; give keys of the sources' metadata, such as ('document',)"
            )
        if keys and self.miner not in {"auto", "grouped"}:
            raise InvalidInput("granularity is for miner='grouped'; leave miner out, or say so")
        return cast("tuple[str, ...]", keys)

    @property
    def divides(self) -> bool:
        """Returns whether groups of sources are mined and divided."""
        return self.miner == "grouped" or bool(self.granularity)

    def _check_merging(self) -> None:
        share = self.merge_duplicates
        if type(share) is not bool and not (type(share) is float and 0 < share <= 1):
            raise InvalidInput(
                f"merge_duplicates is {share!r}; give True, False, or the share of word shingles that "
                "texts must have in common, above 0.0 and up to 1.0, such as 0.8"
            )

    @property
    def tied_from(self) -> float | None:
        """Returns how much texts must have in common for their sources to be tied; None where none
        are."""
        return SIMILARITY if self.merge_duplicates is True else self.merge_duplicates or None

    def _check_sampling(self) -> None:
        name = "grouped" if self.divides else "sampled"
        if self.sampling is None and not self.divides:
            return
        if not self.minimal:
            raise InvalidInput(f"a {name} search finds minimal rules; minimal=False takes miner='exact'")
        if self.noise.min_confidence < 1:
            raise InvalidInput(
                f"noise.min_confidence needs a verdict on every subset, and a {name} search looks at "
                "some; leave one of them out"
            )

    def _check_partition(self) -> None:
        if self.partition is None:
            return
        if self.miner not in {"auto", "exact"} or self.granularity:
            raise InvalidInput(
                "partition mines each batch exactly; leave miner and granularity out, or the partition"
            )
        if self.noise.min_confidence < 1:
            raise InvalidInput(
                "noise.min_confidence needs a verdict on every subset, and a partition looks at those "
                "within batches; leave one of them out"
            )

    @property
    def batching(self) -> Partition | None:
        """Returns how sources are mined in batches, where they are."""
        return Partition.of(self.partition)

    @classmethod
    def of(
        cls,
        settings: "Settings | None",
        overrides: SettingsFields,
        beside: Callable[..., object] | None = None,
    ) -> "Settings":
        """Returns settings with some fields replaced.

        ``beside``: the function that was called with these fields, and what else it takes. Raises
        InvalidInput for a name that is no field.
        """
        if not isinstance(settings, (cls, type(None))):
            raise InvalidInput(f"settings is {type(settings).__name__}; give Settings(...)")
        known = {known.name for known in fields(cls)}
        for name in overrides:
            if name not in known:
                others = () if beside is None else keywords_of(beside)
                raise InvalidInput(unknown_name(name, "setting", {*known, *others}))
        return replace(settings or cls(), **cast("dict[str, Any]", overrides))

    def accepting(self, *, length: bool) -> "Settings":
        """Returns these settings; with ``length``, replies cut off at a length limit count as well."""
        if not length or "length" in self.accept_finish_reasons:
            return self
        return replace(self, accept_finish_reasons=(*self.accept_finish_reasons, "length"))

    @property
    def kinds(self) -> tuple[RuleKind, ...]:
        """Returns the kinds of rule that are mined."""
        return tuple(RuleKind) if self.rules == "both" else (RuleKind(self.rules),)

    @property
    def sampling(self) -> Sampled | None:
        """Returns how rules are sampled, where the miner that was asked for samples."""
        if isinstance(self.miner, Sampled):
            return self.miner
        return Sampled() if self.miner == "sampled" else None

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, nested ones as dicts too."""
        told = asdict(replace(self, store=None))
        return {**told, "store": None if self.store is None else self.store.as_dict()}


showing_settings = showing(Settings, SettingsFields)
"""Shows them in the signature of a function that collects ``**fields``."""


def _positive(name: str, seconds: float | None) -> None:
    if seconds is not None and (type(seconds) not in {int, float} or not 0 < seconds < float("inf")):
        raise InvalidInput(f"{name} is {seconds!r}; give seconds above 0, or None")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        near = did_you_mean(value, allowed) if isinstance(value, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        raise InvalidInput(f"{name} is {value!r}; {near}give one of {', '.join(map(repr, allowed))}")


__all__ = ["Rules", "Settings", "SettingsFields", "Unpack"]
