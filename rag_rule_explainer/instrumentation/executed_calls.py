"""This module defines tool calls that were made, and their outcomes."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol

from ..tool_calls import ToolCall
from .copies.copying import copied
from .result_field import FieldDoubt


class ToolOutcome(NamedTuple):
    """A ``ToolOutcome`` is the outcome of a tool call: its ``result``, or the ``error`` that it raised.
    ``at``: the moment of the call in the baseline, as a number that is higher for later events; 0 if the
    baseline did not make the call."""

    result: Any = None
    error: Exception | None = None
    at: int = 0

    def copy(self) -> "ToolOutcome":
        """Returns the outcome with a copy of its result. A run may change the copy."""
        return self if self.error is not None else self._replace(result=copied(self.result))

    def given(self) -> Any:
        """Returns a copy of the result, or raises the error."""
        if self.error is not None:
            raise self.error
        return copied(self.result)


class ExecutedCall(NamedTuple):
    """An ``ExecutedCall`` is a call of a tool in a run. ``before``: the number of the models' replies
    before the call. ``within``: the names of the tools inside which the tool was called, the outermost
    first. ``at``: the moment of the call, a number that is higher for later events. ``inside``: the
    moment at which the innermost tool in ``within`` was called; 0 if ``within`` is empty. ``identity``:
    the id that the model gave the call; empty if it is unknown."""

    before: int
    call: ToolCall
    within: tuple[str, ...] = ()
    at: int = 0
    identity: str = ""
    inside: int = 0


class NotedResult(NamedTuple):
    """A ``NotedResult`` is the result of a tool call of the baseline, or the error that it raised.
    ``key``: equal for equal calls. ``place``: the number of equal calls before this call. ``replies``:
    the number of the models' replies before this call. ``within``: the names of the tools inside which
    the tool was called, the outermost first. ``at``: the moment of the result, a number that is higher
    for later events. ``is_error``: True if ``result`` is an error that the call raised."""

    call: ToolCall
    key: str
    place: int
    result: Any
    replies: int
    within: tuple[str, ...]
    at: int = 0
    is_error: bool = False


class Omits(Protocol):
    """An ``Omits`` removes the omitted sources from the results that one replay gets."""

    def recorded(self, key: str, place: int, outcome: ToolOutcome) -> ToolOutcome:
        """Returns the outcome of a call of the baseline, without the omitted sources. ``key``: the key of
        the call, equal for equal calls; ``place``: the number of equal calls before it."""
        ...

    def again(self, key: str, place: int, result: Any, tool: str) -> Any:
        """Returns the result of ``tool``, which ran again for a call of the baseline, without the omitted
        sources. ``key``, ``place``: see ``recorded``."""
        ...

    def new(self, result: Any, tool: str) -> Any:
        """Returns a result of ``tool`` that the baseline did not have, without the omitted sources."""
        ...

    def holds_others(self, result: Any, tool: str) -> str:
        """Returns the id of an omitted source of another tool whose text is a part of a result of
        ``tool``; empty if there is none."""
        ...


class ResultSources(Protocol):
    """A ``ResultSources`` holds the sources that are results of tools."""

    def omitting(
        self,
        kept: Collection[str],
        deliver: Callable[[Collection[str], bool], None],
        doubt: FieldDoubt,
    ) -> Omits:
        """Returns an ``Omits`` that removes the omitted sources from the results that one replay gets.
        ``kept``: the ids of the retained sources; ``deliver``: is called with the ids of the retained
        sources in each result, and with True iff the baseline had this result; ``doubt``: with the tool
        and each field of which it is not known what it is without the omitted sources."""
        ...

    def ids_in(self, noted: NotedResult) -> tuple[str, ...]:
        """Returns the ids of the sources in a result of the baseline."""
        ...
