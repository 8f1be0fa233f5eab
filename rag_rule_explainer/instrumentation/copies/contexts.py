"""Variables of the context: every replay finds those that the baseline found.

What the baseline set in the context that replays are made from is set back around each of them. A
variable that had no value and no default cannot be set back: replays find what the baseline set.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any

Values = dict[ContextVar[Any], Any]


@dataclass(slots=True, eq=False)
class Contexts:
    """Knows which variables the baseline set. ``kept``: those that replays find as it left them."""

    kept: tuple[ContextVar[Any], ...] = ()
    _before: Values = field(default_factory=Values)

    @contextmanager
    def of_the_baseline(self) -> Generator[None, None, None]:
        """Learns what the baseline sets, around it."""
        start = dict(copy_context().items())
        try:
            yield
        finally:
            self._take(start, dict(copy_context().items()))

    @contextmanager
    def as_before(self) -> Generator[None, None, None]:
        """Sets that back, around a replay."""
        tokens = [(variable, variable.set(value)) for variable, value in self._before.items()]
        try:
            yield
        finally:
            for variable, token in tokens:
                variable.reset(token)

    def _take(self, start: Values, end: Values) -> None:
        kept: list[ContextVar[Any]] = []
        for variable, value in end.items():
            if variable in start and start[variable] is value:
                continue
            try:
                self._before[variable] = start[variable] if variable in start else _default(variable)
            except LookupError:
                kept.append(variable)
        self.kept = tuple(kept)


def _default(variable: ContextVar[Any]) -> Any:
    """Returns what it has where nobody set it. Raises LookupError where it has nothing then."""
    return Context().run(variable.get)
