"""This module answers the searches of a replay with the retained sources."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Generic

from typing_extensions import override

from ...errors import RagRuleError, UnknownQuery
from ...printable import shortened
from ...sources import Source
from .captured import Captured
from .gate import Gate
from .remarks import FILTERED, NEW_RETRIEVAL, NO_TURN
from .retrievals import Batch, Item, Keys, Results, Retrieval

SOURCE_KIND = "source_kind"
"""The key in a source's metadata whose value is the kind of the source. Documents have no such key."""


class Serving(Gate, Generic[Item]):
    """A ``Serving`` answers the retrievals of one replay with the retained sources.

    - ``served``: the number of retrievals and tool results that the replay got.
    - ``delivered``: the ids of the sources that were returned.
    - ``order``: the ids of the retained sources in the order in which the replay must return them; empty
      if this is the baseline's order.
    - ``handed``: the delivered ids, in the order of their first delivery; only filled if ``order`` is
      set.
    - ``refused``: the error that a search raised because its query must not be answered; None if there
      was none.
    - ``repeats_only``: True if the baseline made all searches of this replay too; a source that was not
      delivered was then not searched for.
    - ``undecided``: the reason why the replay's answer must not be used; empty if it may be used.
    - ``returned``: the ids of the sources that *opened* searches returned: searches that really run,
      while only their inner searches are answered from the record.
    - ``results``: the ids of the sources that are results of tools.
    - ``promoting``: True if the replay gets documents that a search of the baseline found by an inner
      search, and dropped.
    """

    def __init__(self, captured: Captured[Item], kept: Iterable[Source]) -> None:
        super().__init__(captured.only, takes_all=captured.takes_all)
        self.served = 0
        self.delivered: set[str] = set()
        self.returned: set[str] = set()
        self.repeats_only = not captured.any_query
        ids = [source.id for source in kept]
        self._dropped = frozenset(source.id for source in captured.dropped)
        self.promoting = not self._dropped.isdisjoint(ids)
        self._outer, captured = captured, captured.opened() if self.promoting else captured
        self.order = captured.other_order(ids)
        self.handed: list[str] = []
        self.remarks: set[str] = set()
        self.refused: RagRuleError | None = None
        self.undecided = ""
        self._turns = Counter[Hashable]()
        self._captured = captured
        self.derived = captured.derived
        kinds = ((source.id, source.metadata.get(SOURCE_KIND)) for source in captured.others)
        self.results = frozenset(identity for identity, kind in kinds if kind == "tools")
        self._kept = frozenset(ids)
        self._places = {identity: place for place, identity in enumerate(self.order)}

    def serve(self, keys: Keys, asked: str = "") -> list[Item] | None:
        """Returns the items that the baseline recorded for this retrieval, without the items of omitted
        sources.

        If the baseline made the retrieval several times with different results, the n-th call returns the
        n-th result. If it is unknown which result this is, returns the items of all of them, and sets
        ``undecided``. Raises the error that the retrieval raised in the baseline, if it raised one.

        If the baseline did not make the query, the option ``on_new_query`` decides the result: an error
        (UnknownQuery), or the result of a real search. Returns None if the caller must make this search.
        The caller passes its result to ``settled`` if ``serves_what_is_kept``, otherwise to ``filtered``.
        ``keys``: the keys of the retrieval; ``asked``: its query, for messages.
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
            self.repeats_only = False
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
            # ``asked_anew`` is True if the real search for an earlier new query had a different result.
            # That is enough for the warning to the user, so this query needs no real search.
            if self._captured.asked_anew:
                return self._deliver(self._captured.everything)
            settled = self._captured.settled(keys)
            return None if settled is None else self._deliver(settled)

    def opens(self, keys: Keys) -> bool:
        """Returns True iff the search with these keys is *opened*: it must really run, and only its inner
        searches are answered from the record."""
        return not self._captured.opened_keys.isdisjoint(keys)

    def let_through(self, items: Sequence[Item]) -> list[Item]:
        """Removes the items of omitted sources from the result of an opened search (a search that really
        ran, while its inner searches were answered from the record). Records which sources the search
        returned."""
        with self._lock:
            batch = self._captured.recognised(items)
            self.served += 1
            self.repeats_only = False
            self.returned.update(source.id for source, _ in batch)
            # A search may also return items that its inner searches did not find. For example, they found
            # a summary, and it returns the chunks of this summary.
            inner = {id(item) for _, item in batch}
            others = [each for each in self._outer.recognised(items) if id(each[1]) not in inner]
        omitted = {id(item) for source, item in (*batch, *others) if source.id not in self._kept}
        return [item for item in items if id(item) not in omitted]

    @override
    def deliver_result(self, ids: Collection[str], is_recorded: bool) -> None:
        with self._lock:
            self.served += 1
            self.repeats_only = self.repeats_only and is_recorded
            if self.order:
                self.handed += [each for each in ids if each not in self.delivered]
            self.delivered.update(ids)

    @override
    def leave_undecided(self, reason: str) -> None:
        self.undecided = self.undecided or reason

    def note_whole(self) -> None:
        """Records that a replay on all sources got all of them from its searches, as the baseline did."""
        self._captured.repeats = True

    @property
    def may_search_less(self) -> bool:
        """Returns True iff missing sources may have a harmless reason: the application got the results of
        its earlier searches, and then did not search for further sources.

        This requires that a replay on all sources has made all searches of the baseline. Otherwise, the
        application may have kept the results of an earlier run, so that it does not search again.
        """
        return self.repeats_only and self._captured.repeats

    @property
    def reached(self) -> set[str]:
        """Returns the ids of the sources that the application got. Some delivered sources are left out:
        those that were only delivered inside an *opened* search (one that really runs, while its inner
        searches are answered from the record), and that the opened search then did not return."""
        return self.delivered - (self._dropped - self.returned)

    @property
    def serves_what_is_kept(self) -> bool:
        """Returns True iff a query that the baseline did not make gets all retained sources as its
        result."""
        return self._captured.on_new_query == "kept"

    def settled(self, keys: Keys, retriever: object, found: Sequence[Item] | None) -> list[Item]:
        """Returns all retained sources for a query that the baseline never made. Records whether a real
        search has the same result. ``retriever``: the object that is searched. ``found``: the result of
        the real search; None if it failed or cannot be read."""
        with self._lock:
            return self._deliver(self._captured.settle(keys, retriever, found))

    def begins_with(self, keys: Keys) -> bool:
        """Returns True iff the replay has made no retrieval yet, and the baseline made the retrieval with
        these ``keys``. The recorded result can then be returned without a real search.

        A real search is needed only if the searched objects may contain texts that the replay derived
        from sources. Before its first retrieval, a replay has got no sources.
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
        """Returns the form (such as the type of its container) of the result that the baseline got for a
        retrieval with these keys; None if the baseline made no such retrieval."""
        return self._captured.form(keys)

    def form_of_another(self, retriever: object) -> object:
        """Returns the form (such as the type of its container) of this retriever's last result in the
        baseline; () if there is none."""
        return self._captured.form_of_another(retriever)

    def that_found(self, ids: Collection[str]) -> list[Retrieval[Item]]:
        """Returns the retrievals of the baseline that found any of these sources."""
        return self._captured.that_found(ids)

    def texts_of(self, items: Sequence[Item]) -> list[str]:
        """Returns the texts of the sources of these items."""
        return [source.text for source in self._captured.identify([items])[0]]

    @property
    def sources(self) -> Sequence[Source]:
        """Returns all sources of the baseline."""
        return self._captured.sources

    def retrieved(self) -> list[Source]:
        """Returns the sources that this replay has got so far."""
        return [source for source in self._captured.sources if source.id in self.delivered]

    def are_kept(self, items: Sequence[Item]) -> list[bool | None]:
        """Returns, for each item of a real search, True if its source is retained, False if its source is
        omitted, and None if it has no known source.

        Retained sources among the items count as delivered. The search is counted in ``served`` if at
        least one item has a known source.
        """
        with self._lock:
            self.repeats_only = False
            batch = self._captured.recognised(items)
            self.served += bool(batch)
            kept = {id(item): source.id in self._kept for source, item in batch}
            self._deliver(batch)
        return [kept.get(id(item)) for item in items]

    def filtered(self, items: Sequence[Item]) -> list[Item]:
        """Returns the items of a real search without those whose source is omitted or unknown. Documents
        that the user added to all results (``add_documents=``) are treated like items of the search."""
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
