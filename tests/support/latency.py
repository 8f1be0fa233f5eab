"""How long an answer takes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rag_rule_explainer.errors import InvalidInput
from tests.support.draws import drawing
from tests.support.messages import Body

Seconds: TypeAlias = float | Callable[[Body], float]
"""A number of seconds, or what gives it for the body of a request."""


def seconds(given: Seconds, body: Body) -> float:
    """The number of them for this request."""
    return given(body) if callable(given) else given


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Most answers take less than ``mean`` seconds, a few take many times as long.

    ``mean``: of the seconds, not of their logarithm. ``sigma``: the standard deviation of the logarithm;
    with 0 all take ``mean``. The seed and the messages determine the seconds: the same request always
    takes the same time, whatever comes before or beside it. Raises InvalidInput unless ``mean`` is
    positive and ``sigma`` is not negative.
    """

    mean: float
    sigma: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.mean < math.inf:
            raise InvalidInput(f"mean is {self.mean!r}; give a positive number of seconds")
        if not 0 <= self.sigma < math.inf:
            raise InvalidInput(f"sigma is {self.sigma!r}; give at least 0")

    def __call__(self, body: Body) -> float:
        """The seconds for the body of a request."""
        # exp(mu + sigma^2 / 2) is the mean of a log-normal distribution.
        mu = math.log(self.mean) - self.sigma**2 / 2
        return drawing(self.seed, body["messages"]).lognormvariate(mu, self.sigma)
