"""This module limits a replay to a multiple of the requests, steps and tool calls of the baseline.

The limit is needed because some applications loop until they find a good document. Without documents,
they would never end.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite
from typing import NamedTuple

from ..errors import InvalidInput
from ..sources import Source

FACTOR = 5.0
"""The default limit of a replay, as a multiple of the baseline's requests, steps and tool calls."""
FEWEST_STEPS = 24
"""The number of steps that the graph of a replay may always take, even if the baseline took fewer. This
is below the default limits of the frameworks, so it is reached before them."""
FEWEST_TOOL_CALLS = 10
FEWEST_RETRIEVALS = 25
FEWEST_SECONDS = 60.0
_SECONDS = 4.0
"""The limit on seconds is this many times looser than the limits on counts, because the duration of equal
runs varies."""
_PATIENCE = 20
"""An application may catch this many ``BeyondBaseline`` errors and continue. After that, ``ReplayEnded``
is raised, which it cannot catch by ``except Exception``."""


class BeyondBaseline(Exception):
    """This error is raised in a replay that exceeds its limits."""


class ReplayEnded(BaseException):
    """This error ends a replay that continues although its calls raise errors. It derives from
    BaseException, so ``except Exception`` in the application does not catch it."""


class Extent(NamedTuple):
    """An ``Extent`` counts the requests to models, tool calls and retrievals of a run. ``steps``: the
    largest number of steps that one graph of the run took, in frameworks that run graphs."""

    requests: int = 0
    tool_calls: int = 0
    steps: int = 0
    retrievals: int = 0


def checked_factor(factor: float | None) -> float | None:
    """Returns the factor. Raises InvalidInput unless it is None or a number of at least 1."""
    good = factor is None or (type(factor) in {int, float} and isfinite(factor) and factor >= 1)
    if not good:
        raise InvalidInput(
            f"replay_bound is {factor!r}; give a number, 1 or more, such as 5 (a replay may make 5 times "
            "the baseline's model requests), or None for no bound"
        )
    return factor


@dataclass(slots=True, eq=False)
class Bound:
    """A ``Bound`` counts what one replay does, and raises an error when the replay exceeds its limits.
    Thread-safe.

    ``most``: the largest allowed counts; ``baseline``: the counts of the baseline, for messages.
    ``kept``: the number of sources of the replay. ``passed``: the message that says which limit was
    exceeded; empty as long as none was.
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
        """Returns the bound of a replay on the sources ``kept``. The number of requests is unlimited if
        the baseline sent none."""
        most = Extent(
            ceil(factor * baseline.requests),
            max(FEWEST_TOOL_CALLS, ceil(factor * baseline.tool_calls)),
            max(FEWEST_STEPS, ceil(factor * baseline.steps)),
            max(FEWEST_RETRIEVALS, ceil(factor * baseline.retrievals)),
        )
        return cls(most, baseline, len(kept))

    def check_requests(self, made: int) -> None:
        """Raises BeyondBaseline if ``made``, the number of requests including the next one, exceeds the
        limit; ReplayEnded if the application has caught this error too often. Called before each request
        is sent."""
        if self.most.requests and made > self.most.requests:
            self._refuse("model requests", self.most.requests, self.baseline.requests)

    def count_tool_call(self) -> None:
        """Counts a tool call. Raises BeyondBaseline if there are now more calls than the limit allows;
        ReplayEnded if the application has caught this error too often."""
        with self._guard:
            self._tool_calls += 1
            too_many = self._tool_calls > self.most.tool_calls
        if too_many:
            self._refuse("tool calls", self.most.tool_calls, self.baseline.tool_calls)

    def check_retrievals(self, made: int) -> None:
        """Raises BeyondBaseline if ``made``, the number of retrievals including the next one, exceeds the
        limit; ReplayEnded if the application has caught this error too often. Called before each
        retrieval is answered."""
        if made > self.most.retrievals:
            self._refuse("retrievals", self.most.retrievals, self.baseline.retrievals)

    def check_steps(self, taken: int) -> None:
        """Raises BeyondBaseline if ``taken``, the number of steps of one graph, exceeds the limit;
        ReplayEnded if the application has caught this error too often."""
        if taken > self.most.steps:
            self._refuse("steps", self.most.steps, self.baseline.steps)

    def _refuse(self, what: str, most: int, baseline: int) -> None:
        with self._guard:
            self.passed = self.passed or self._message(what, most, baseline)
            self._refused += 1
            patient = self._refused <= _PATIENCE
        if patient:
            raise BeyondBaseline(self.passed)
        raise ReplayEnded(self.passed)

    def _message(self, what: str, most: int, baseline: int) -> str:
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
    """Returns the seconds that a replay may take. ``baseline``: the seconds that the baseline took;
    ``factor``: the option ``replay_bound``."""
    return max(FEWEST_SECONDS, _SECONDS * factor * baseline)
