"""This module opens stores. For each database, a process has one *writer*: a thread that does all work
with the database for the other threads and event loops."""

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
from .writer import Writer

_opening = threading.Lock()
_writers: dict[tuple[int, str], tuple[Writer, object]] = {}
"""The writers of this process, by process id and database. Each is stored with the identity of its SQLite
file.

The process id is part of the key because a forked child inherits this dictionary without the writers'
threads, and so needs writers of its own. The identity shows whether the file was deleted and made anew,
because the new file needs a new writer.
"""


class Opened:
    """An ``Opened`` is an open store. Its methods may be called on several event loops at the same
    time. ``namespace`` and ``lease`` are those of ``Store``."""

    def __init__(self, writer: Writer, namespace: str, lease: float) -> None:
        self._writer = writer
        self._namespace = namespace
        self._lease = lease

    def check_there(self) -> None:
        """Raises StoreFailed if the file of the store was deleted or replaced. Otherwise answers would go
        to a file that no later explanation finds."""
        self._writer.database.check_there()

    def answers(self, question: str) -> QuestionAnswers:
        """Returns the object that gives access to the answers to one question. ``question``: a text with
        everything on which an answer depends, except the sources; a different text is a different
        question."""
        return QuestionAnswers(self._writer, self._namespace, question, self._lease)

    def stored_answers(
        self, question: str, key_of: Callable[[tuple[str, ...]], Hashable | None]
    ) -> list[tuple[tuple[str, ...], Answer]]:
        """Returns the stored answers to a question, each with the ids of its sources. Blocks the thread
        meanwhile. The order does not depend on when the answers were stored.

        An answer is left out if some source of it has another text now, or does not exist now. To find
        this out, ``key_of`` is called. It gets the ids of an answer's sources, in their order, and
        returns the key of these sources with their present texts, or None if some source does not exist
        now. Raises StoreFailed if the database cannot be used.
        """
        namespace, database = self._namespace, self._writer.database
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

        ``predicate``: the name of the predicate. ``memo``: the memo key of the judged case, which is a
        cache key that only cases with the same judgement share. A memo key may consist of plain values,
        tuples and frozensets. Nothing is stored for any other ``memo``, because other objects mean
        something else in other processes. Raises StoreFailed if the database cannot be used.
        """
        try:
            key = digest(self._namespace, predicate, memo)
        except NotStorable:
            return None
        loop = asyncio.get_running_loop()
        content = await outcome_of(self._writer, Recall(loop, loop.create_future(), key))
        if content is None:
            return None
        return self._writer.database.decoded(unpacked_judgement, content, key)

    async def put_judgement(self, predicate: str, memo: Hashable, judgement: Judgement) -> None:
        """Stores a judgement, and returns when it is committed. Does nothing if there already is a
        judgement of this predicate for this ``memo``, or if ``memo`` contains objects that mean
        something else in other processes. Raises StoreFailed if the database cannot be used."""
        try:
            key = digest(self._namespace, predicate, memo)
            of_predicate = digest(self._namespace, predicate)
            subject = RowSubject(of_predicate, packed(self._namespace), packed(predicate))
        except NotStorable:
            return
        loop = asyncio.get_running_loop()
        content = packed_judgement(judgement, key)
        await outcome_of(self._writer, Remember(loop, loop.create_future(), key, subject, content))


def opened_store(address: Address, namespace: str, lease: float) -> Opened:
    """Opens a store and returns it. All stores of this process with the same database share one writer.
    ``namespace``: the name for the application whose answers are stored. ``lease``: the seconds for
    which a claim (the right to make an answer) is valid. Raises StoreFailed if the database cannot be
    used, and MissingExtra if a package is not installed."""
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
        return Opened(writer, namespace, lease)


def close_store(address: Address) -> None:
    """Closes a database in this process, if it is open, after the requests that wait in its queue are
    done. Blocks the thread meanwhile, for at most five seconds. Requests that other threads send during
    this time fail."""
    with _opening:
        writer, _ = _writers.pop((os.getpid(), address.identity), (None, None))
    if writer is not None:
        writer.stop()


def close_all() -> None:
    """Closes all stores of this process, after the requests that wait in their queues are done."""
    with _opening:
        ours = [key for key in _writers.copy() if key[0] == os.getpid()]
        writers = [_writers.pop(key)[0] for key in ours]
    for writer in writers:
        writer.stop()


def _file(address: Address) -> object:
    return file_at(address.target) if address.dialect == "sqlite" else None


def _forked() -> None:
    global _opening  # noqa: PLW0603 -- a thread of the parent may hold the old lock for ever
    _opening = threading.Lock()
    for writer, _ in _writers.copy().values():
        writer.forked()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
