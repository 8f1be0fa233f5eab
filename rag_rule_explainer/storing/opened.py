"""This module opens stores: one writer per process and database, shared by all threads and event
loops."""

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
"""The writers and the identity of their file, by process id and database.

A forked child has the parent's memory but not its thread; a file that was deleted and made again is
another.
"""


class Opened:
    """An Opened is an open store. Its methods may be awaited on any event loop, on several at once."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._namespace = packed(store.named)

    def check_there(self) -> None:
        """Checks that the stored answers are in the file that later users will open. Raises
        StoreFailed."""
        self._writer.database.check_there()

    def answers(self, question: str) -> QuestionAnswers:
        """Returns the answers to one question. ``question``: a text with everything that they depend on
        except sources."""
        return QuestionAnswers(self._writer, self._store.named, question, self._store.lease)

    def stored_answers(
        self, question: str, key_of: Callable[[tuple[str, ...]], Hashable | None]
    ) -> list[tuple[tuple[str, ...], Answer]]:
        """Returns the ids and the answer of each stored answer to a question, in order of arrangements;
        blocks.

        ``key_of``: returns the current key of the arrangement with these ids; None without one. Answers
        to other texts under these ids are left out. Raises StoreFailed.
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
        """Returns the judgement of the predicate with this name under a memo key; None if there is none.

        Returns None for keys with other values than plain ones, tuples and frozensets, which have no
        meaning in other processes. Raises StoreFailed.
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
        """Stores a judgement, unless the store has one, and returns once it is committed. Does nothing
        for keys that ``judgement`` does not take. Raises StoreFailed."""
        try:
            key = digest(self._store.named, predicate, memo)
            subject = RowSubject(digest(self._store.named, predicate), self._namespace, packed(predicate))
        except NotStorable:
            return
        loop = asyncio.get_running_loop()
        content = packed_judgement(judgement, key)
        await outcome_of(self._writer, Remember(loop, loop.create_future(), key, subject, content))


def opened_store(store: Store) -> Opened:
    """Returns the store, which is opened once in this process. Raises StoreFailed and MissingExtra."""
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
    """Closes every store of this process, once its queued work is done."""
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
