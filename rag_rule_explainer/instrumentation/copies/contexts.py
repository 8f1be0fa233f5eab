"""This module gives context variables in every replay the values that they had before the baseline.

Replays start from the context that the baseline left, in which the baseline may have set variables. Each
of these variables gets its earlier value back during a replay. A variable that had neither a value nor a
default before the baseline cannot be reset, so replays find the value that the baseline set.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any

Values = dict[ContextVar[Any], Any]


@dataclass(slots=True, eq=False)
class Contexts:
    """A ``Contexts`` resets each context variable that the baseline has set. ``kept``: the variables that
    cannot be reset, because they had no value before the baseline."""

    kept: tuple[ContextVar[Any], ...] = ()
    _before: Values = field(default_factory=Values)
    _left: Values = field(default_factory=Values)

    @contextmanager
    def of_the_baseline(self) -> Generator[None, None, None]:
        """Records which variables the baseline sets. The baseline runs in the block."""
        start = dict(copy_context().items())
        try:
            yield
        finally:
            self._take(start, dict(copy_context().items()))

    @contextmanager
    def as_before(self) -> Generator[None, None, None]:
        """Gives the variables the values that they had before the baseline, for the duration of the
        block."""
        tokens = [(variable, variable.set(value)) for variable, value in self._before.items()]
        try:
            yield
        finally:
            for variable, token in tokens:
                variable.reset(token)

    def put_back(self) -> None:
        """Resets the variables permanently to the values from before the baseline. A variable that no
        longer has the value that the baseline set stays unchanged."""
        now = copy_context()
        for variable, value in self._before.items():
            if variable in now and now[variable] is self._left[variable]:
                variable.set(value)

    def _take(self, start: Values, end: Values) -> None:
        kept: list[ContextVar[Any]] = []
        for variable, value in end.items():
            if variable in start and start[variable] is value:
                continue
            try:
                self._before[variable] = start[variable] if variable in start else _default(variable)
                self._left[variable] = value
            except LookupError:
                kept.append(variable)
        self.kept = tuple(kept)


def _default(variable: ContextVar[Any]) -> Any:
    """Returns the variable's default. Raises LookupError if it has none."""
    return Context().run(variable.get)
