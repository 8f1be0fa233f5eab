"""This module grants claims (rights to make an answer) in memory only, while no other process uses the
database. This saves a transaction per answer."""

import threading
from collections.abc import Collection

from .rows import RowKey, Wish

MOST_KNOWN = 250_000
"""If there are more keys than this in memory, they are dropped. More would need too much memory for the
time that they save."""
MOST_READ = 25_000
"""A question with this number of keys or more is never opened for grants, since to read them would take
longer than grants save."""


class Grants:
    """The Grants are the claims that were granted in memory only, without the database.

    A question is *open* while all its keys that have a row, a claim or a pending request are known in
    memory. A claim for any other key can then be granted at once. This is valid only while no other
    process writes to the database, so all questions must be closed before another process may begin.
    Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # By the digest of the question: True if it is open, False if it has too many keys.
        self._questions: dict[str, bool] = {}
        self._known: set[RowKey] = set()
        self._granted: dict[RowKey, Wish] = {}

    def __len__(self) -> int:
        return len(self._granted)

    def grant(self, wish: Wish) -> bool:
        """Grants the claim and returns True if the question is open and the key is free. Otherwise
        returns False, and the caller must send a request to the writer."""
        key = wish.key
        with self._lock:
            if not self._questions.get(wish.question.digest) or key in self._known:
                return False
            self._known.add(key)
            self._granted[key] = wish
        return True

    def granted(self, key: RowKey) -> Wish | None:
        """Returns the claim that was granted in this process for this key; None if there is none. After
        None, no claim is granted for the key in this process, since the caller now requests it from the
        database."""
        with self._lock:
            wish = self._granted.get(key)
            if wish is None and self._questions:
                self._known.add(key)
        return wish

    def is_new(self, question: str) -> bool:
        """Returns True iff it is not known yet whether this question can be opened for grants."""
        return question not in self._questions

    def open(self, question: str, keys: Collection[RowKey]) -> None:
        """Opens a question: from now on, claims for keys of it other than ``keys`` can be granted. Does
        not open it if there are too many ``keys``. ``keys``: those with an answer or a claim already."""
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._questions.clear()
                self._known = set(self._granted)
            self._questions[question] = len(keys) < MOST_READ
            if self._questions[question]:
                self._known.update(keys)

    def close(self) -> list[Wish]:
        """Closes all questions, so that no claim is granted any more. Returns the claims that were
        granted and have not ended."""
        with self._lock:
            self._questions.clear()
            self._known = set(self._granted)
            return list(self._granted.values())

    def end(self, key: RowKey) -> bool:
        """Removes a claim that is settled or has a row in the database now. Returns False if the claim
        was not granted in memory."""
        return self._granted.pop(key, None) is not None

    def forked(self) -> None:
        """Resets this object in a forked child. The claims belong to the parent, and the lock may be held
        by one of the parent's threads for ever."""
        self.__init__()
