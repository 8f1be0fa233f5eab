"""This module computes the cost of tokens from prices that the user gives; this package knows no
prices."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from sys import float_info
from typing import Any, TypeAlias

from ..allowed import called_as
from ..errors import InvalidInput

Tokens: TypeAlias = Mapping[str, int]
"""Numbers of tokens by kind: ``input_tokens``, ``output_tokens`` and ``total_tokens``. The number under
``cached_input_tokens`` is a part of that under ``input_tokens``."""
TokensByModel: TypeAlias = Mapping[str, Tokens]

ANY_MODEL = "*"
_MILLION = 1_000_000


@called_as("Price")
@dataclass(frozen=True, slots=True)
class Price:
    """A Price holds the prices of a million tokens of a model, in any currency. ``cached_input``: the
    price of input tokens from the provider's cache; None if they cost as much as other input tokens.
    Raises InvalidInput for a price below 0."""

    input: float
    output: float
    cached_input: float | None = None

    def __post_init__(self) -> None:
        given: dict[str, Any] = {"input": self.input, "output": self.output}
        if self.cached_input is not None:
            given["cached_input"] = self.cached_input
        for name, price in given.items():
            if type(price) not in {int, float} or not isfinite(price) or price < 0:
                raise InvalidInput(f"the price of {name} is {price!r}; give a number, 0 or more")

    def of(self, tokens: Tokens) -> float:
        """Returns the cost of these tokens. A cost too large for a float is the largest float."""
        cached = tokens.get("cached_input_tokens", 0)
        fresh = max(0, tokens.get("input_tokens", 0) - cached)
        cached_price = self.input if self.cached_input is None else self.cached_input
        output = tokens.get("output_tokens", 0)
        try:
            cost = (fresh * self.input + cached * cached_price + output * self.output) / _MILLION
        except OverflowError:  # in estimates for over a thousand sources, tokens exceed the largest float
            return float_info.max
        return min(cost, float_info.max)


Prices: TypeAlias = Mapping[str, Price]
"""The prices by the name of the model. A name is written as the model reports it, or without the release
at its end ("gpt-4o-mini" for "gpt-4o-mini-2024-07-18"). The price of "*" is used for all models that have
no price of their own."""

# A release is a number of three or more digits, "latest" or "preview". The "-mini" of "gpt-4o-mini" is no
# release, so this model does not get the price of "gpt-4o". A size such as "-405b" is no release either.
_RELEASE = re.compile(r"-(\d{3,}|latest|preview)\b")


def checked_prices(prices: Prices | None) -> Prices | None:
    """Returns the user's prices as a dict; None if there are none. Raises InvalidInput unless they map
    names of models to ``Price`` objects."""
    if prices is None:
        return None
    named = isinstance(prices, Mapping) and all(isinstance(each, Price) for each in prices.values())  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
    if not named or not prices:
        raise InvalidInput(
            f"prices is {prices!r}; give a dict from names of models to Price(input=..., output=...)"
        )
    return dict(prices)


def cost_of(spent: TokensByModel, prices: Prices | None) -> float | None:
    """Returns the cost of the tokens; None if a model that used tokens has no price."""
    if prices is None:
        return None
    total = 0.0
    for model, tokens in spent.items():
        price = price_of(model, prices)
        if price is None and any(tokens.values()):
            return None
        total += price.of(tokens) if price is not None else 0.0
    return total


def price_of(model: str, prices: Prices) -> Price | None:
    """Returns the price of a model; None if the table has no price for it. A name in the table fits if it
    is the model's name, with or without a release at its end, such as "-2024-07-18". If several names
    fit, the longest decides."""
    fitting = (name for name in prices if model == name or _is_release(model, name))
    name = max(fitting, key=len, default=ANY_MODEL)
    if name not in prices and not model and len(prices) == 1:
        return next(iter(prices.values()))  # the model has no name; the only price is taken as its price
    return prices.get(name)


def _is_release(model: str, name: str) -> bool:
    return model.startswith(name) and _RELEASE.match(model, len(name)) is not None
