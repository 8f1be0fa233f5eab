"""How far a replay may go: a multiple of what the baseline did.

A loop that ends when a document satisfies it may never end without documents.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite
from typing import NamedTuple

from ..errors import InvalidInput
from ..sources import Source

FACTOR = 5.0
"""A replay may make so many times the baseline's requests, steps and tool calls."""
FEWEST_STEPS = 24
"""Steps of a graph that are always allowed: fewer than any limit that the frameworks set by default."""
FEWEST_TOOL_CALLS = 10
FEWEST_RETRIEVALS = 25
FEWEST_SECONDS = 60.0
_SECONDS = 4.0
"""Seconds vary more than counts do, so they are bounded this much more loosely."""
_PATIENCE = 20
"""So often an application may be told by an Exception; one that goes on all the same is ended."""


class BeyondBaseline(Exception):
    """Raised inside a replay that goes far beyond what the baseline did."""


class ReplayEnded(BaseException):
    """Raised inside a replay that goes on although every request fails; no ``except Exception`` stops
    it."""


class Extent(NamedTuple):
    """How much a run did. ``steps``: the most that one graph took."""

    requests: int = 0
    tool_calls: int = 0
    steps: int = 0
    retrievals: int = 0


def checked_factor(factor: float | None) -> float | None:
    """Returns the factor. Raises InvalidInput for what is no number from 1 on, nor None."""
    good = factor is None or (type(factor) in {int, float} and isfinite(factor) and factor >= 1)
    if not good:
        raise InvalidInput(
            f"replay_bound is {factor!r}; give a number, 1 or more, such as 5 (a replay may make 5 times "
            "the baseline's model requests), or None for no bound"
        )
    return factor


@dataclass(slots=True, eq=False)
class Bound:
    """Counts what one replay does, and raises where that is too much. Thread-safe.

    ``passed``: in words, what was too much; empty as long as nothing was.
    """

    most: Extent
    baseline: Extent
    kept: int
    passed: str = ""
    _tool_calls: int = 0
    _refused: int = 0
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, baseline: Extent, factor: float, kept: Sequence[Source]) -> "Bound":
        """Returns the bound of a replay. Where the baseline asked no model, its requests are not
        bounded."""
        most = Extent(
            ceil(factor * baseline.requests),
            max(FEWEST_TOOL_CALLS, ceil(factor * baseline.tool_calls)),
            max(FEWEST_STEPS, ceil(factor * baseline.steps)),
            max(FEWEST_RETRIEVALS, ceil(factor * baseline.retrievals)),
        )
        return cls(most, baseline, len(kept))

    def check_requests(self, made: int) -> None:
        """Raises where so many requests are too many. To be called before each is sent."""
        if self.most.requests and made > self.most.requests:
            self._refuse("model requests", self.most.requests, self.baseline.requests)

    def count_tool_call(self) -> None:
        """Counts a call of a tool. Raises where it is one too many."""
        with self._guard:
            self._tool_calls += 1
            too_many = self._tool_calls > self.most.tool_calls
        if too_many:
            self._refuse("tool calls", self.most.tool_calls, self.baseline.tool_calls)

    def check_retrievals(self, made: int) -> None:
        """Raises where so many retrievals are too many. To be called before each is served."""
        if made > self.most.retrievals:
            self._refuse("retrievals", self.most.retrievals, self.baseline.retrievals)

    def check_steps(self, taken: int) -> None:
        """Raises where a graph has taken so many steps that they are too many."""
        if taken > self.most.steps:
            self._refuse("steps", self.most.steps, self.baseline.steps)

    def _refuse(self, what: str, most: int, baseline: int) -> None:
        with self._guard:
            self.passed = self.passed or self._told(what, most, baseline)
            self._refused += 1
            patient = self._refused <= _PATIENCE
        if patient:
            raise BeyondBaseline(self.passed)
        raise ReplayEnded(self.passed)

    def _told(self, what: str, most: int, baseline: int) -> str:
        few = (
            ". With few documents it seems to search for ever: pass answer_without_sources='N/A' to "
            "answer the case without documents yourself"
            if self.kept <= 1
            else ""
        )
        return (
            f"the replay was ended after {most} {what}, where the baseline made {baseline} "
            f"(replay_bound= allows for more){few}"
        )


def seconds_for(baseline: float, factor: float) -> float:
    """Returns how many seconds a replay may take, where the baseline took so many."""
    return max(FEWEST_SECONDS, _SECONDS * factor * baseline)
