"""Everything one run of the application takes part in, bound to its context."""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any, Protocol

from ..errors import RagRuleError
from ..probing.budget import summed
from ..probing.judging import error_text
from ..probing.prices import TokensByModel
from ..probing.replaying import UnusableReply
from ..probing.tracing.marks import TracedExplanation
from ..probing.wholeness import AT_LENGTH, CALLS, CUT_OFF, Said
from ..verdicts import Answer
from .bounds import Bound
from .copies.state import State
from .recording.recorder import GoingOn, rejoining, taking_part
from .requests.exchanges import Exchanges
from .requests.source_recognition import Request
from .shared_state.temporaries import Shared


class Watch(Protocol):
    """What models were sent and replied during one run, as far as their framework reports it.

    ``before_step``: is told the number of each step of a graph before it is taken, and may raise there.
    """

    @property
    def exchanges(self) -> Exchanges:
        """Their requests and replies, in order."""
        ...

    @property
    def requests(self) -> list[Request]:
        """Returns what they were sent, in order."""
        ...

    before_step: list[Callable[[int], None]]

    @property
    def steps(self) -> int:
        """Returns the most steps that one graph took, as far as its framework tells."""
        ...

    @property
    def said(self) -> Sequence[Said]:
        """Returns what they replied, in order."""
        ...

    @property
    def fault(self) -> str:
        """Returns what is wrong with one of their replies, such as that it was cut off; empty for
        nothing."""
        ...

    @property
    def failed(self) -> bool:
        """Returns whether a model raised, whatever became of that."""
        ...

    @property
    def models(self) -> TokensByModel:
        """Returns the tokens spent, by the name of the model and by kind."""
        ...


class Audited(Protocol):
    """What is told of the files and variables of the environment that one run uses."""

    def take(self, event: str, given: tuple[Any, ...]) -> None:
        """Takes an audit event of Python's."""
        ...


def unusable(reason: str, watch: Watch, *, passing: bool | None = None) -> UnusableReply:
    """Returns the error for a run whose reply cannot count, with what its models had spent by then."""
    models = watch.models
    return UnusableReply(reason, summed(models) or None, models or None, passing=passing)


def no_opinions(
    fault: str, models: TokensByModel, usage: Mapping[str, int] | None = None
) -> UnusableReply:
    """Returns the error for a judge's reply that is not whole, with its tokens: it is no verdict."""
    told = AT_LENGTH if fault == CUT_OFF else fault
    reason = f"the judge's reply cannot count: {told}"
    return UnusableReply(reason, summed(models) or usage, models or None, passing=False)


def failed_reply(reason: str, watch: Watch, cause: BaseException | None = None) -> UnusableReply:
    """A model that failed may do better, and so may one whose reply was none; that anything else
    does is for its error to say."""
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
        raise failed_reply(error_text(error), watch, error) from error


def reply_behind(answer: Answer, said: Sequence[Said]) -> Said | None:
    """Returns the last reply with the answer's text; else the last that answers; else None.

    The output of a tool may be the answer as well: the call of it is then no reply behind it.
    """
    text = answer.text.strip()
    same = next((each for each in reversed(said) if each.text.strip() == text), None)
    if same is not None:
        return same
    is_structured = answer.value is not None
    return next((each for each in reversed(said) if is_structured or not each.is_call), None)


def fault_in(answer: Answer, watch: Watch, tools: Collection[str] = ()) -> str:
    """Returns what is wrong with the answer, whatever the model's replies are by themselves.

    ``tools``: those that ran, whose output may be the answer.
    """
    reply = reply_behind(answer, watch.said)
    if reply is None and watch.said and not tools and watch.said[-1].shown_as == answer.text.strip():
        reply = watch.said[-1]
    if answer.value is None and reply is not None and reply.is_call:
        return CALLS
    return ""


def with_spent(answer: Answer, watch: Watch) -> Answer:
    """Returns the answer with the tokens of every model asked, not just of the one whose message it is.

    It says why the model's reply behind it ended, unless it says so already.
    """
    reply = reply_behind(answer, watch.said) if answer.finish_reason is None else None
    if reply is not None and reply.reason is not None:
        answer = replace(answer, finish_reason=reply.reason)
    models = watch.models
    if not models:
        return answer
    return replace(answer, usage={**(answer.usage or {}), **summed(models)}, models=models)


@dataclass(slots=True, eq=False)
class Participation:
    """This class represents one run of the application (the baseline or a replay) and what belongs to
    it. ``refused``: an error raised during the run, kept because an agent may swallow it. ``shared``:
    only in the first run: the state that runs shared before it began. ``trace``: only in the run that
    is explained: the tracer to be told its id. ``made``: texts that did not come from a model, such as
    tool results. ``bound``: the limits of a replay. ``stubbed``: tools replaced by a stub. ``outside``:
    is told of access to files and the environment. ``before_search``: callbacks called before each
    search. ``muted``: whether its output is hidden. ``begun``: the threads that it started."""

    gate: GoingOn
    watch: Watch
    state: State
    stubs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tools: set[str] = field(default_factory=set[str])
    tool_calls: int = 0
    retrieving_tools: set[str] = field(default_factory=set[str])
    traced: bool = True
    muted: bool = False
    stubbed: set[str] = field(default_factory=set[str])
    made: list[str] = field(default_factory=list[str])
    bound: Bound | None = None
    refused: RagRuleError | None = None
    shared: Shared | None = None
    trace: TracedExplanation | None = None
    outside: Audited | None = None
    before_search: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    begun: list[Thread] = field(default_factory=list[Thread])

    def note_search(self, made: int) -> None:
        """Notes that a search is made. Raises where so many are too many."""
        for told in self.before_search:
            told()
        if self.bound is not None:
            self.bound.check_retrievals(made)

    def use_tool(self, name: str | None) -> None:
        """Notes that a tool is called; None for one that is not to be named. Raises where it is one call
        too many."""
        self.tool_calls += 1
        if name is not None:
            self.tools.add(name)
        if self.bound is not None:
            self.bound.count_tool_call()


_participation: ContextVar[Participation | None] = ContextVar("rag_rule_run", default=None)

inside_retrieval: ContextVar[bool] = ContextVar("rag_rule_inside_retrieval", default=False)
"""True in what a retrieval itself does, such as asking a reranking model."""

_current_tools: ContextVar[tuple[str, ...]] = ContextVar("rag_rule_current_tools", default=())


def participation() -> Participation | None:
    """Returns what the current context takes part in; None outside, and once that has ended."""
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
        # A stream that is given up may end in the garbage collector's context, where nothing was set.
        with suppress(ValueError):
            inside_retrieval.reset(inside)
            _participation.reset(ours)


def refused(error: RagRuleError) -> RagRuleError:
    """Returns the error, which is not lost if the application swallows it."""
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
