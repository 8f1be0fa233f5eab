"""Variables of the environment: every replay finds those that the baseline found.

What the baseline set is taken back before a replay, and what a replay set after it, so that the process
is left as the user's own run left it. All of a process share them, so this is for one run at a time.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Environment:
    """Knows which variables runs set, and what these were before the first run that did.

    ``raced``: a variable that was set while other runs may have gone on; empty for none.
    """

    _before: dict[str, str | None] = field(default_factory=dict[str, str | None])
    raced: str = ""

    @property
    def first(self) -> str:
        """Returns the first one that a run set; empty where none did."""
        return next(iter(self._before), "")

    def note(self, name: str, *, alone: bool) -> None:
        """Notes that a run is about to set this one. ``alone``: no other replay goes on."""
        self._before.setdefault(name, os.environ.get(name))
        if not alone:
            self.raced = self.raced or name

    @contextmanager
    def as_before(self) -> Generator[None, None, None]:
        """Around a replay that is made alone: it finds what the baseline found."""
        left = {name: os.environ.get(name) for name in self._before}
        _set(self._before)
        try:
            yield
        finally:
            _set({**self._before, **left})


def _set(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
            os.unsetenv(name)
        else:
            os.environ[name] = value
