"""One ordinary run of an engine, as it is recorded."""

from contextlib import ExitStack, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from rag_rule_explainer.instrumentation.run_context import Participation, taking_part_again

from .interception import interception
from .watching import Watch, watched_by


@dataclass(slots=True, eq=False)
class RecordedRun:
    """One ordinary run of the engine, while it goes on and after."""

    id: str
    entry: str
    given: Any
    participation: Participation
    watch: Watch
    output: Any = None
    ended: bool = False
    _joined: ExitStack = field(default_factory=ExitStack)

    def begin(self) -> Context:
        """What the current context does from now on belongs to it; the context to go on in
        elsewhere."""
        interception.start()
        self._joined.enter_context(taking_part_again(self.participation))
        self._joined.enter_context(watched_by(self.watch))
        return copy_context()

    def leave(self) -> None:
        """What the current context does next does not belong to it."""
        with suppress(ValueError):  # left in another context than it began in, which is a copy of that
            self._joined.close()

    def end(self) -> None:
        """It is over, wherever it still goes on."""
        if not self.participation.gate.closed:
            self.participation.gate.closed = True
            interception.stop()
