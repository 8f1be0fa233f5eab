"""This module keeps claims (rights to make an answer) in memory only, while no other process uses the
database. This saves a transaction for each answer."""

import threading
from collections.abc import Collection

from .rows import RowKey, Wish

MOST_KNOWN = 250_000
"""The maximum number of keys in memory. If there are more, all are dropped: they would need too much
memory for the time that they save."""
MOST_READ = 25_000
"""A question with this number of stored keys or more never gets claims in memory. Reading its keys
would take longer than such claims save."""


class Grants:
    """This class holds the claims that this process granted in memory only, without the database.

    A question is *open* if memory holds all its keys that have a row, a claim or a pending request. A
    claim for any other key of the question can then be granted at once. This is valid only while no other
    process writes to the database. All questions must therefore be closed before another process begins
    to write. The class is thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The key is the digest of a question. The value is True if the question is open, and False if it
        # has too many keys to be opened.
        self._questions: dict[str, bool] = {}
        self._known: set[RowKey] = set()
        self._granted: dict[RowKey, Wish] = {}

    def __len__(self) -> int:
        return len(self._granted)

    def grant(self, wish: Wish) -> bool:
        """Grants a claim and returns True, if the question is open and nobody has the key. Otherwise
        returns False; the caller must then send a request to the writer (the thread that uses the
        database)."""
        key = wish.key
        with self._lock:
            if not self._questions.get(wish.question.digest) or key in self._known:
                return False
            self._known.add(key)
            self._granted[key] = wish
        return True

    def granted(self, key: RowKey) -> Wish | None:
        """Returns the claim that was granted in memory for this key; None if there is none. After
        None, no claim for the key is granted in memory, because the caller then requests it from the
        database."""
        with self._lock:
            wish = self._granted.get(key)
            if wish is None and self._questions:
                self._known.add(key)
        return wish

    def is_new(self, question: str) -> bool:
        """Returns True iff nobody has yet tried to open this question, that is, to allow claims in
        memory for it."""
        return question not in self._questions

    def open(self, question: str, keys: Collection[RowKey]) -> None:
        """Opens a question: from now on, claims for all its keys except ``keys`` can be granted in
        memory. A question with too many ``keys`` stays closed. ``keys``: the keys that already have an
        answer or a claim."""
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._questions.clear()
                self._known = set(self._granted)
            self._questions[question] = len(keys) < MOST_READ
            if self._questions[question]:
                self._known.update(keys)

    def close(self) -> list[Wish]:
        """Closes all questions, so that no claim is granted in memory any more. Returns the claims
        that were granted in memory and have not ended."""
        with self._lock:
            self._questions.clear()
            self._known = set(self._granted)
            return list(self._granted.values())

    def end(self, key: RowKey) -> bool:
        """Removes a claim that has ended, or that now has a row in the database. Returns False if the
        claim was not granted in memory."""
        return self._granted.pop(key, None) is not None

    def forked(self) -> None:
        """Resets this object in a forked child. The claims belong to the parent. The lock may belong
        to a thread of the parent, which never releases it in the child."""
        self.__init__()
