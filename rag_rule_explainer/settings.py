"""This module defines ``Settings``: all options of an explanation that are plain values."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike
from typing import Any, Literal, TypeAlias, cast, get_args

from typing_extensions import TypedDict

from .allowed import (
    brief,
    called_as,
    checked_flag,
    checked_whole,
    did_you_mean,
    keywords_of,
    plain_number,
    showing,
    unknown_name,
)
from .duplicates import SIMILARITY
from .errors import InvalidInput
from .mining.partition import Partition
from .mining.sampled import Sampled
from .probing.limits import MOST_AT_A_TIME, Limits
from .probing.noise import Noise
from .probing.prices import Prices, checked_prices
from .probing.retries import Retries
from .rules import RuleKind
from .storing.store import Store

Rules: TypeAlias = Literal["retention", "omission", "both"]
MinerName: TypeAlias = Literal["auto", "quick", "exact", "exhaustive", "sampled", "grouped"]
_CHOOSING = {"auto", "quick"}  # these miners choose a method by the number of sources

DEFAULT_TIMEOUT = 300.0
"""The default for the maximum number of seconds that one replay may take."""


class SettingsFields(TypedDict, total=False):
    """A ``SettingsFields`` is a TypedDict that gives the keywords ``**fields`` their types: those of the
    fields of ``Settings``."""

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
    store: Store | str | PathLike[str] | None


@called_as("Settings")
@dataclass(frozen=True, slots=True)
class Settings:
    """This frozen, picklable class holds the settings of an explanation.

    ``rules``: "retention", "omission" or "both". ``miner``: how rules are searched. "exact": the paper's
    Mono or Dual. "exhaustive": by all 2^n subsets. "sampled" or ``Sampled(...)``: each rule is tested on
    random subsets. "grouped": the paper's divide and conquer; its rules hold only for the sources that it
    does not drop. "quick": few replays and weaker tests. "auto": by the number of sources.

    ``granularity``: metadata keys of the sources, the coarsest first, such as ("domain", "document"). The
    grouped miner starts with the groups that the first key makes. It divides only groups that rules name,
    down to single sources. ``partition``: mines each batch of sources exactly and separately. Rules over
    several batches are not searched for. The value is the maximum number of sources in a batch, the
    metadata key that the sources of a batch have in common, or ``Partition(by, others)``.
    ``merge_duplicates``: ties sources with nearly the same text into one unit, which is retained or
    omitted as a whole. Pinned sources are never tied. True ties texts that share 90 % of their word
    shingles (sequences of three words); a float sets this share. Identical texts are then tied, too.

    ``minimal=False`` reports all valid rules instead of the minimal ones; this is not possible with the
    sampled and the grouped miner. ``noise``: votes and confidence, for answers that vary. ``limits``:
    upper bounds on spending. ``prices``: prices of tokens, by model. ``concurrency``: the maximum number
    of replays that run at the same time. ``timeout``: the maximum number of seconds of one replay, and of
    one request to a judge; None for no limit. A condition that is a function is limited only by
    ``Limits(seconds=)``. ``retries``: retries of replays with a temporary failure, as a number or as
    ``Retries``. They also apply to a baseline that the package runs.

    ``speculate``: the share of probes that an exact search may waste so that it can always run
    ``concurrency`` probes, such as 0.1. With 0, only needed subsets are probed. Speculation stops once
    this share is known to be wasted; probes that are already running may exceed it. ``lockstep``: probes
    run in rounds, so that the choice of probes depends only on verdicts, not on timing. ``seed``: the
    seed of all random draws. ``check_repeatable``: replays the full set a second time before mining.
    ``false_condition``: "warn" or "error", for a baseline whose answer does not meet the condition.

    ``reuse_answers=False``: an arrangement (an ordered list of sources) that both kinds of rule need is
    replayed for each kind, which saves memory. Samples for votes are still shared.
    ``answer_without_sources``: the answer to the empty set, such as "N/A", used instead of a replay.
    ``accept_finish_reasons``: finish reasons with which a reply counts as an answer, besides the usual
    ones: "length" for all replies cut off at a length limit, or a reason exactly as the model writes it.
    ``store``: keeps every paid answer and judgement, and is searched before anything is paid.

    Raises InvalidInput for a value that a field does not allow.
    """

    rules: Rules = "both"
    miner: MinerName | Sampled = "auto"
    granularity: tuple[str, ...] | str = ()
    partition: Partition | int | str | None = None
    merge_duplicates: bool | float = False
    minimal: bool = True
    noise: Noise = field(default_factory=Noise)  # a number stands for ``Noise(samples)``
    limits: Limits = field(default_factory=Limits)  # a number stands for ``Limits(replays)``
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
        miner = "sampled" if isinstance(self.miner, Sampled) else self.miner
        _one_of("miner", miner, get_args(MinerName))
        object.__setattr__(self, "granularity", self._keys())
        object.__setattr__(self, "partition", Partition.of(self.partition))
        concurrency = checked_whole("concurrency", self.concurrency, 1, MOST_AT_A_TIME)
        object.__setattr__(self, "concurrency", concurrency)
        object.__setattr__(self, "seed", checked_whole("seed", self.seed, 0))
        object.__setattr__(self, "limits", Limits.of(self.limits))
        object.__setattr__(self, "noise", Noise.of(self.noise))
        object.__setattr__(self, "store", Store.of(self.store))
        _one_of("false_condition", self.false_condition, ("warn", "error"))
        if not isinstance(self.answer_without_sources, (str, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            raise InvalidInput(
                f"answer_without_sources is {brief(self.answer_without_sources)}; give a str, or None"
            )
        for name in ("minimal", "lockstep", "check_repeatable", "reuse_answers"):
            checked_flag(name, getattr(self, name))
        if self.accept_finish_reasons != ():
            from .probing.wholeness import checked_reasons  # imported late, because few users set this

            object.__setattr__(self, "accept_finish_reasons", checked_reasons(self.accept_finish_reasons))
        object.__setattr__(self, "timeout", plain_number(self.timeout))
        _positive("timeout", self.timeout)
        object.__setattr__(self, "prices", checked_prices(self.prices))
        object.__setattr__(self, "retries", Retries.of(self.retries))
        share = self.speculate
        if type(share) not in {int, float} or not 0 <= share < 1:
            raise InvalidInput(
                f"speculate is {brief(share)}; give a share from 0 to below 1, such as 0.1"
            )
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
                f"granularity is {brief(given)}; give keys of the sources' metadata, such as "
                "('document',)"
            )
        if keys and self.miner not in {*_CHOOSING, "grouped"}:
            raise InvalidInput("granularity is for miner='grouped'; leave miner out, or say so")
        return cast("tuple[str, ...]", keys)

    @property
    def divides(self) -> bool:
        """Returns True iff the miner starts with groups of sources and divides them."""
        return self.miner == "grouped" or bool(self.granularity)

    def _check_merging(self) -> None:
        share = self.merge_duplicates
        if type(share) is not bool and not (type(share) is float and 0 < share <= 1):
            raise InvalidInput(
                f"merge_duplicates is {brief(share)}; give True, False, or the share of word shingles "
                "that texts must have in common, above 0.0 and up to 1.0, such as 0.8"
            )

    @property
    def tied_from(self) -> float | None:
        """Returns the share of common word shingles (sequences of three words) from which two texts are
        tied; None if no texts are tied."""
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
        if self.miner not in {*_CHOOSING, "exact"} or self.granularity:
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
        """Returns the settings by which sources are divided into batches; None if all sources are mined
        together."""
        return Partition.of(self.partition)

    @classmethod
    def of(
        cls,
        settings: "Settings | None",
        overrides: SettingsFields,
        beside: Callable[..., object] | None = None,
    ) -> "Settings":
        """Returns settings (None for the defaults) with the fields in ``overrides`` replaced.

        ``beside``: the function that was called with these fields. Error messages also suggest its other
        keywords; None for no suggestions. Raises InvalidInput for a name that is no field.
        """
        if not isinstance(settings, (cls, type(None))):
            raise InvalidInput(f"settings is {type(settings).__name__}; give Settings(...)")
        known = {known.name for known in fields(cls)}
        for name in overrides:
            if name not in known:
                others = () if beside is None else keywords_of(beside)
                raise InvalidInput(unknown_name(name, "setting", {*known, *others}))
        given = cast("dict[str, Any]", overrides)
        return cls(**given) if settings is None else replace(settings, **given)

    def accepting(self, *, length: bool) -> "Settings":
        """Returns these settings. With ``length=True``, replies that were cut off at a length limit
        also count as answers."""
        if not length or "length" in self.accept_finish_reasons:
            return self
        return replace(self, accept_finish_reasons=(*self.accept_finish_reasons, "length"))

    @property
    def kinds(self) -> tuple[RuleKind, ...]:
        """Returns the kinds of rule that are mined."""
        return tuple(RuleKind) if self.rules == "both" else (RuleKind(self.rules),)

    @property
    def is_automatic(self) -> bool:
        """Returns True iff the miner is chosen automatically: the number of sources and the limit of
        replays then decide whether rules are tested on random subsets."""
        return self.miner in _CHOOSING or (isinstance(self.miner, Sampled) and self.miner.if_many)

    @property
    def sampling(self) -> Sampled | None:
        """Returns the settings by which rules are tested on random subsets; None if the miner does not
        test in this way."""
        if isinstance(self.miner, Sampled):
            return self.miner
        return Sampled() if self.miner == "sampled" else None

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields as a dict. Nested dataclasses become dicts, too."""
        values = asdict(self if self.store is None else replace(self, store=None))
        return {**values, "store": None if self.store is None else self.store.as_dict()}


showing_settings = showing(Settings, SettingsFields)
"""This decorator lists all settings in the signature of a function with ``**fields``."""


def _positive(name: str, seconds: float | None) -> None:
    if seconds is not None and (type(seconds) not in {int, float} or not 0 < seconds < float("inf")):
        raise InvalidInput(f"{name} is {brief(seconds)}; give seconds above 0, or None")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        near = did_you_mean(value, allowed) if isinstance(value, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        raise InvalidInput(f"{name} is {brief(value)}; {near}give one of {', '.join(map(repr, allowed))}")
