"""Claims that need no database: granted where they are asked for, while this process is alone there."""

import threading
from collections.abc import Collection

from .rows import RowKey, Wish

MOST_KNOWN = 250_000
"""Keys that are known at once: more would take more memory than they save time."""
MOST_READ = 25_000
"""Keys that are read to know a question's: more would take longer than they save time."""


class Grants:
    """What was granted without the database, and what must not be.

    A question is open while every key of it that has a row, or is being made or asked for, is known here;
    then any other one is nobody's. Which holds only while nobody else writes: whoever is not alone any
    more closes all questions first. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._questions: dict[str, bool] = {}  # whether they are open, or too large to be
        self._known: set[RowKey] = set()
        self._granted: dict[RowKey, Wish] = {}

    def __len__(self) -> int:
        return len(self._granted)

    def grant(self, wish: Wish) -> bool:
        """Grants the claim, unless the database, or who else wants it, has to be asked."""
        key = wish.key
        with self._lock:
            if not self._questions.get(wish.question.digest) or key in self._known:
                return False
            self._known.add(key)
            self._granted[key] = wish
        return True

    def granted(self, key: RowKey) -> Wish | None:
        """Returns what was granted under the key; where nothing was, nothing will be."""
        with self._lock:
            wish = self._granted.get(key)
            if wish is None and self._questions:
                self._known.add(key)
        return wish

    def is_new(self, question: str) -> bool:
        """Returns True iff it is worth opening."""
        return question not in self._questions

    def open(self, question: str, keys: Collection[RowKey]) -> None:
        """From now on, claims to other answers of the question are granted, unless there are too many.

        ``keys``: those that have a row, or are being made through the database.
        """
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._questions.clear()
                self._known = set(self._granted)
            self._questions[question] = len(keys) < MOST_READ
            if self._questions[question]:
                self._known.update(keys)

    def close(self) -> list[Wish]:
        """From now on, nothing is granted; what was, and is not ended yet."""
        with self._lock:
            self._questions.clear()
            self._known = set(self._granted)
            return list(self._granted.values())

    def end(self, key: RowKey) -> bool:
        """Forgets a claim that was settled or has a row now; False where it was not granted here."""
        return self._granted.pop(key, None) is not None

    def forked(self) -> None:
        """In a child: everything was the parent's. The lock may be held by a thread that is not here."""
        self.__init__()
