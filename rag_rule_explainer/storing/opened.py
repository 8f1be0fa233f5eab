"""This module opens stores. Each process has one writer per database: a thread that does all work with
it, for all threads and event loops."""

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
"""The writers, each with the identity of its SQLite file, by process id and database.

A forked child inherits this dictionary but not the threads of the writers, so it needs writers of its
own. If a file was deleted and made anew, its identity differs, so it needs a new writer too.
"""


class Opened:
    """An Opened is an open store. Its methods may be awaited on any event loop, and on several loops at
    the same time."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._namespace = packed(store.named)

    def check_there(self) -> None:
        """Raises StoreFailed if the file of the store was deleted or replaced: later explanations would
        then not find the stored answers."""
        self._writer.database.check_there()

    def answers(self, question: str) -> QuestionAnswers:
        """Returns the access to the answers to one question. ``question``: a text that contains
        everything on which the answers depend, except the sources."""
        return QuestionAnswers(self._writer, self._store.named, question, self._store.lease)

    def stored_answers(
        self, question: str, key_of: Callable[[tuple[str, ...]], Hashable | None]
    ) -> list[tuple[tuple[str, ...], Answer]]:
        """Returns the stored answers to a question, each with the ids of its sources, ordered by the
        digest of the arrangement. Blocks.

        ``key_of``: returns the key of the arrangement of the sources with these ids; None if there is
        none. An answer is left out if the sources had other texts when it was made. Raises StoreFailed.
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

        ``predicate``: its name. ``memo``: the memo key of the case. Only keys of plain values, tuples and
        frozensets can be stored, since other objects have no meaning in other processes; for other keys,
        the result is None. Raises StoreFailed.
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
        """Stores a judgement, unless the store has one under this key, and returns once it is committed.
        Does nothing for a memo key that cannot be stored. Raises StoreFailed."""
        try:
            key = digest(self._store.named, predicate, memo)
            subject = RowSubject(digest(self._store.named, predicate), self._namespace, packed(predicate))
        except NotStorable:
            return
        loop = asyncio.get_running_loop()
        content = packed_judgement(judgement, key)
        await outcome_of(self._writer, Remember(loop, loop.create_future(), key, subject, content))


def opened_store(store: Store) -> Opened:
    """Opens a store and returns it. If this process has the database open already, the same writer is
    used. Raises StoreFailed and MissingExtra."""
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
    """Closes all stores of this process. The requests that are queued are done first."""
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
