"""Everything one run of the application takes part in, bound to its context."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from rag_rule_explainer.probing.gating import GoingOn, taking_part

from .state import State
from .watching import Watch, inside_retrieval, watching


@dataclass(slots=True, eq=False)
class Participation:
    """A run: its gate, what models were sent in it, the copies of state it uses, its tools."""

    gate: GoingOn
    watch: Watch
    state: State
    stubs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tools: set[str] = field(default_factory=set[str])
    retrieving_tools: set[str] = field(default_factory=set[str])


_participation: ContextVar[Participation | None] = ContextVar("rag_rule_run", default=None)


def participation() -> Participation | None:
    """What the current context takes part in; None outside, and once that has ended."""
    current = _participation.get()
    return None if current is None or current.gate.closed else current


@contextmanager
def participating(run: Participation) -> Generator[None, None, None]:
    """Makes the current context that run's; at the end the run is over, wherever it still goes on."""
    ours, watched = _participation.set(run), watching.set(run.watch)
    inside = inside_retrieval.set(False)
    try:
        with taking_part(run.gate):
            yield
    finally:
        inside_retrieval.reset(inside)
        watching.reset(watched)
        _participation.reset(ours)
