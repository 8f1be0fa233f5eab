"""This module gives environment variables in every replay the values that they had before the baseline.

After a replay, the variables get back the values that they had when the replay began. The whole process
shares the environment, so replays that restore variables run one at a time.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Environment:
    """An ``Environment`` stores the environment variables that runs set, each with its value from before
    a run first set it.

    ``raced``: the name of a variable that one run set while other runs may have been active, so that the
    other runs may have read a wrong value; empty if there is no such variable.
    """

    _before: dict[str, str | None] = field(default_factory=dict[str, str | None])
    raced: str = ""

    @property
    def first(self) -> str:
        """Returns the name of the environment variable that a run set first; empty if no run set any."""
        return next(iter(self._before), "")

    def note(self, name: str, *, alone: bool) -> None:
        """Records the present value of a variable that a run is about to set. ``alone``: True if no other
        run is active."""
        self._before.setdefault(name, os.environ.get(name))
        if not alone:
            self.raced = self.raced or name

    @contextmanager
    def as_before(self) -> Generator[None, None, None]:
        """Restores the values from before the baseline while a replay runs in the block. At the end, the
        values from the beginning of the block come back. No other replay may run meanwhile."""
        left = {name: os.environ.get(name) for name in self._before}
        _set(self._before)
        try:
            yield
        finally:
            _set({**self._before, **left})

    def put_back(self) -> None:
        """Restores the values from before the baseline permanently."""
        _set(self._before)


def _set(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
            os.unsetenv(name)
        else:
            os.environ[name] = value
