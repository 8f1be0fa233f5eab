"""This module notes which environment variables the tools of the baseline read and set, whichever way
their code or a library does it.

A tool that does not run in a replay would read the same there, if these variables have the same values.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..isolation.unheard import unheard_by_hook

ALL_NAMES = ""
"""This stands for the names of all variables."""
_SETTING = frozenset({"os.putenv", "os.unsetenv"})


@dataclass(slots=True, eq=False)
class CallVariables:
    """A ``CallVariables`` holds the environment variables that one call of a tool has used. ``before``:
    the value of each before the call first used it, None if it was not set; ``read``: those that the call
    read, and had not set itself. ``outer``: those of the tool that made the call; None if no tool made
    it."""

    before: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    read: set[str] = field(default_factory=set[str])
    outer: "CallVariables | None" = None
    _own: set[str] = field(default_factory=set[str])

    def note(self, name: str, *, reads: bool) -> None:
        """Records that the tool is about to use a variable. ``reads``: False if it sets or deletes it."""
        self.before.setdefault(name, _present(name))
        if not reads:
            self._own.add(name)
        elif name not in self._own:
            self.read.add(name)
        if self.outer is not None:
            self.outer.note(name, reads=reads)

    def note_all(self) -> None:
        """Records that the tool is about to read all variables."""
        with unheard_by_hook():
            names = [*os.environ]
        for each in (ALL_NAMES, *names):
            self.note(each, reads=True)

    def note_event(self, event: str, given: tuple[Any, ...]) -> None:
        """Records what the tool is about to do. ``event``, ``given``: an audit event and its arguments. A
        process that is given no environment may read all variables."""
        if event in _SETTING:
            self.note(os.fsdecode(given[0]), reads=False)
        elif event == "os.system" or (event == "subprocess.Popen" and given[3] is None):
            self.note_all()

    def now(self) -> Mapping[str, str | None]:
        """Returns the present values of these variables."""
        return {name: _present(name) for name in self.before}


def _present(name: str) -> str | None:
    with unheard_by_hook():
        return "\n".join(sorted(os.environ)) if name == ALL_NAMES else os.environ.get(name)
