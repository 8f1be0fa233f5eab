"""Replaces methods on classes while somebody explains, and never longer.

Each method is replaced on a root class and on every loaded subclass that defines it; afterwards each
class is as it was. What the replacements do is told by the rooms that know (``retrieval``, ``tools``,
``state``); all of them call through where nothing is going on, so other traffic is untouched.
"""

import re
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

Wrapping: TypeAlias = Callable[[str, Any], Any]
"""(method name, the method) -> its replacement."""


@dataclass(frozen=True, slots=True)
class Interception:
    """Methods of a root class, named by a pattern; the class is looked up when it has been imported."""

    module: str
    owner: str
    names: re.Pattern[str]
    wrapping: Wrapping

    def classes(self) -> Iterator[type]:
        """The root class and all its loaded subclasses; none before its module is loaded."""
        root = getattr(sys.modules.get(self.module), self.owner, None)
        if not isinstance(root, type):
            return
        seen: set[type] = set()
        waiting = [root]
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                yield current
                waiting.extend(type.__subclasses__(current))


_lock = threading.Lock()
_interceptions: list[Interception] = []
_users = 0
_known: set[tuple[int, type]] = set()
_wrapped: dict[tuple[type, str], tuple[Any, Any]] = {}
"""(class, method name) -> (the method as it was, our replacement)."""


def intercept(interceptions: Sequence[Interception]) -> None:
    """Registers what is to be replaced from the next explanation on."""
    _interceptions.extend(interceptions)


@contextmanager
def intercepting() -> Generator[None, None, None]:
    """The methods are replaced inside this block. Nests, and is shared."""
    start_intercepting()
    try:
        yield
    finally:
        stop_intercepting()


def start_intercepting() -> None:
    """To be followed by ``stop_intercepting``, from whatever thread."""
    global _users  # noqa: PLW0603 -- the classes it counts the users of are global too
    with _lock:
        _users += 1
    wrap_loaded_classes()


def stop_intercepting() -> None:
    """Once for each ``start_intercepting``; the last one makes every class what it was."""
    global _users  # noqa: PLW0603
    with _lock:
        _users -= 1
        if not _users:
            _unwrap()


def wrap_loaded_classes() -> None:
    """Also those that were loaded since the last time; nothing once nobody explains."""
    with _lock:
        # A replay that an aborted explanation left behind may come late.
        for place, interception in enumerate(_interceptions) if _users else ():
            for owner in interception.classes():
                if (place, owner) not in _known:
                    _known.add((place, owner))
                    _wrap(owner, interception)


def _wrap(owner: type, interception: Interception) -> None:
    for name, method in list(vars(owner).items()):
        if interception.names.fullmatch(name) and callable(method) and (owner, name) not in _wrapped:
            replacement = interception.wrapping(name, method)
            _wrapped[owner, name] = (method, replacement)
            setattr(owner, name, replacement)


def _unwrap() -> None:
    for (owner, name), (method, replacement) in _wrapped.items():
        # Somebody may have wrapped ours meanwhile; ours is inert, so theirs stays as it is.
        if vars(owner).get(name) is replacement:
            setattr(owner, name, method)
    _wrapped.clear()
    _known.clear()
