"""This module decides, after a run has ended, whether the application may have run something for a tool
call that has no result in any request."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ..run_record import Participation
from .calls_of_run import MadeCall, UnrecordedTool
from .unrecorded_tools import check_no_stub, check_unrun

_DEEPEST = 12
_NAMES = ("name", "tool_name")
_IDS = ("call_id", "id", "tool_call_id", "tool_id")
_ARGUMENTS = frozenset({"args", "arguments", "input", "tool_kwargs"})


class ReturnedCall(NamedTuple):
    """A ``ReturnedCall`` is a tool call in the output of an application. ``identity``: its id; empty if
    it has none."""

    identity: str
    name: str


def note_unanswered(run: Participation, output: Any) -> None:
    """Records, on a run that has ended, each tool call without a result for which no recorded tool ran.
    ``output``: the output of the run.

    If the output ends with the call itself, the application only returned the call to its caller.
    Otherwise, the application may have run one of its own functions for the call. In a replay,
    UntrueReplay is then raised, unless the user named the tool safe.
    """
    own = [each for each in run.unexecuted if each.answered is None]
    returned = list(_ending_calls(output)) if own else []
    unrecorded = list[MadeCall]()
    for each in own:
        if run.calls.last_step < each.at and any(_is_same(each, one) for one in returned):
            each.settled = True
            run.calls.returned.add(each.call.name)
        else:
            unrecorded.append(each)
    check_no_stub(run, unrecorded)
    if run.tool_replay is not None:
        check_unrun(run, unrecorded)
        return
    run.unmarked.update(
        UnrecordedTool(each.call.name, each.within, each.at, is_answered=False) for each in unrecorded
    )


def _is_same(made: MadeCall, returned: ReturnedCall) -> bool:
    has_identity = bool(made.identity) and made.identity != made.call.name
    return made.identity == returned.identity if has_identity else made.call.name == returned.name


def _ending_calls(output: Any, depth: int = 0) -> Iterator[ReturnedCall]:
    """Yields the tool calls at the end of an output. These are the output itself if it is a call, the
    calls of its last message, or the calls at the end of a list."""
    entries = _entries(output)
    if depth > _DEEPEST or (entries is not None and _is_result(entries)):
        return
    if entries is None:
        for each in _last_of(output):
            yield from _ending_calls(each, depth + 1)
        return
    function = _entries(entries.get("function") or entries.get("custom")) or entries
    name = _name_in(function)
    if name is not None and _is_call(entries, function):
        identity = next((str(entries[key]) for key in _IDS if entries.get(key)), "")
        yield ReturnedCall(identity, name)
        return
    for each in entries.values():
        yield from _ending_calls(each, depth + 1)


def _name_in(function: Mapping[str, Any]) -> str | None:
    name = next((function[key] for key in _NAMES if function.get(key)), None)
    return name if isinstance(name, str) else None


def _is_result(entries: Mapping[str, Any]) -> bool:
    return "tool_call_id" in entries and _ARGUMENTS.isdisjoint(entries)


def _is_call(entries: Mapping[str, Any], function: Mapping[str, Any]) -> bool:
    has_arguments = not _ARGUMENTS.isdisjoint(function)
    return has_arguments and not _is_result(entries) and not {"output", "content"}.intersection(entries)


def _last_of(output: Any) -> Sequence[Any]:
    """Returns the last item of a list and, if it is a call, the calls just before it. Returns all items
    of a tuple, and an empty sequence for any other value."""
    if not isinstance(output, (list, tuple)):
        return ()
    listed = cast("Sequence[Any]", output)
    if isinstance(listed, tuple):
        return listed
    place = len(listed)
    while place and _is_alone_a_call(listed[place - 1]):
        place -= 1
    return listed[place:] or listed[-1:]


def _is_alone_a_call(given: Any) -> bool:
    entries = _entries(given)
    if entries is None:
        return False
    function = _entries(entries.get("function") or entries.get("custom")) or entries
    return _name_in(function) is not None and _is_call(entries, function)


def _entries(given: Any) -> Mapping[str, Any] | None:
    """Returns the fields of a mapping, a dataclass or a pydantic model; None for anything else."""
    if isinstance(given, Mapping):
        return cast("Mapping[str, Any]", given)
    kind = cast("object", type(given))
    found: Any = getattr(kind, "model_fields", None) or getattr(kind, "__dataclass_fields__", None)
    names = cast("dict[str, Any]", found if isinstance(found, dict) else {})
    return {name: getattr(given, name, None) for name in names} if names else None
