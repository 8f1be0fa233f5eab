"""This module stores the current run of the application, with its records, in a context variable."""

from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar

from ..errors import RagRuleError
from .isolation.unheard import is_unheard
from .isolation.whereabouts import executing, run_here
from .reads_and_writes.noted_reads import reads_in_use
from .reads_and_writes.store_writes import StorePlace
from .recording.current import AnyPart, rejoining, taking_part
from .requests.exchanges import moment
from .requests.tools_in_use import call_in_use, tools_in_use
from .run_failures import unusable
from .run_record import Participation
from .tool_replay import UsedTool

_participation: ContextVar[Participation | None] = ContextVar("rag_rule_run", default=None)

_is_within: ContextVar[bool] = ContextVar("rag_rule_within_store", default=False)
"""True while a store carries out operations."""
inside_retrieval: ContextVar[bool] = ContextVar("rag_rule_inside_retrieval", default=False)
"""True while a retrieval runs. Calls inside it, as of a reranking model, are none of the application."""


def participation() -> Participation | None:
    """Returns the run of the current context; None outside of runs, and after the run has ended."""
    current = _participation.get()
    return None if current is None or current.gate.closed else current


def note_store_write(place: StorePlace, content: object) -> None:
    """Records that the current run writes to a store of a framework."""
    run, reads = participation(), reads_in_use.get()
    if run is not None:
        run.stores.note(place, content)
        if reads is not None:
            reads.wrote.add(place)


@contextmanager
def within_store() -> Generator[bool, None, None]:
    """Yields True iff no other store does the same within its own method."""
    is_outer = not _is_within.get()
    token = _is_within.set(True)
    try:
        yield is_outer
    finally:
        # The garbage collector may end a generator in another context, as below.
        with suppress(ValueError):
            _is_within.reset(token)


def note_store_read(place: StorePlace) -> None:
    """Records that code reads a store of a framework, and ends a replay in which what a tool wrote there
    is missing. What tools read is noted elsewhere."""
    run = participation()
    if run is None or run.tool_replay is None or tools_in_use.get() or is_unheard():
        return
    what = f"{'/'.join(place[1:]) or 'all'!r} of {place[0]}"
    run.tool_replay.note_read(what, run.tool_replay.record.inputs.written_at(place))


def has_run() -> bool:
    """Returns True iff the current context began in a run, even if that run has ended."""
    return _participation.get() is not None


def run_begun() -> Participation | None:
    """Returns the run in which the current context began, even if it has ended; None outside of runs."""
    return _participation.get() or run_here()


@contextmanager
def participating(run: Participation) -> Generator[None, None, None]:
    """Makes ``run`` the current run for the duration of the block. Afterwards no code counts as part of
    the run any more, not even in threads that the run started."""
    try:
        with taking_part_again(run):
            yield
    finally:
        run.gate.closed = True


@contextmanager
def taking_part_again(run: Participation) -> Generator[None, None, None]:
    """Makes ``run``, begun in another context, the current run in the block, and does not end it."""
    ours, inside = _participation.set(run), inside_retrieval.set(False)
    try:
        with rejoining(run.gate):
            yield
    finally:
        # If a stream is abandoned, the garbage collector may end this block in another context. The
        # variables are not set in that context, so a ValueError is raised.
        with suppress(ValueError):
            inside_retrieval.reset(inside)
            _participation.reset(ours)


def refused(error: RagRuleError) -> RagRuleError:
    """Stores the error on the current run, which may be swallowed. Returns it, to be raised."""
    run = participation()
    if run is not None and run.refused is None:
        run.refused = error
    return error


def check_not_ended(run: Participation) -> None:
    """Raises the error that is stored on a run, if there is one. Raises UnusableReply if the run was
    ended because it exceeded one of its limits (``bound``)."""
    if run.tool_replay is not None:
        run.tool_replay.cut = run.tool_replay.cut or run.tool_replay.children.why_ended
    if run.refused is not None:
        raise run.refused
    if run.bound is not None and run.bound.passed:
        raise unusable(run.bound.passed, run.watch, passing=False)


@contextmanager
def using_tool(name: str, used: UsedTool | None) -> Generator[None, None, None]:
    """Records the retrievals and tool calls of the block as made by the tool ``name``. ``used``: the call
    of this tool; None if it is unknown."""
    token = tools_in_use.set((*tools_in_use.get(), name))
    call = call_in_use.set(0 if used is None else used.at)
    run = participation()
    try:
        with nullcontext() if run is None else executing(run):
            yield
    finally:
        # A call that is only counted has no ``call``: a framework's own tool changes nothing outside.
        if run is not None and used is not None and used.call is not None and used.outcome is None:
            run.acts.end_call(name, used.at, moment())
        call_in_use.reset(call)
        tools_in_use.reset(token)


@contextmanager
def out_of_sight(inside: AnyPart | None = None) -> Generator[None, None, None]:
    """Hides the searches and model requests of the block from the record of the application, because they
    are part of a retrieval. ``inside``: the object that handles these searches; None if none does."""
    token = inside_retrieval.set(True)
    try:
        with taking_part(None) if inside is None else rejoining(inside):
            yield
    finally:
        inside_retrieval.reset(token)


def note_retrieving_tools() -> None:
    """Records on the current run that the tools which are running now retrieve sources."""
    run = participation()
    if run is not None:
        run.retrieving_tools.update(tools_in_use.get())
        run.tool_record.note_retrieving(call_in_use.get())
