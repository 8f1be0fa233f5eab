"""What an application remembers: every run reads what the baseline read, and writes to a copy.

The integrations know whose methods are replaced for that. The first read of each thing in the baseline is
kept; a run on copies starts from that, and what it writes is gone with it.
"""

import threading
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from .copying import copied


class Same:
    """A key for one very object, which it keeps alive: no other may come by its address."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(slots=True, eq=False)
class State:
    """The state that one run sees. ``live``: it writes to the real things, as an ordinary run does.

    ``before``: what each thing held when the baseline first read it.
    """

    live: bool = False
    before: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _copies: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _lock: Any = field(default_factory=threading.RLock)

    def of_a_replay(self) -> "State":
        """The state of a run on copies of what this one first read."""
        return State(before=self.before)

    def read(self, key: Hashable, reading: Callable[[], Any]) -> Any:
        """What was there before; ``reading`` is asked the first time."""
        with self._lock:
            if key not in self.before:
                self.before[key] = copied(reading())
            return copied(self.before[key])

    async def aread(self, key: Hashable, reading: Callable[[], Awaitable[Any]]) -> Any:
        """The same, where reading has to be awaited."""
        if key not in self.before:
            # Whoever reads at the same time reads the same.
            self.before.setdefault(key, copied(await reading()))
        return copied(self.before[key])

    def own(self, key: Hashable, making: Callable[[], Any]) -> Any:
        """This run's own copy, made the first time."""
        with self._lock:
            if key not in self._copies:
                self._copies[key] = making()
            return self._copies[key]

    def owns(self, thing: object) -> bool:
        """True for one of this run's own copies."""
        return any(thing is copy for copy in self._copies.values())
