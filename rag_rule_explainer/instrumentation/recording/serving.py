"""This module serves the retained sources to the searches of a replay."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Generic

from ...errors import RagRuleError, UnknownQuery
from ...printable import shortened
from ...sources import Source
from .captured import Captured
from .gate import Gate
from .remarks import FILTERED, NEW_RETRIEVAL, NO_TURN
from .retrievals import Batch, Item, Keys, Results, Retrieval


class Serving(Gate, Generic[Item]):
    """A ``Serving`` serves the retained sources to the retrievals of one replay.

    ``served``: the number of retrievals. ``delivered``: the ids of the sources that were returned.
    ``order``: the ids of the retained sources if their order differs from the baseline's, else empty.
    ``handed``: the delivered ids, in the order of their first delivery; only filled if ``order`` is set.
    ``refused``: the error of a query that must not be served, or None. ``undecided``: why the replay's
    answer cannot count, or empty.
    """

    def __init__(self, captured: Captured[Item], kept: Iterable[Source]) -> None:
        super().__init__(captured.only, takes_all=captured.takes_all)
        self.served = 0
        self.delivered: set[str] = set()
        ids = [source.id for source in kept]
        self.order = captured.other_order(ids)
        self.handed: list[str] = []
        self.remarks: set[str] = set()
        self.refused: RagRuleError | None = None
        self.undecided = ""
        self._turns = Counter[Hashable]()
        self._captured = captured
        self.derived = captured.derived
        self._kept = frozenset(ids)
        self._places = {identity: place for place, identity in enumerate(self.order)}

    def serve(self, keys: Keys, asked: str = "") -> list[Item] | None:
        """Returns the items that the baseline recorded for this retrieval, without those of omitted
        sources.

        ``keys``: the keys of the retrieval; ``asked``: its query, for messages. If the baseline made the
        retrieval several times with different results, the n-th call returns the n-th result. If their
        order is unknown, all results are returned, and ``undecided`` is set. ``on_new_query`` decides how
        a new query is served. Returns None if the caller must search for real, and pass the result to
        ``filtered``. Raises UnknownQuery, or the error that the retrieval raised in the baseline.
        """
        with self._lock:
            self.served += 1
            if self._captured.any_query:
                return self._deliver(self._captured.everything)
            results = self._captured.recorded(keys)
            failure = None if results is not None else self._captured.failure(keys)
            if failure is not None:
                raise failure
            if results is not None:
                return self._deliver(self._of_its_turn(results))
            if self._captured.on_new_query == "filter":
                self.remarks.add(FILTERED)
                return None
            if self._captured.on_new_query == "error":
                self.refused = UnknownQuery(
                    f"a replay asked {shortened(asked, 200)!r}, which the baseline never asked; "
                    'pass on_new_query="filter" (retrieve live and drop what is left out) or "kept"'
                )
                raise self.refused
            self.remarks.add(NEW_RETRIEVAL)
            self._captured.asked_anew = True
            return self._deliver(self._captured.everything)

    def begins_with(self, keys: Keys) -> bool:
        """Returns True iff this is the replay's first retrieval, and the baseline made it too.

        Before its first retrieval, a replay was served nothing, so its result cannot be derived from a
        source.
        """
        with self._lock:
            return not self.served and self._captured.recorded(keys) is not None

    def _of_its_turn(self, results: Results[Item]) -> Batch[Item]:
        if not results.differ:
            return results.batches[0]
        turn = self._turns[results.key]
        self._turns[results.key] += 1
        self._captured.several = True
        if turn < len(results.batches) and not results.overlapping:
            return results.batches[turn]
        self.undecided = NO_TURN
        each_once = {source.id: (source, item) for batch in results.batches for source, item in batch}
        return tuple(each_once.values())

    def form(self, keys: Keys) -> object:
        """Returns the form of the result that the baseline got for a retrieval with these keys; None if
        it made no such retrieval."""
        return self._captured.form(keys)

    def form_of_another(self, retriever: object) -> object:
        """Returns the form of this retriever's last result in the baseline; () if there is none."""
        return self._captured.form_of_another(retriever)

    def that_found(self, ids: Collection[str]) -> list[Retrieval[Item]]:
        """Returns the retrievals of the baseline that found any of these sources."""
        return self._captured.that_found(ids)

    def texts_of(self, items: Sequence[Item]) -> list[str]:
        """Returns the texts of the sources of these items."""
        return [source.text for source in self._captured.identify([items])[0]]

    def delivered_texts(self) -> list[str]:
        """Returns the texts of the sources that this replay was served so far."""
        return [source.text for source in self._captured.sources if source.id in self.delivered]

    def are_kept(self, items: Sequence[Item]) -> list[bool | None]:
        """Returns one value for each item of a real search: True if its source is retained, False if it
        is omitted, None if it has no known source.

        Counts the retained sources as delivered, and the search as a retrieval if any item has a known
        source.
        """
        with self._lock:
            batch = self._captured.recognised(items)
            self.served += bool(batch)
            kept = {id(item): source.id in self._kept for source, item in batch}
            self._deliver(batch)
        return [kept.get(id(item)) for item in items]

    def filtered(self, items: Sequence[Item]) -> list[Item]:
        """Returns those items of a real search, and those added documents, whose sources are retained."""
        with self._lock:
            found = self._captured.recognised([*items, *self._captured.added])
            return self._deliver(tuple({id(item): (source, item) for source, item in found}.values()))

    def _deliver(self, batch: Batch[Item]) -> list[Item]:
        pairs = [(source, item) for source, item in batch if source.id in self._kept]
        if self.order:
            pairs.sort(key=lambda pair: self._places[pair[0].id])
            new = dict.fromkeys(source.id for source, _ in pairs if source.id not in self.delivered)
            self.handed += new
        self.delivered.update(source.id for source, _ in pairs)
        return [item for _, item in pairs]
