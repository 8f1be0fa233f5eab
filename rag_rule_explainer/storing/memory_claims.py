"""This module keeps claims (rights to make an answer) in memory, without writing them to the database.
This saves a transaction for each answer. Claims are kept in memory only while no other process uses the
database, because other processes could not see such claims."""

import threading
from collections.abc import Collection

from .rows import RowKey, Wish

MOST_KNOWN = 250_000
"""The maximum number of keys (one for each answer) in memory. With more, the keys would need too much
memory for the time that they save. ``Grants`` then closes all questions, which must be opened again."""
MOST_READ = 25_000
"""A question with at least this number of stored answers gets no claims (rights to make an answer) in
memory. Before it could get any, the keys of all its stored answers would have to be read, which takes
more time than claims in memory save."""


class Grants:
    """A ``Grants`` holds the claims (rights to make an answer) that this process has in memory only, not
    in the database. It is thread-safe.

    Each answer to a question has a *key*. A question is *open* if memory holds all its keys for which
    there is an answer, a claim, or a request for a claim. For any other key of an open question, this
    object can grant a claim without asking the database. Such a claim is valid only as long as no other
    process writes to the database. All questions must therefore be closed before another process begins
    to write.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # This dict has, by the digest of a question, True if the question is open, and False if it has
        # too many keys to be opened. A question that nobody tried to open is not in the dict.
        self._questions: dict[str, bool] = {}
        self._known: set[RowKey] = set()
        self._granted: dict[RowKey, Wish] = {}

    def __len__(self) -> int:
        return len(self._granted)

    def grant(self, wish: Wish) -> bool:
        """Grants the claim for ``wish`` (the right to make this answer) in memory and returns True, if
        the question is open and the key has neither an answer nor a claim. Otherwise returns False; the
        caller must then send a request to the writer (the thread that uses the database)."""
        key = wish.key
        with self._lock:
            if not self._questions.get(wish.question.digest) or key in self._known:
                return False
            self._known.add(key)
            self._granted[key] = wish
        return True

    def granted(self, key: RowKey) -> Wish | None:
        """Returns the claim (the right to make an answer) that was granted in memory for this key; None
        if there is none. The caller that gets None must request the claim from the database. From then
        on, ``grant`` refuses this key, so that no other caller gets the claim at the same time."""
        with self._lock:
            wish = self._granted.get(key)
            if wish is None and self._questions:
                self._known.add(key)
        return wish

    def is_new(self, question: str) -> bool:
        """Returns True iff no caller has tried to open this question since all questions were last
        closed."""
        return question not in self._questions

    def open(self, question: str, keys: Collection[RowKey]) -> None:
        """Opens a question: from now on, ``grant`` can grant claims (rights to make an answer) for its
        keys, except for ``keys``. A question with too many ``keys`` is not opened, and all its claims
        need the database. ``keys``: the keys that already have an answer or a claim."""
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._questions.clear()
                self._known = set(self._granted)
            self._questions[question] = len(keys) < MOST_READ
            if self._questions[question]:
                self._known.update(keys)

    def close(self) -> list[Wish]:
        """Closes all questions, so that ``grant`` grants nothing any more. Returns the claims (rights to
        make an answer) in memory that have not ended. Only this process knows these claims. Before
        another process begins to write, the caller must write them to the database."""
        with self._lock:
            self._questions.clear()
            self._known = set(self._granted)
            return list(self._granted.values())

    def end(self, key: RowKey) -> bool:
        """Removes the claim (the right to make an answer) for this key from memory, because it has ended
        or was written to the database. Returns False if there was none in memory."""
        return self._granted.pop(key, None) is not None

    def forked(self) -> None:
        """Resets this object in a forked child, because the claims (rights to make an answer) belong to
        the parent. The lock is replaced too: a thread of the parent may have held it, and that thread
        does not exist in the child."""
        self.__init__()
