"""This module records one ordinary run of an engine."""

import inspect
from contextlib import ExitStack, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from rag_rule_explainer.instrumentation.run_context import taking_part_again
from rag_rule_explainer.instrumentation.run_record import Participation

from .interception import interception
from .watching import Watch, watched_by


@dataclass(slots=True, eq=False)
class RecordedRun:
    """A ``RecordedRun`` holds the record of one ordinary run of an engine.

    ``id``: the id of the run's span. ``entry``: the name of the engine's method that was called.
    ``given``: the input. ``participation``: records the retrievals and tools. ``watch``: records the
    requests to models. ``ended``: True after the output is complete. ``context``: a copy of the run's
    context, in which its stream is read.
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
        """Makes the current context (of ``contextvars``) part of the run. Stores a copy of this context,
        in which the stream of the answer is read later."""
        interception.start()
        self._joined.enter_context(taking_part_again(self.participation))
        self._joined.enter_context(watched_by(self.watch))
        self.context = copy_context()

    def leave(self) -> None:
        """Removes the current context from the run, so that later calls in it are not recorded. The
        contexts copied from it stay part of the run."""
        with suppress(ValueError):  # raised if this context is a copy of the one in which the run began
            self._joined.close()

    def end(self) -> None:
        """Ends the recording in all contexts that belong to the run."""
        if not self.participation.gate.closed:
            self.participation.gate.closed = True
            interception.stop()


def entry_in(span_id: str) -> str:
    """Returns the method's name in a span id such as ``RetrieverQueryEngine.query-<uuid>``."""
    return span_id.split("-", 1)[0].rpartition(".")[2]


def input_in(bound: inspect.BoundArguments) -> Any:
    """Returns the input of a run: the first argument or, if one of the arguments is a chat history, a
    dict of all arguments."""
    arguments = dict(bound.arguments)
    if arguments.get("chat_history") is not None:
        return arguments
    return next(iter(arguments.values()))
