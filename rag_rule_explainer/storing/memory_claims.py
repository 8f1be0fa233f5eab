"""This module grants claims in memory, without the database, while this process is alone at it."""

import threading
from collections.abc import Collection

from .rows import RowKey, Wish

MOST_KNOWN = 250_000
"""The number of keys in memory above which they are dropped: more would cost more memory than they save
time."""
MOST_READ = 25_000
"""The number of a question's keys above which they are not read: more would cost more time than they
save."""


class Grants:
    """The Grants are the claims that were granted without the database.

    A question is open while memory has all its keys with a row, with a claim, or with a pending request;
    then any other key is free. This holds only while no other process writes: a process that is not alone
    any more must first close all questions. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._questions: dict[str, bool] = {}  # by digest: True if open, False if too large
        self._known: set[RowKey] = set()
        self._granted: dict[RowKey, Wish] = {}

    def __len__(self) -> int:
        return len(self._granted)

    def grant(self, wish: Wish) -> bool:
        """Returns True iff it grants the claim; otherwise the caller must ask the writer."""
        key = wish.key
        with self._lock:
            if not self._questions.get(wish.question.digest) or key in self._known:
                return False
            self._known.add(key)
            self._granted[key] = wish
        return True

    def granted(self, key: RowKey) -> Wish | None:
        """Returns the granted claim of the key; without one, prevents that it is granted later."""
        with self._lock:
            wish = self._granted.get(key)
            if wish is None and self._questions:
                self._known.add(key)
        return wish

    def is_new(self, question: str) -> bool:
        """Returns True iff the question has not been opened, nor found too large."""
        return question not in self._questions

    def open(self, question: str, keys: Collection[RowKey]) -> None:
        """Opens the question for grants of all other keys, unless it has too many keys. ``keys``: those
        that have a row, or a claim in the database."""
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._questions.clear()
                self._known = set(self._granted)
            self._questions[question] = len(keys) < MOST_READ
            if self._questions[question]:
                self._known.update(keys)

    def close(self) -> list[Wish]:
        """Stops granting, and returns the granted claims that have not ended."""
        with self._lock:
            self._questions.clear()
            self._known = set(self._granted)
            return list(self._granted.values())

    def end(self, key: RowKey) -> bool:
        """Drops a claim that was settled or has a row now; returns False if it was not granted here."""
        return self._granted.pop(key, None) is not None

    def forked(self) -> None:
        """Resets this object in a forked child: the claims and a held lock are the parent's."""
        self.__init__()
