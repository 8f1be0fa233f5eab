"""Stores that are open: one writer per process and database, shared by all threads and event loops."""

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Hashable

from ..verdicts import Answer, Judgement
from .address import Address
from .answers import QuestionAnswers, told_of
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
"""By process id and database: a forked child has the parent's memory but not its thread.

With each goes which file it is: one that was deleted and made anew is another one.
"""


class Opened:
    """This class represents a store that is open. Every method may be awaited on any event loop, on many
    at once."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._namespace = packed(store.named)

    def check_there(self) -> None:
        """Makes sure that what was stored is where others will look for it. Raises StoreFailed."""
        self._writer.database.check_there()

    def answers(self, question: str) -> QuestionAnswers:
        """Returns the answers to one question; any text that says all that they depend on but the
        sources."""
        return QuestionAnswers(self._writer, self._store.named, question, self._store.lease)

    def stored_answers(
        self, question: str, key_of: Callable[[tuple[str, ...]], Hashable | None]
    ) -> list[tuple[tuple[str, ...], Answer]]:
        """Returns the ids and the answer of each stored one to a question, in order of arrangements;
        blocks.

        ``key_of``: the key of the arrangement with these ids, as it is now; None where there is none.
        Those that were answered from other texts under these ids are left out. Raises StoreFailed.
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
        """Returns the judgement by the predicate of this name under a memo key, None where there is none.

        Also None for keys that hold more than plain values, tuples and frozensets: of other objects
        nobody knows what another process would call the same. Raises StoreFailed.
        """
        try:
            key = digest(self._store.named, predicate, memo)
        except NotStorable:
            return None
        loop = asyncio.get_running_loop()
        content = await told_of(self._writer, Recall(loop, loop.create_future(), key))
        if content is None:
            return None
        return self._writer.database.decoded(unpacked_judgement, content, key)

    async def put_judgement(self, predicate: str, memo: Hashable, judgement: Judgement) -> None:
        """Stores a judgement, unless one is there, and returns once it is committed.

        Does nothing for keys under which ``judgement`` finds none. Raises StoreFailed.
        """
        try:
            key = digest(self._store.named, predicate, memo)
            subject = RowSubject(digest(self._store.named, predicate), self._namespace, packed(predicate))
        except NotStorable:
            return
        loop = asyncio.get_running_loop()
        content = packed_judgement(judgement, key)
        await told_of(self._writer, Remember(loop, loop.create_future(), key, subject, content))


def opened_store(store: Store) -> Opened:
    """Returns the store, opened in this process unless it is open already. Raises StoreFailed,
    MissingExtra."""
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
    """Closes every store that is open in this process, once what is queued is done."""
    with _opening:
        ours = [key for key in _writers if key[0] == os.getpid()]
        writers = [_writers.pop(key)[0] for key in ours]
    for writer in writers:
        writer.stop()


def _file(address: Address) -> object:
    return file_at(address.target) if address.dialect == "sqlite" else None


def _forked() -> None:
    global _opening  # noqa: PLW0603 -- another thread of the parent may have held it, and is not here
    _opening = threading.Lock()
    for writer, _ in _writers.values():
        writer.forked()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
