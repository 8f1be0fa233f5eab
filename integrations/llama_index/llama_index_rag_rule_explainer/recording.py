"""This module records one ordinary run of an engine."""

import inspect
from contextlib import ExitStack, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from rag_rule_explainer.instrumentation.run_context import Participation, taking_part_again

from .interception import interception
from .watching import Watch, watched_by


@dataclass(slots=True, eq=False)
class RecordedRun:
    """A ``RecordedRun`` holds an ordinary run of an engine: its input, its record and its output.

    ``id``: the id of its span. ``entry``: the name of the called method. ``ended``: True once the output
    is complete.
    """

    id: str
    entry: str
    given: Any
    participation: Participation
    watch: Watch
    output: Any = None
    ended: bool = False
    context: Context = field(default_factory=Context)
    _joined: ExitStack = field(default_factory=ExitStack)

    def begin(self) -> None:
        """Makes the current context part of the run, and keeps a copy of it for the run's stream."""
        interception.start()
        self._joined.enter_context(taking_part_again(self.participation))
        self._joined.enter_context(watched_by(self.watch))
        self.context = copy_context()

    def leave(self) -> None:
        """Takes the current context out of the run."""
        with suppress(ValueError):  # raised in a copy of the context that the run began in
            self._joined.close()

    def end(self) -> None:
        """Closes the run for all its contexts."""
        if not self.participation.gate.closed:
            self.participation.gate.closed = True
            interception.stop()


def entry_in(span_id: str) -> str:
    """Returns the method's name in a span id such as ``RetrieverQueryEngine.query-<uuid>``."""
    return span_id.split("-", 1)[0].rpartition(".")[2]


def input_in(bound: inspect.BoundArguments) -> Any:
    """Returns the input of a run: the query or message, or all arguments if there is a chat history."""
    arguments = dict(bound.arguments)
    if arguments.get("chat_history") is not None:
        return arguments
    return next(iter(arguments.values()))
