"""This module opens stores. Each process has one *writer* for each database: a thread that does all
work with the database for all other threads and event loops."""

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Hashable

from ..verdicts import Answer, Judgement
from .address import Address
from .answers import QuestionAnswers, outcome_of
from .database import Database, file_at
from .digests import KeyDigests, NotStorable, digest
from .encoding import packed, packed_judgement, unpacked_answer, unpacked_ids, unpacked_judgement
from .listing import answers_to
from .requests import Recall, Remember
from .rows import RowSubject
from .store import Store
from .writer import Writer

_opening = threading.Lock()
_writers: dict[tuple[int, str], tuple[Writer, object]] = {}
"""The writers, by process id and database. Each is stored with the identity of its SQLite file.

A forked child inherits this dictionary but not the writers' threads, so it needs writers of its own. If a
file was deleted and made anew, the new file has another identity and needs a new writer.
"""


class Opened:
    """An ``Opened`` is an open store. Its methods may be awaited on any event loop, also on several
    event loops at the same time."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._namespace = packed(store.named)

    def check_there(self) -> None:
        """Raises StoreFailed if the file of the store was deleted or replaced. Later explanations
        would not find the answers that are stored in a deleted file."""
        self._writer.database.check_there()

    def answers(self, question: str) -> QuestionAnswers:
        """Returns the object that gives access to the answers to one question. ``question``: a text
        with everything on which the answers depend, except the sources."""
        return QuestionAnswers(self._writer, self._store.named, question, self._store.lease)

    def stored_answers(
        self, question: str, key_of: Callable[[tuple[str, ...]], Hashable | None]
    ) -> list[tuple[tuple[str, ...], Answer]]:
        """Returns the stored answers to a question, each with the ids of its sources. This blocks the
        thread. The order does not depend on when the answers were stored.

        ``key_of``: returns the key for an arrangement of the sources with these ids; None if there are no
        such sources. An answer is left out if its sources had other texts when it was made. Raises
        StoreFailed.
        """
        namespace, database = self._store.named, self._writer.database
        keys = KeyDigests(namespace, question)
        found: list[tuple[tuple[str, ...], Answer]] = []
        for arrangement, packed_ids, content in answers_to(database, digest(namespace, question)):
            ids = database.decoded(unpacked_ids, packed_ids)
            key = key_of(ids)
            if key is not None and keys.of(key) == arrangement:
                found.append((ids, database.decoded(unpacked_answer, content, arrangement)))
        return found

    async def judgement(self, predicate: str, memo: Hashable) -> Judgement | None:
        """Returns the stored judgement of a predicate; None if there is none.

        ``predicate``: the name of the predicate. ``memo``: the memo key of the case that was judged. Only
        plain values, tuples and frozensets mean the same in other processes; for any other ``memo``, the
        result is None. Raises StoreFailed.
        """
        try:
            key = digest(self._store.named, predicate, memo)
        except NotStorable:
            return None
        loop = asyncio.get_running_loop()
        content = await outcome_of(self._writer, Recall(loop, loop.create_future(), key))
        if content is None:
            return None
        return self._writer.database.decoded(unpacked_judgement, content, key)

    async def put_judgement(self, predicate: str, memo: Hashable, judgement: Judgement) -> None:
        """Stores a judgement and returns when it is committed. Does nothing if the store already has a
        judgement under this key, or if the memo key cannot be stored. Raises StoreFailed."""
        try:
            key = digest(self._store.named, predicate, memo)
            subject = RowSubject(digest(self._store.named, predicate), self._namespace, packed(predicate))
        except NotStorable:
            return
        loop = asyncio.get_running_loop()
        content = packed_judgement(judgement, key)
        await outcome_of(self._writer, Remember(loop, loop.create_future(), key, subject, content))


def opened_store(store: Store) -> Opened:
    """Opens a store and returns it. If this process already has the database open, the same writer is
    used. Raises StoreFailed, and MissingExtra if a package is not installed."""
    address = Address.of(store.url)
    key = os.getpid(), address.identity
    with _opening:
        writer, file = _writers.get(key, (None, None))
        if writer is None or not writer.serves or file != _file(address):
            if writer is not None:
                writer.stop()
            database = Database(address)
            database.prepare()
            writer = Writer(database)
            _writers[key] = writer, _file(address)
        return Opened(store, writer)


def close_all() -> None:
    """Closes all stores of this process. The requests in their queues are done first."""
    with _opening:
        ours = [key for key in _writers if key[0] == os.getpid()]
        writers = [_writers.pop(key)[0] for key in ours]
    for writer in writers:
        writer.stop()


def _file(address: Address) -> object:
    return file_at(address.target) if address.dialect == "sqlite" else None


def _forked() -> None:
    global _opening  # noqa: PLW0603 -- a thread of the parent may hold the old lock for ever
    _opening = threading.Lock()
    for writer, _ in _writers.values():
        writer.forked()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
