"""This module records the results of the baseline's retrievals.

An integration replaces its framework's search methods. On each call, the replaced method asks
``going_on`` for the *gate* of the current run, the object that handles its searches. Outside of runs,
there is none. In the baseline, the gate is a ``Recording``: the search is made, and its result is
recorded. In a replay, it is a ``Serving``, which returns the recorded items whose sources are retained.
"""

from collections.abc import Iterable, Sequence
from typing import Generic

from ...errors import RagRuleError
from ...sources import Source
from ..requests.exchanges import moment
from .captured import Captured, OnNewQuery
from .gate import Gate
from .retrievals import Identify, Item, Keys, Retrieval, Searched


class Recording(Gate, Generic[Item]):
    """A ``Recording`` records the results of the baseline's retrievals, in order. Thread-safe.

    - ``added``: documents of the user that are added to the result of every retrieval.
    - ``fault``: the error to raise after the run because a result could not be recorded; None if there is
      none.
    - ``derived``: the class names of objects that the run built from retrieved documents.
    - ``searched_own``: the class names of searched objects that the run itself made.
    - ``identify``: returns the sources of items.
    - ``only``: the only retrievers whose results are recorded; empty for all.
    - ``takes_all``: True if documents that a retriever finds and then drops also count as sources.
    """

    def __init__(
        self,
        identify: Identify[Item],
        added: Sequence[Item] = (),
        only: Sequence[object] = (),
        *,
        takes_all: bool = False,
    ) -> None:
        super().__init__(only, takes_all=takes_all)
        self.added = tuple(added)
        self._identify = identify
        self._retrievals: list[Retrieval[Item]] = []
        self._failures: list[Retrieval[Item]] = []
        self.derived: set[Searched] = set()
        self.searched_own: set[Searched] = set()
        self.fault: RagRuleError | None = None

    def begin(self) -> int:
        """Returns a number for the current moment, which is larger than the numbers of all earlier
        moments. Call it when a retrieval begins, and pass the number to ``record``."""
        return moment()

    def record(
        self,
        keys: Keys,
        items: Iterable[Item],
        retriever: object,
        form: object = (),
        began: int | None = None,
        callers: tuple[str, ...] = (),
        inside: Sequence[Retrieval[Item]] = (),
    ) -> None:
        """Records the result of a retrieval. ``keys``: the keys that identify the retrieval; ``items``:
        the documents found. ``retriever``: the object that was called. ``form``: the data from which a
        result of the same kind can be built, such as its type. ``began``: the number that ``begin``
        returned for the retrieval. ``callers``: the user's functions that called it. ``inside``: the
        retrievals inside it."""
        with self._lock:
            ended = moment()
            start = ended if began is None else began
            self._retrievals.append(
                Retrieval(keys, tuple(items), retriever, form, None, start, ended, callers, tuple(inside))
            )

    def failed(self, keys: Keys, error: Exception, retriever: object) -> None:
        """Records that a retrieval raised an error. Replays raise the same error, even if the application
        catches it."""
        with self._lock:
            self._failures.append(Retrieval(keys, (), retriever, error=error))

    def texts_of(self, items: Sequence[Item]) -> list[str]:
        """Returns the texts of the sources of these items."""
        return [source.text for source in self._identify([items])[0]]

    def retrieved(self) -> list[Source]:
        """Returns the sources that were retrieved so far. A source that was retrieved several times
        occurs several times."""
        with self._lock:
            items = [item for each in self._retrievals for item in each.items]
        return list(self._identify([items])[0])

    def texts(self, before: int) -> list[str]:
        """Returns the texts of all sources that were retrieved before the moment ``before``."""
        with self._lock:
            items = [item for each in self._retrievals if each.ended < before for item in each.items]
        return self.texts_of(items)

    def are_new(self, items: Sequence[Item], before: int) -> list[bool]:
        """Returns a list with True for each item whose source was not retrieved before the moment
        ``before``, and False for the other items."""
        with self._lock:
            earlier = [each.items for each in self._retrievals if each.ended < before]
        *known, own = self._identify([*earlier, items])
        ids = {source.id for batch in known for source in batch}
        return [source.id not in ids for source in own]

    @property
    def retrievals(self) -> int:
        """Returns the number of recorded retrievals, without those that raised an error."""
        return len(self._retrievals)

    @property
    def forms(self) -> tuple[object, ...]:
        """Returns, for each recorded retrieval in order, the form of its result, such as the type of its
        container."""
        with self._lock:
            return tuple(each.form for each in self._retrievals)

    def captured(self, on_new_query: OnNewQuery = "kept", before: int | None = None) -> Captured[Item]:
        """Returns the sources recorded so far, each once, in the order of their first retrieval.
        ``on_new_query``: what a search of a replay returns for a query that the baseline did not make.
        ``before``: retrievals after this moment are ignored; None to use all."""
        with self._lock:
            every, failures = tuple(self._retrievals), tuple(self._failures)
        retrievals = tuple(each for each in every if before is None or each.ended < before)
        return Captured(
            retrievals,
            self._identify,
            on_new_query,
            self.added,
            self._only,
            failures=failures,
            derived=frozenset(self.derived),
            takes_all=self.takes_all,
        ).as_searched()
