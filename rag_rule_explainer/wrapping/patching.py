"""Replaces methods on classes while somebody explains, and never longer.

Each method is replaced on a root class and on every loaded subclass that defines it; afterwards each
class is as it was. What the replacements do is told by the rooms that know; all of them call through
where nothing is going on, so other traffic is untouched.
"""

import re
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
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


_HOOK = "__init_subclass__"


class Patches:
    """Replaces what the interceptions name, for as long as somebody needs it. Thread-safe."""

    def __init__(self, interceptions: Iterable[Interception]) -> None:
        self._interceptions = tuple(interceptions)
        self._lock = threading.RLock()
        self._users = 0
        self._known: set[tuple[Interception, type]] = set()
        # (class, method name) -> (the method as it was, None if it had none; our replacement)
        self._wrapped: dict[tuple[type, str], tuple[Any, Any]] = {}

    @property
    def active(self) -> bool:
        """True while somebody needs it."""
        return self._users > 0

    @contextmanager
    def intercepting(self) -> Generator[None, None, None]:
        """The methods are replaced inside this block. Nests, and is shared."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def start(self) -> None:
        """To be followed by ``stop``, from whatever thread."""
        with self._lock:
            self._users += 1
        self.wrap_loaded_classes()

    def stop(self) -> None:
        """Once for each ``start``; the last one makes every class what it was."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self._unwrap()

    def wrap_loaded_classes(self) -> None:
        """Also those whose root was loaded since the last time; nothing once nobody explains."""
        with self._lock:
            # A replay that an aborted explanation left behind may come late.
            for interception in self._interceptions if self._users else ():
                for owner in interception.classes():
                    if (interception, owner) not in self._known:
                        self._known.add((interception, owner))
                        self._wrap(owner, interception)

    def _wrap(self, owner: type, interception: Interception) -> None:
        if owner.__name__ == interception.owner and (owner, _HOOK) not in self._wrapped:
            self._hook(owner)
        for name, method in list(vars(owner).items()):
            replaceable = callable(method) and (owner, name) not in self._wrapped
            if replaceable and interception.names.fullmatch(name):
                replacement = interception.wrapping(name, method)
                self._wrapped[owner, name] = (method, replacement)
                setattr(owner, name, replacement)

    def _hook(self, root: type) -> None:
        """Subclasses defined from now on, by an import in the middle of a run, are seen at once."""
        original = vars(root).get(_HOOK)

        def init_subclass(cls: type, **kwargs: Any) -> None:
            if original is None:
                super(root, cls).__init_subclass__(**kwargs)
            else:
                original.__func__(cls, **kwargs)
            self.wrap_loaded_classes()

        hook: Any = classmethod(init_subclass)  # pyright: ignore[reportUnknownVariableType]
        self._wrapped[root, _HOOK] = (original, hook)
        setattr(root, _HOOK, hook)

    def _unwrap(self) -> None:
        for (owner, name), (method, replacement) in self._wrapped.items():
            # Somebody may have wrapped ours meanwhile; ours is inert, so theirs stays as it is.
            if vars(owner).get(name) is not replacement:
                continue
            if method is None:
                delattr(owner, name)
            else:
                setattr(owner, name, method)
        self._wrapped.clear()
        self._known.clear()
