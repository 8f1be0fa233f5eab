"""Everything one run of the application takes part in, bound to its context."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..errors import RagRuleError
from ..probing.bill import summed
from ..probing.gating import GoingOn, rejoining, taking_part
from ..probing.judging import described
from ..probing.prices import TokensByModel
from ..probing.replaying import UnusableReply
from ..probing.seeing import Request
from ..verdicts import Answer
from .state import State
from .stopping import Stopping

EMPTY = "a model reply was empty"
CUT_OFF = "a model reply was cut off at its length limit (allow_length=True takes it as an answer)"
HALF = "a model reply ended without a finish_reason, as it does where a connection breaks"
"""What may be wrong with replies. Models do not write at the same length every time, so that even
one that was cut off may be whole when it is asked again."""


class Watch(Protocol):
    """What models were sent and replied during one run, as far as their framework reports it.

    ``stopping``: is told each request before it is sent, and may raise there.
    """

    stopping: Stopping | None

    @property
    def requests(self) -> list[Request]:
        """What they were sent, in order."""
        ...

    @property
    def fault(self) -> str:
        """What is wrong with one of their replies, such as that it was cut off; empty for nothing."""
        ...

    @property
    def failed(self) -> bool:
        """Whether a model raised, whatever became of that."""
        ...

    @property
    def models(self) -> TokensByModel:
        """The tokens spent, by the name of the model and by kind."""
        ...


def unusable(reason: str, watch: Watch, *, passing: bool | None = None) -> UnusableReply:
    """The error for a run whose reply cannot count, with what its models had spent by then."""
    models = watch.models
    return UnusableReply(reason, summed(models) or None, models or None, passing=passing)


def failed_reply(reason: str, watch: Watch, cause: BaseException | None = None) -> UnusableReply:
    """A model that failed may do better, and so may one whose reply was none; that anything else does is
    for its error to say."""
    passing = True if watch.failed or watch.fault else None
    failure = unusable(reason, watch, passing=passing)
    failure.__cause__ = cause
    return failure


@contextmanager
def failing(watch: Watch) -> Generator[None, None, None]:
    """What is raised inside keeps what had been spent by then, and whether trying again may help."""
    try:
        yield
    except (RagRuleError, UnusableReply):
        raise
    except Exception as error:
        raise failed_reply(described(error), watch, error) from error


def with_spent(answer: Answer, watch: Watch) -> Answer:
    """The answer with the tokens of every model asked, not just of the one whose message it is."""
    models = watch.models
    if not models:
        return answer
    return replace(answer, usage={**(answer.usage or {}), **summed(models)}, models=models)


@dataclass(slots=True, eq=False)
class Participation:
    """A run: its gate, what models were sent in it, the copies of state it uses, its tools.

    ``refused``: what was said to be wrong in the middle of it, where an agent may have swallowed it.
    """

    gate: GoingOn
    watch: Watch
    state: State
    stubs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tools: set[str] = field(default_factory=set[str])
    retrieving_tools: set[str] = field(default_factory=set[str])
    traced: bool = True
    refused: RagRuleError | None = None


_participation: ContextVar[Participation | None] = ContextVar("rag_rule_run", default=None)

inside_retrieval: ContextVar[bool] = ContextVar("rag_rule_inside_retrieval", default=False)
"""True in what a retrieval itself does, such as asking a reranking model."""

_current_tools: ContextVar[tuple[str, ...]] = ContextVar("rag_rule_current_tools", default=())


def participation() -> Participation | None:
    """What the current context takes part in; None outside, and once that has ended."""
    current = _participation.get()
    return None if current is None or current.gate.closed else current


@contextmanager
def participating(run: Participation) -> Generator[None, None, None]:
    """Makes the current context that run's; at the end the run is over, wherever it still goes on."""
    try:
        with taking_part_again(run):
            yield
    finally:
        run.gate.closed = True


@contextmanager
def taking_part_again(run: Participation) -> Generator[None, None, None]:
    """The same for a run that began elsewhere, or ends elsewhere."""
    ours, inside = _participation.set(run), inside_retrieval.set(False)
    try:
        with rejoining(run.gate):
            yield
    finally:
        inside_retrieval.reset(inside)
        _participation.reset(ours)


def refused(error: RagRuleError) -> RagRuleError:
    """The error, which is not lost if the application swallows it."""
    run = participation()
    if run is not None and run.refused is None:
        run.refused = error
    return error


@contextmanager
def using_tool(name: str) -> Generator[None, None, None]:
    """Inside, a tool runs; retrievals made there are its."""
    token = _current_tools.set((*_current_tools.get(), name))
    try:
        yield
    finally:
        _current_tools.reset(token)


@contextmanager
def out_of_sight() -> Generator[None, None, None]:
    """Inside, a retrieval runs: none that it makes counts, and nothing that its models are sent."""
    token = inside_retrieval.set(True)
    try:
        with taking_part(None):
            yield
    finally:
        inside_retrieval.reset(token)


def note_retrieving_tools() -> None:
    """The tools around a retrieval are known to retrieve."""
    run = participation()
    if run is not None:
        run.retrieving_tools.update(_current_tools.get())
