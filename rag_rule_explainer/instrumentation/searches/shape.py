"""This module says how a search's result is split into items and built from items."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from ...errors import RagRuleError
from ..run_context import refused
from .items import ItemReading

Item = TypeVar("Item")


class Shape(Protocol[Item]):
    """A ``Shape`` splits the result of a search into items, and builds such a result from items. The
    *form* of a result has the data that are needed to build a result of the same kind from other
    items."""

    def found(self, result: Any) -> Sequence[Item]:
        """Returns the items of a result."""
        ...

    def form(self, result: Any) -> object:
        """Returns the form of a result: the data that are needed to build a result of the same kind from
        other items. For a list, the form is only its type. For a client's response, the form is a copy of
        the response, whose items are replaced later."""
        ...

    def of_another(self, form: object) -> object:
        """Returns the form of the result for a search that the baseline never made. ``form``: the form of
        a recorded result of the same retriever, on which the new form is based."""
        ...

    def result(self, found: Sequence[Item], form: object = ()) -> Any:
        """Builds a result of the form ``form`` from the items ``found``, and returns it."""
        ...

    def needs_scores(self, found: Iterable[Item]) -> bool:
        """Returns True iff the search returns scores and at least one of these items has no score. Items
        without a score then get a made-up score, and the explanation says so."""
        ...


class ReadForm:
    """This base class of shapes gets the form of a result from its ``ItemReading`` (``reading``)."""

    __slots__ = ()

    reading: ItemReading

    def form(self, result: Any) -> object:
        """Returns the form of a result: the data that are needed to build a result of the same kind from
        other items, such as the type of a list or a copy of a client's response."""
        return self.reading.form(result)

    def of_another(self, form: object) -> object:
        """Returns the form of the result for a query that the baseline never made. ``form``: the form of
        a recorded result, which the new result should resemble."""
        return self.reading.of_another(form)


@contextmanager
def noting_refusals() -> Generator[None, None, None]:
    """Stores on the current run each error of this package that the block raises, and raises it again.
    The application may catch the error, but the run still has it."""
    try:
        yield
    except RagRuleError as error:
        raise refused(error) from error
