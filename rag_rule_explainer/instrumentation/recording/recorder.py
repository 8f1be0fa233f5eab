"""This module records what the baseline's retrievals return.

An integration intercepts its framework's retrievals. On each call, the intercepted method asks
``going_on`` for the gate of the current run. This is None outside of runs. In the baseline it is a
``Recording``: the search is made, and its result is recorded. In a replay it is a ``Serving``, which
returns those recorded items whose sources are retained.
"""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Generic

from ...errors import RagRuleError
from .captured import Captured, Identify, OnNewQuery
from .gate import Gate
from .retrievals import Item, Keys, Retrieval, Searched


class Recording(Gate, Generic[Item]):
    """A ``Recording`` holds the results of the baseline's retrievals, in order. Thread-safe.

    ``added``: items that are added to the result of every retrieval. ``only``: the only retrievers that
    are recorded; empty for all. ``fault``: why a result could not be recorded, or None. ``derived``: the
    kinds of objects that the run built from retrieved documents, as names of classes. ``searched_own``:
    the kinds of searched objects that the run made.
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
        self._moments = count(1)
        self.derived: set[Searched] = set()
        self.searched_own: set[Searched] = set()
        self.fault: RagRuleError | None = None

    def begin(self) -> int:
        """Returns a number for the moment at which a retrieval begins; later moments have higher
        numbers."""
        return next(self._moments)

    def record(
        self,
        keys: Keys,
        items: Iterable[Item],
        retriever: object,
        form: object = (),
        began: int | None = None,
        callers: tuple[str, ...] = (),
    ) -> None:
        """Records the result of a retrieval. ``began``: the value of ``begin``; for the other arguments,
        see ``Retrieval``."""
        with self._lock:
            ended = next(self._moments)
            start = ended if began is None else began
            self._retrievals.append(
                Retrieval(keys, tuple(items), retriever, form, None, start, ended, callers)
            )

    def failed(self, keys: Keys, error: Exception, retriever: object) -> None:
        """Records that a retrieval raised an error, also if the application catches it. Replays then
        raise it too."""
        with self._lock:
            self._failures.append(Retrieval(keys, (), retriever, error=error))

    def texts_of(self, items: Sequence[Item]) -> list[str]:
        """Returns the texts of the sources of these items."""
        return [source.text for source in self._identify([items])[0]]

    def texts(self, before: int) -> list[str]:
        """Returns the texts of all sources that were retrieved before the moment ``before``."""
        with self._lock:
            items = [item for each in self._retrievals if each.ended < before for item in each.items]
        return self.texts_of(items)

    def are_new(self, items: Sequence[Item], before: int) -> list[bool]:
        """For each item, returns True iff its source was not retrieved before the moment ``before``."""
        with self._lock:
            earlier = [each.items for each in self._retrievals if each.ended < before]
        *known, own = self._identify([*earlier, items])
        ids = {source.id for batch in known for source in batch}
        return [source.id not in ids for source in own]

    @property
    def retrievals(self) -> int:
        """Returns the number of recorded retrievals."""
        return len(self._retrievals)

    @property
    def forms(self) -> tuple[object, ...]:
        """Returns the forms of the retrievals' results, in order."""
        with self._lock:
            return tuple(each.form for each in self._retrievals)

    def captured(self, on_new_query: OnNewQuery = "kept") -> Captured[Item]:
        """Returns the sources recorded so far, each once, in the order of their first retrieval."""
        with self._lock:
            retrievals, failures = tuple(self._retrievals), tuple(self._failures)
        return Captured(
            retrievals,
            self._identify,
            on_new_query,
            self.added,
            self._only,
            failures=failures,
            derived=frozenset(self.derived),
            takes_all=self.takes_all,
        )
