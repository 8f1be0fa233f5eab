"""This module counts what one explanation has spent, and checks the counts against its limits."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..errors import InvalidInput
from ..verdicts import counts_in
from .limits import LimitReached, Limits
from .prices import Prices, Tokens, TokensByModel, cost_of


@dataclass(slots=True, eq=False)
class Budget:
    """A ``Budget`` counts what one explanation spends, and compares it with its limits.

    ``prices``: None if no prices are known. ``judge``: a function that returns the tokens that a judge
    in the predicate has used; None if no judge in the predicate counts its own tokens. ``baseline``,
    ``repeat_check``, ``samples`` and ``retries``: numbers of runs of the application by their purpose.
    ``earlier``: the budget of an earlier search of the same call, whose spending the limits include;
    None if there was none. ``reused`` and ``stored``: numbers of answers that came from memory and from
    the store. ``failures``: replays that failed even after their retries.
    """

    limits: Limits
    prices: Prices | None = None
    judge: Callable[[], TokensByModel] | None = None
    baseline: int = 0
    repeat_check: int = 0
    samples: int = 0
    retries: int = 0
    reused: int = 0
    stored: int = 0
    failures: int = 0
    judge_requests: int = 0
    earlier: "Budget | None" = None
    started: float = field(default_factory=lambda: time.monotonic())  # noqa: PLW0108 -- a test replaces the clock
    _spent: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    _tokens: int = 0
    _judged: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    is_limited: bool = field(init=False)

    def __post_init__(self) -> None:
        caps = self.limits
        self.is_limited = any(
            cap is not None for cap in (caps.replays, caps.tokens, caps.cost, caps.seconds)
        )

    @property
    def replays(self) -> int:
        """Returns the number of runs of the application, the baseline included."""
        return self.baseline + self.repeat_check + self.samples + self.retries

    @property
    def _chain(self) -> "list[Budget]":
        """Returns this budget and all earlier budgets of the same call, the latest first."""
        chain: list[Budget] = [self]
        while (earlier := chain[-1].earlier) is not None:
            chain.append(earlier)
        return chain

    @property
    def seconds(self) -> float:
        """Returns the seconds since the call began."""
        return time.monotonic() - self.started

    @property
    def spent(self) -> TokensByModel:
        """Returns the tokens of all runs of the application, by model and kind."""
        return self._spent

    @property
    def judge_spent(self) -> TokensByModel:
        """Returns the tokens of the judge, by model and kind."""
        spent = {model: dict(tokens) for model, tokens in self._judged.items()}
        if self.judge is not None:
            for model, tokens in self.judge().items():
                _add(spent, model, tokens)
        return spent

    @property
    def tokens(self) -> int:
        """Returns the number of tokens, input and output together, of all replays and of the judge."""
        return self._tokens + sum(map(total, self.judge_spent.values()))

    @property
    def cost(self) -> float | None:
        """Returns the cost of all tokens; None if the price of a model that was used is not known."""
        replays, judge = cost_of(self._spent, self.prices), cost_of(self.judge_spent, self.prices)
        return None if replays is None or judge is None else replays + judge

    def spend(self, usage: Tokens | None, models: TokensByModel | None = None) -> None:
        """Adds the tokens of a replay. ``models``: the same tokens by the name of the model; None if the
        models are not known."""
        for model, reported in (models or {"": usage or {}}).items():
            tokens = counts_in(reported)
            _add(self._spent, model, tokens)
            self._tokens += total(tokens)

    def spend_judging(self, usage: Tokens | None, models: TokensByModel | None = None) -> None:
        """Adds the tokens of a judge's reply. ``models``: the same tokens by the name of the model; None
        if the models are not known."""
        for model, reported in (models or {"": usage or {}}).items():
            if tokens := counts_in(reported):
                _add(self._judged, model, tokens)

    def charge(self) -> None:
        """Must be called before each run of the application. Raises LimitReached if the limits allow no
        further run.

        If the cost is limited, every model that was used must have a price. Raises InvalidInput if a
        price is missing before the first replay. If only a later replay uses a model without a price,
        raises LimitReached, so that the rules proved by then are still returned.
        """
        limits = self.limits
        if not self.is_limited:
            return
        if limits.replays is not None and sum(each.replays for each in self._chain) >= limits.replays:
            raise LimitReached(f"the limit of {limits.replays} replays is reached")
        self.charge_judging()

    def charge_judging(self) -> None:
        """Raises LimitReached if the limits of time, tokens or cost do not allow one more request to the
        judge. The limit of replays is not checked, because a request is no run of the application."""
        limits = self.limits
        if limits.seconds is not None and self.seconds >= limits.seconds:
            raise LimitReached(f"the limit of {limits.seconds:g} seconds is reached")
        tokens = 0 if limits.tokens is None else sum(each.tokens for each in self._chain)
        if limits.tokens is not None and tokens >= limits.tokens:
            raise LimitReached(f"the limit of {limits.tokens} tokens is reached ({tokens} spent)")
        if limits.cost is not None:
            self._charge_cost(limits.cost)

    def _charge_cost(self, limit: float) -> None:
        costs = [each.cost for each in self._chain]
        cost = None if None in costs else sum(each for each in costs if each is not None)
        if cost is None:
            used = ", ".join(sorted(repr(m) for m in {**self._spent, **self.judge_spent} if m)) or "?"
            error = InvalidInput if self.samples + self.repeat_check == 0 else LimitReached
            raise error(
                f"limits.cost is set, but prices has no price for every model that was used ({used}); "
                "add it, or one for '*'"
            )
        if cost >= limit:
            raise LimitReached(f"the limit of {limit:g} in cost is reached ({cost:g} spent)")


def _add(spent: dict[str, dict[str, int]], model: str, tokens: Tokens) -> None:
    account = spent.setdefault(model, {})
    for kind, count in tokens.items():
        account[kind] = account.get(kind, 0) + count


def summed(spent: TokensByModel) -> dict[str, int]:
    """Returns the number of tokens by kind, summed over all models."""
    total: dict[str, int] = {}
    for tokens in spent.values():
        for kind, count in tokens.items():
            total[kind] = total.get(kind, 0) + count
    return total


def total(tokens: Mapping[str, int]) -> int:
    """Returns the number of input and output tokens together; or the provider's own total, if this is
    larger."""
    known = tokens.get("input_tokens", 0) + tokens.get("output_tokens", 0)
    return max(known, tokens.get("total_tokens", 0))
