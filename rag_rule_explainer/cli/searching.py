"""This module defines the groups of options that become ``Settings``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import InvalidInput
from ..mining import Partition, Sampled
from ..probing.limits import Limits
from ..probing.noise import Noise
from ..probing.prices import Price
from ..probing.retries import Retries
from ..session.planning import MOST_REPLAYS
from ..settings import DEFAULT_TIMEOUT, Settings, SettingsFields
from ..storing.store import Store
from .named_stores import store_at
from .options import (
    AskedAgain,
    Concurrency,
    ConfidenceOption,
    Granularity,
    HeldOption,
    Jointly,
    Lockstep,
    MaxCost,
    MaxReplays,
    MaxRules,
    MaxSeconds,
    MaxTokens,
    MaxViolation,
    MergeDuplicates,
    MinConfidence,
    MinerOption,
    NamespaceOption,
    Neighbours,
    PartitionOption,
    PriceOption,
    RepeatCheck,
    RetriesOption,
    RulesOption,
    SamplesOption,
    Similarity,
    SizesOption,
    Speculate,
    StoreUrl,
    Timeout,
    VoteOption,
    WithoutSources,
)
from .requests import parsed_ids

_USUAL_RETRIES = Retries()


@dataclass(frozen=True, slots=True)
class Testing:
    """These options say how a rule is tested."""

    miner: MinerOption = "auto"
    merge_duplicates: MergeDuplicates = False
    similarity: Similarity = None
    max_violation: MaxViolation = None
    confidence: ConfidenceOption = None
    sizes: SizesOption = None

    def settings(self, more: Mapping[str, Any] | None = None) -> SettingsFields:
        """Returns these options as settings. ``more``: fields of ``Sampled`` that these options do not
        set; None for none.

        Raises InvalidInput for an option that has no effect without another option.
        """
        if self.similarity is not None and not self.merge_duplicates:
            raise InvalidInput("--similarity is about near-duplicates; say --merge-duplicates with it")
        tied = self.merge_duplicates if self.similarity is None else self.similarity
        stated: dict[str, Any] = {
            "max_violation": self.max_violation,
            "confidence": self.confidence,
            "sizes": None if self.sizes is None else _sizes(self.sizes),
            **(more or {}),
        }
        given = {name: value for name, value in stated.items() if value is not None}
        if given and self.miner != "sampled":
            option = next(iter(given)).replace("_", "-")
            raise InvalidInput(f"--{option} is about rules that are tested; say --miner sampled with it")
        return {"miner": Sampled(**given) if given else self.miner, "merge_duplicates": tied}


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """These options say which rules are searched for, and how."""

    rules: RulesOption = "both"
    granularity: Granularity = None
    partition: PartitionOption = None
    others: HeldOption = None
    jointly: Jointly = False
    neighbours: Neighbours = False
    max_rules: MaxRules = None
    min_confidence: MinConfidence = 1.0
    speculate: Speculate = 0.0

    def settings(self) -> SettingsFields:
        """Returns the settings. Raises InvalidInput for a wrong ``--partition`` or ``--others``."""
        return {
            "rules": self.rules,
            "granularity": parsed_ids(self.granularity),
            "partition": self._partition(),
            "speculate": self.speculate,
        }

    @property
    def stated(self) -> dict[str, Any]:
        """Returns the values that these options give to fields of ``Sampled``. The value is None for an
        option that the user has not given."""
        return {
            "max_rules": self.max_rules,
            "jointly": self.jointly or None,
            "neighbours": self.neighbours or None,
        }

    def _partition(self) -> Partition | None:
        if self.partition is None:
            if self.others is not None:
                raise InvalidInput(
                    "--others is about the sources of other batches; say --partition with it"
                )
            return None
        by = self.partition
        is_number = by.isascii() and by.isdigit() and len(by) < 10
        return Partition(int(by) if is_number else by, self.others)


@dataclass(frozen=True, slots=True)
class Spending:
    """These options limit the spending and the speed, and name the store for paid answers."""

    max_replays: MaxReplays = None
    max_tokens: MaxTokens = None
    max_cost: MaxCost = None
    max_seconds: MaxSeconds = None
    price: PriceOption = None
    concurrency: Concurrency = 8
    timeout: Timeout = DEFAULT_TIMEOUT
    retries: RetriesOption = _USUAL_RETRIES.most
    lockstep: Lockstep = False
    store: StoreUrl = None
    namespace: NamespaceOption = None
    answer_without_sources: WithoutSources = None
    repeat_check: RepeatCheck = True

    def settings(self, *, free: bool) -> SettingsFields:
        """Returns these options as settings. ``free``: True if replays cost nothing, so that their number
        need hardly be limited.

        Raises InvalidInput for options that do not fit together.
        """
        # If the user set no limit and replays are free, the limit is the largest that a user could set.
        cap = self.max_replays or (MOST_REPLAYS if free else None)
        check_priced(self.max_cost, self.price)
        return {
            "limits": Limits(cap, self.max_tokens, self.max_cost, self.max_seconds),
            "prices": parsed_prices(self.price),
            "concurrency": self.concurrency,
            "timeout": self.timeout,
            "retries": self.retries,
            "lockstep": self.lockstep,
            "store": _store_of(self.store, self.namespace),
            "check_repeatable": self.repeat_check,
            "answer_without_sources": self.answer_without_sources,
        }


@dataclass(frozen=True, slots=True)
class VotingOptions:
    """These options say how to treat answers that vary."""

    samples: SamplesOption = 1
    vote: VoteOption = None
    recheck: AskedAgain = 0

    def noise(self, min_confidence: float = 1.0) -> Noise:
        """Returns these options as ``Noise``. ``min_confidence``: the share of subsets on which a rule
        must hold. Raises InvalidInput for values that are not allowed."""
        return Noise(self.samples, self.vote, self.recheck, min_confidence)


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """These options say how ``rag-rules verify`` tests the given rule."""

    testing: Testing
    spending: Spending
    voting: VotingOptions

    def settings(self, kind: Literal["retention", "omission"], *, free: bool) -> Settings:
        """Returns the settings for verifying a rule of this kind. ``free``: True if replays cost
        nothing.

        Raises InvalidInput for options that do not fit together.
        """
        return Settings.of(
            Settings(rules=kind, noise=self.voting.noise()),
            {**self.testing.settings(), **self.spending.settings(free=free)},
        )


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """These options say how rules are searched for."""

    testing: Testing
    mining: MiningOptions
    spending: Spending
    voting: VotingOptions

    def settings(self, *, free: bool = False) -> Settings:
        """Returns all these options as settings. ``free``: True if replays cost nothing.

        Raises InvalidInput for options that do not fit together.
        """
        mining = self.mining
        return Settings.of(
            Settings(noise=self.voting.noise(mining.min_confidence)),
            {
                **self.testing.settings(mining.stated),
                **mining.settings(),
                **self.spending.settings(free=free),
            },
        )


_GIVE_PRICES = (
    "give those of a million tokens in and out with --price, such as --price gpt-4o-mini=0.15,0.6, or "
    "--price '*=0.15,0.6' for any model"
)


def check_priced(cost: float | None, prices: list[str] | None, option: str = "--max-cost") -> None:
    """Raises InvalidInput if the cost is limited by the option but no prices are given."""
    if cost is not None and not prices:
        raise InvalidInput(f"{option} needs the price of tokens; {_GIVE_PRICES}")


def parsed_prices(given: list[str] | None) -> dict[str, Price] | None:
    """Returns prices by model, from texts of the form ``MODEL=IN,OUT`` or ``MODEL=IN,OUT,CACHED``; None
    if there are no texts.

    Raises InvalidInput for a text that has another form.
    """
    if not given:
        return None
    return dict(map(_parsed_price, given))


def _parsed_price(written: str) -> tuple[str, Price]:
    model, equals, amounts = written.rpartition("=")
    try:
        prices = [float(amount) for amount in amounts.split(",")]
    except ValueError:
        prices = []
    if not (model and equals) or len(prices) not in {2, 3}:
        raise InvalidInput(f"--price {written!r} is no price; write MODEL=IN,OUT such as gpt-4o=2.5,10")
    try:
        return model, Price(*prices)
    except InvalidInput as error:
        raise InvalidInput(f"--price {written!r}: {error}") from error


def _store_of(url: str | None, namespace: str | None) -> Store | None:
    """Returns the store at the URL; None if there is no URL. If the user gave no namespace, the store has
    none; ``with_a_namespace`` can add one.

    Raises InvalidInput if there is a namespace but no URL.
    """
    return parsed_store(url, namespace) if url is None or namespace is not None else store_at(url)


def parsed_store(url: str | None, namespace: str | None) -> Store | None:
    """Returns the store at the URL, with the namespace; None if neither option is given.

    Raises InvalidInput if only one of the two options is given.
    """
    if url is None and namespace is None:
        return None
    if url is None or namespace is None:
        missing = "--store" if url is None else "--namespace"
        raise InvalidInput(
            f"{missing} is missing: a store needs a place, and a namespace that says which version of "
            "the application its answers are from"
        )
    return store_at(url, namespace)


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise InvalidInput(f"--sizes is {text!r}; give numbers of sources, such as 5 or 5,10")
    return tuple(map(int, parts))
