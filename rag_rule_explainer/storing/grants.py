"""Claims that need no database: granted where they are asked for, while this process is alone there."""

import threading
from collections.abc import Iterable

from .rows import Key, Wish

MOST_KNOWN = 250_000
"""Keys that are known at once: more would take more memory than they save time."""


class Grants:
    """What was granted without the database, and what must not be.

    A question is open while every key of it that has a row, or is being made or asked for, is known here;
    then any other one is nobody's. Which holds only while nobody else writes: whoever is not alone any
    more closes all questions first. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[str] = set()
        self._known: set[Key] = set()
        self._granted: dict[Key, Wish] = {}

    def __len__(self) -> int:
        return len(self._granted)

    def grant(self, wish: Wish) -> bool:
        """Grants the claim, unless the database, or who else wants it, has to be asked."""
        key = wish.key
        with self._lock:
            if wish.question.digest not in self._open or key in self._known or key in self._granted:
                return False
            self._known.add(key)
            self._granted[key] = wish
        return True

    def granted(self, key: Key) -> Wish | None:
        """What was granted under the key; where nothing was, nothing will be."""
        with self._lock:
            wish = self._granted.get(key)
            if wish is None:
                self._known.add(key)
        return wish

    def is_open(self, question: str) -> bool:
        """True iff claims to answers of this question may be granted without the database."""
        return question in self._open

    def open(self, question: str, keys: Iterable[Key]) -> None:
        """From now on, claims to all other answers of the question are granted.

        ``keys``: those that have a row, or are being made through the database.
        """
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._open.clear()
                self._known = set()
            self._known.update(keys)
            self._known.update(self._granted)
            self._open.add(question)

    def close(self) -> list[Wish]:
        """From now on, nothing is granted; what was, and is not ended yet."""
        with self._lock:
            self._open.clear()
            self._known = set()
            return list(self._granted.values())

    def end(self, key: Key) -> bool:
        """Forgets a claim that was settled or has a row now; False where it was not granted here."""
        return self._granted.pop(key, None) is not None

    def forked(self) -> None:
        """In a child: everything was the parent's. The lock may be held by a thread that is not here."""
        self.__init__()
