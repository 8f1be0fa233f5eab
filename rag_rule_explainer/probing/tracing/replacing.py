"""This module replaces methods of classes, and restores the original methods when no code needs the
replacements any more."""

import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

MakeReplacement: TypeAlias = Callable[[Any], Any]
"""A function that gets a method and returns its replacement."""


class _Replaced(NamedTuple):
    method: Any
    replacement: Any


class Replacing:
    """This class replaces methods of classes during the blocks of ``on``, and restores them afterwards.
    Thread-safe.

    ``wanted``: a function that returns the methods to replace, each as its class, its name and a function
    that makes the replacement. This function is called at the start of every block, because a class may
    have been imported since the last block.
    """

    def __init__(self, wanted: Callable[[], Iterable[tuple[type, str, MakeReplacement]]]) -> None:
        self._wanted = wanted
        self._guard = threading.Lock()
        self._users = 0
        self._replaced: dict[tuple[type, str], _Replaced] = {}

    @contextmanager
    def on(self) -> Generator[None, None, None]:
        """Replaces the methods during the block. Several blocks may be active at the same time; the
        methods are restored at the end of the last one."""
        with self._guard:
            self._users += 1
            for owner, name, wrapping in self._wanted():
                if (owner, name) not in self._replaced:
                    method = vars(owner)[name]
                    self._replaced[owner, name] = _Replaced(method, wrapping(method))
                    setattr(owner, name, self._replaced[owner, name].replacement)
        try:
            yield
        finally:
            with self._guard:
                self._users -= 1
                if not self._users:
                    self._put_back()

    def _put_back(self) -> None:
        for (owner, name), each in self._replaced.items():
            # Another library may have wrapped the replacement since then. The replacement then cannot be
            # removed and stays; this does no harm, since replacements do nothing outside replays.
            if vars(owner)[name] is each.replacement:
                setattr(owner, name, each.method)
        self._replaced.clear()
