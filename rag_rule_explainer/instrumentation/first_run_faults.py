"""This module makes the errors for a first run that cannot be explained. Their messages say why, and what
the user can do."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from ..errors import BaselineFailed, InvalidInput, NoSourcesCaptured
from ..probing.replaying import UnusableReply
from .isolation.acts import Act, first_acts
from .isolation.direct_writes import direct_write
from .options import CallInput, Manner
from .requests.calls_of_run import MadeCall, UnrecordedTool
from .requests.unrecorded_tools import MAY_RUN_AGAIN, NO_STUB, OR_NEXT_ACTION, REMOTE, RUNS_AGAIN, STRAY
from .run_record import Participation
from .searches.tools import marked_tools
from .source_kinds.gathering import running_tools

_RAN_WITHOUT_STUB = " That one ran, and would run again in every replay."
_NEAR = 0.75
"""If two names are at least this similar (0 to 1), one of them may be a misspelling of the other."""
_MISUSED = (TypeError, AttributeError, LookupError)
"""The errors that an application typically raises if its search returns a result of an unexpected
type."""
_SERVED_DOCUMENTS = (
    ". documents= were served to its searches as a list; where a gated search returns anything else, "
    "pass item_of= or items_of= to its gate, or add_documents= in place of documents="
)

_NAMED_OTHERWISE = (
    "; @tool is on {ran}, which ran, and no model called a tool of this name: if it is the function, say "
    "the name that the model knows, @tool(name={name!r})"
)
_MOST_NAMED = 3
ACTS = (
    "the tool {name!r} retrieves, so every replay would run it, and it also does something else: it "
    "{what}. Put that into a tool of its own (a function with @tool on it), which no replay runs; or, if "
    "doing it again is harmless, name the tool: safe_tools=[{name!r}]"
)
_GIVEN_A_STREAM = (
    ". A generator function is given an iterator of inputs here; pass a function that returns the whole "
    "text: lambda question: ''.join(app(question))"
)


def application_failed(error: Exception, case: CallInput, retrievals: int) -> BaselineFailed:
    """Returns the error for an application that raised an error in its first run. ``retrievals``: the
    number of retrievals before this error."""
    served = case.documents is not None and retrievals and isinstance(error, _MISUSED)
    advice = _SERVED_DOCUMENTS if served else _GIVEN_A_STREAM if "itertools._tee" in str(error) else ""
    return BaselineFailed(
        "the application failed on this input, so there is no answer to explain; "
        f"make it answer first: {type(error).__name__}: {error}{advice}"
    )


def no_answer(fault: str, called: str = "") -> BaselineFailed:
    """Returns the error for an answer that cannot be used. ``fault``: the fault in words, such as that a
    model's reply was cut off. ``called``: the name of the tool that the reply calls in place of an
    answer; empty if there is none."""
    hint = f", or ask about the call: calls_tool({called!r}, ...)" if called else ""
    failed = BaselineFailed(f"{fault}, so there is no answer to explain; make it answer first{hint}")
    # This cause marks the failure as temporary. The baseline is therefore repeated, in the same way as a
    # replay with such a reply.
    failed.__cause__ = UnusableReply(fault, passing=True)
    return failed


def nothing_retrieved(
    reason: str, manner: Manner, called: Collection[str], *, searched: bool
) -> NoSourcesCaptured:
    """Returns the error for a first run that retrieved no source. ``reason``: the reason why the run
    retrieved nothing. ``called``: the names of the tools that the run called. ``searched``: True if a
    search was seen that found nothing."""
    if manner.retrievers:
        reason += ". Only those named in retrievers= count, and none of them was asked"
    stubbed = sorted(set(manner.stub_tools).intersection(called))
    if stubbed:
        reason += (
            f". stub_tools stood in for {', '.join(map(repr, stubbed))}; leave the tool that searches "
            "out of it"
        )
    others = ", ".join(map(repr, sorted(set(called).difference(stubbed))[:_MOST_NAMED]))
    if others and not searched:
        reason += (
            f". Where one of the tools that it called searches ({others}), pass gate(tool) in its place"
        )
    return NoSourcesCaptured(reason)


def check_tools(manner: Manner, first: Participation) -> None:
    """Raises InvalidInput if a tool returned messages of the conversation although replays get recorded
    results: recorded messages do not fit into the conversation of a replay. Also raises it if the name of
    a stub is probably misspelt."""
    check_names(manner, first)
    running = first.retrieving_tools | manner.safe_tools | set(manner.stub_tools)
    called = {each.call.name for each in first.executed if running.issuperset(each.within)}
    unkept = sorted(first.unkept & called - running)
    if manner.replays_tools and manner.on_new_tool_call in (None, "unknown") and unkept:
        raise InvalidInput(
            f"the tool {unkept[0]!r} returned messages of the conversation, and a replay has other ones, "
            "so it cannot be given that result; if the tool does no harm, as one that only hands over to "
            f"another agent, let it run again: safe_tools=[{unkept[0]!r}]"
        )


def check_unrecorded(manner: Manner, first: Participation) -> None:
    """Raises InvalidInput if replays get recorded tool results, but it is unknown which function a called
    tool is: replays would then run this function.

    Ignores tools that may run: those that retrieve or are named safe. Also ignores calls after the point
    at which replays end: the explained reply (``replay_of="next_action"``), or a reply that decides the
    condition.
    """
    allowed = first.retrieving_tools | manner.safe_tools | manner.unexecuted_tools
    running, answers = running_tools(first, manner), manner.on_new_tool_call != "live"
    again, remote = set[UnrecordedTool](), sorted(first.calls.remote - manner.safe_tools)
    if remote and answers and manner.replays_tools:
        raise InvalidInput(REMOTE.format(names=", ".join(map(repr, remote))))
    for each in first.unmarked:
        repeats = first.before is None or each.at < first.before
        if each.name in manner.stub_tools and each.name not in manner.unexecuted_tools:
            raise InvalidInput(NO_STUB.format(name=each.name))
        runs = repeats and each.name not in allowed and running.issuperset(each.within)
        if runs and answers and manner.replays_tools:
            again.add(each)
    if again:
        raise _runs_again(manner, first, again)


def check_acts(manner: Manner, first: Participation) -> None:
    """Raises InvalidInput if replays get recorded tool results, and a tool that retrieves, which replays
    run, also did something that replays would do again. Ignores tools that the user named safe, and what
    was done after the point at which replays end."""
    if manner.replays_tools and manner.on_new_tool_call != "live":
        found = dict(acts_of_retrieving(manner, first))
        if found:
            raise InvalidInput(ACTS.format(name=min(found), what=found[min(found)]))


def acts_of_retrieving(manner: Manner, first: Participation) -> Iterator[tuple[str, str]]:
    """Yields the tools that run in replays because they retrieve, and that did something else besides,
    each with what it did, in words. Leaves out tools that the user named safe."""
    allowed = manner.safe_tools | manner.unexecuted_tools | set(manner.stub_tools)
    running = running_tools(first, manner)
    names = first.retrieving_tools - allowed
    repeated = {
        each.at: each.call.name
        for each in first.executed
        if running.issuperset(each.within) and (first.before is None or each.at < first.before)
    }
    done = [each for each in first.acts.all() if each.doer.at in repeated]
    written = dict(first_acts(done, names))
    for name in names.intersection(repeated.values()).difference(written):
        function = _direct_write(first, name)
        if function:
            written[name] = f"may write to an open file, as its code calls {function}"
    for made in first.unexecuted:
        inside = (each for each in first.acts.all() if _is_done_for(each, made))
        act = next(inside, None) if made.call.name in names else None
        if act is not None and (first.before is None or made.at < first.before):
            written.setdefault(made.call.name, act.what)
    yield from sorted(written.items())


def _direct_write(first: Participation, name: str) -> str:
    for tool in first.tool_record.tools.retrieving(name):
        work: list[object] = [tool] if first.guards is None else first.guards.work_of(tool)
        for each in work:
            if found := direct_write(each):
                return found
    return ""


def _is_done_for(act: Act, made: MadeCall) -> bool:
    """Returns True iff a function with the name of a tool did something between the model's call of this
    tool and the request with the result."""
    until = act.moment if made.answered is None else made.answered
    return not act.doer.tool and made.call.name in act.doer.callers and made.at < act.moment <= until


def _runs_again(manner: Manner, first: Participation, again: Collection[UnrecordedTool]) -> InvalidInput:
    answered = {each.name for each in again if each.is_answered}
    called = sorted(answered or {each.name for each in again})
    names = ", ".join(map(repr, called))
    if first.stray.issuperset(called):
        return InvalidInput(STRAY.format(names=names))
    advice = OR_NEXT_ACTION if manner.replay_of == "whole_run" and manner.accepts_calls else ""
    text = RUNS_AGAIN if answered else MAY_RUN_AGAIN
    return InvalidInput(text.format(names=names, next=_other_names(called, first) + advice))


def _other_names(called: Sequence[str], first: Participation) -> str:
    """Returns advice if functions with ``@tool`` ran under names that no model knows. They may be the
    functions of the tools ``called``. Returns an empty text if there are none."""
    marked = {each.name for each in marked_tools.values()}
    ran = sorted(marked & {each.call.name for each in first.executed} - first.calls.names)
    if not ran:
        return ""
    name = next((each for each in called if get_close_matches(each, ran, n=1)), called[0])
    return _NAMED_OTHERWISE.format(ran=", ".join(map(repr, ran)), name=name)


def tools_that_acted(manner: Manner, first: Participation) -> list[str]:
    """Returns the names of the tools that a repetition of the failed first run would run again, so that
    it must not be repeated. These are the tools that ran, and those that a model called, because a plain
    function may have run for the call. Leaves out tools that retrieve, have a stub, are named safe or
    unexecuted, or failed before they began. Returns an empty list if tools run in replays too."""
    if not manner.replays_tools or manner.on_new_tool_call == "live":
        return []
    ran = Counter(each.call.name for each in (*first.executed, *first.unexecuted))
    ran.subtract(call.name for call, _ in first.tool_record.not_begun)
    idle = first.retrieving_tools | manner.safe_tools | manner.unexecuted_tools | first.stubbed
    return sorted({name for name, count in ran.items() if count > 0} - idle)


def check_names(manner: Manner, first: Participation) -> None:
    """Raises InvalidInput if a setting names a tool that was not called, and a tool with nearly the same
    name was called: the name is probably misspelt. The settings are ``stub_tools``, ``safe_tools`` and
    ``unexecuted_tools``.

    Raises no error if a request to a model contains the name: a tool of this name then exists, and other
    runs may call it.
    """
    called = first.tools | first.calls.names
    settings = (
        ("stub_tools", set(manner.stub_tools), first.tools, _RAN_WITHOUT_STUB),
        ("safe_tools", set(manner.safe_tools), called, ""),
        ("unexecuted_tools", set(manner.unexecuted_tools), called, ""),
    )
    for setting, names, known, why in settings:
        for name in sorted(names - known):
            near = get_close_matches(name, known - names, n=1, cutoff=_NEAR)
            if near and not _is_sent(name, first):
                others = ", ".join(map(repr, sorted(known)))
                raise InvalidInput(
                    f"{setting} names {name!r}, and the first run called no tool of that name; did you "
                    f"mean {near[0]!r}?{why} It called {others}"
                )


def _is_sent(name: str, first: Participation) -> bool:
    return any(name in each.sent or name in each.request.text for each in first.watch.exchanges)
