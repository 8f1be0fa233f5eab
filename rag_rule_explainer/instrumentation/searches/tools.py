"""This module defines ``tool``, the decorator that marks a function as a tool of the model."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial, wraps
from types import BuiltinFunctionType, MethodType
from typing import Any, NamedTuple, TypeVar, cast, overload
from weakref import WeakKeyDictionary, ref

from ...allowed import checked_function
from ...errors import InvalidInput
from ..late_calls import in_its_run, late_use
from ..reads_and_writes.noted_reads import GivenToTool
from ..requests.tools_in_use import TOOL_NAME, tools_in_use
from ..run_context import participation, using_tool
from ..tool_replay import UsedTool

ToolFunction = TypeVar("ToolFunction", bound=Callable[..., Any])
ArgumentsOf = Callable[[Mapping[str, Any]], Any]
"""A function that takes the arguments of a tool's call by name, and returns only those that the model
gave."""


class Marked(NamedTuple):
    """A ``Marked`` is a function that ``tool`` has marked. ``name``: its name as a tool; ``function``:
    returns it, None if it is gone."""

    name: str
    function: Callable[[], Any]


marked_tools: WeakKeyDictionary[Callable[..., Any], Marked] = WeakKeyDictionary()
"""The dict holds what ``tool`` has marked, by the function; a method of an object by the function that
``tool`` returned for it, because a method is made anew each time that it is read."""


@overload
def tool(function: ToolFunction, *, name: str = "") -> ToolFunction: ...


@overload
def tool(function: None = None, *, name: str) -> Callable[[ToolFunction], ToolFunction]: ...


def tool(function: Any = None, *, name: str = "") -> Any:
    """Marks a function, sync or async, as a tool of the model, and returns it. ``tool`` is a decorator:
    ``@tool``, or ``@tool(name="get_news")`` if the model knows the tool by another name than that of the
    function.

    The mark is needed in two cases. The first is ``stub_tools=``, which replaces the results of tools
    that must not run, such as a tool that writes or sends. The second is replays whose tool calls get the
    recorded results of the baseline, as they do if a condition is about tool calls or
    ``on_new_tool_call=`` is set. Tool calls in the model's replies are counted even without the mark.
    Outside of an explanation, the function does the same as before.
    """
    if not isinstance(cast("object", name), str):
        raise InvalidInput(f"tool(name=...) takes the name by which the model calls it, not {name!r}")
    if function is None and name:
        return partial(_marked, name=name)
    return _marked(function, name)


def _marked(function: Any, name: str) -> Any:
    own = checked_function("tool", function, "a function").__name__
    name = name or own
    recorded = recording_calls(function, name)
    by_itself = not isinstance(function, (MethodType, BuiltinFunctionType))
    held = ref(function if by_itself else recorded)
    marked = Marked(name, held if by_itself else partial(_wrapped_in, held))
    marked_tools[function if by_itself else recorded] = marked
    vars(recorded)[TOOL_NAME] = name
    run = participation()
    if run is not None:
        if run.guards is not None:
            run.guards.guard_marked(marked)
        run.note_made_tool(name, function)
    return recorded


def _wrapped_in(held: Callable[[], Any]) -> Any:
    return getattr(held(), "__wrapped__", None)


def note_made(name_of: Callable[[Any], str], tool: object) -> None:
    """Records on the current run that it has made a tool. ``name_of``: returns the name of ``tool``;
    ``tool``: the tool. A tool whose name is not known yet is not recorded."""
    run = participation()
    if run is not None and run.guards is not None:
        run.guards.guard(tool)
    with suppress(Exception):  # reading the name may run the user's code
        if run is not None:
            run.note_made_tool(name_of(tool), tool)


def noting_made(name_of: Callable[[Any], str]) -> Callable[[str, Any], Any]:
    """Returns a function that makes the replacement of the method ``__init__`` of tools. The replacement
    records each tool that a run makes. ``name_of``: returns the name of a tool."""

    def replacement(_: str, method: Any) -> Any:
        @wraps(method)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            method(self, *args, **kwargs)
            note_made(name_of, self)

        return init

    return replacement


def recording_calls(
    function: Any, name: str, arguments_of: ArgumentsOf = dict, way: str = "", own: object = None
) -> Any:
    """Returns a function, sync or async, that does the same as ``function``, but whose calls are recorded
    as calls of the tool ``name``. ``way``: the attribute, such as "func", by which the tool is called;
    calls by different ones are never equal. ``own``: the tool; None if ``function`` is the tool.

    Within a run, a generator is read to its end when its first item is asked for. Its result is the list
    of its items, and a replay gives it item by item."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return _recording_items(function, name, arguments_of, way, own)
    used_by = _use_of(function, name, arguments_of, way, own)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with in_its_run():
            used = used_by(args, kwargs)
            if used is None:
                return function(*args, **kwargs)
            if used.outcome is not None:
                return _made(used.outcome.given())
            with using_tool(name, used), used.noting_errors():
                result = function(*args, **kwargs)
            return _made(used.noted(result))

    @wraps(function)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        with in_its_run():
            used = used_by(args, kwargs)
            if used is None:
                return await function(*args, **kwargs)
            if used.outcome is not None:
                return _made(used.outcome.given())
            with using_tool(name, used), used.noting_errors():
                result = await function(*args, **kwargs)
            return _made(used.noted(result))

    return acall if inspect.iscoroutinefunction(function) else call


def _use_of(
    function: Any, name: str, arguments_of: ArgumentsOf, way: str, own: object
) -> Callable[[tuple[Any, ...], dict[str, Any]], UsedTool | None]:
    """Returns a function that notes a call with these arguments, and returns its ``UsedTool``; None if
    the call is to run as it would without this package."""
    signature = inspect.signature(function)

    def used_by(args: tuple[Any, ...], kwargs: dict[str, Any]) -> UsedTool | None:
        given = partial(named_arguments, signature, args, kwargs, arguments_of)
        run = participation()
        if run is None:
            return late_use(name, given, tool=own or function)
        noted = GivenToTool((args, kwargs))
        return run.use_tool(name, given(), way=way, tool=own or function, given=noted)

    return used_by


def _recording_items(function: Any, name: str, arguments_of: ArgumentsOf, way: str, own: object) -> Any:
    """Returns a generator function, sync or async, that does what ``recording_calls`` says."""

    def is_recorded() -> bool:
        return tools_in_use.get()[-1:] == (name,)

    @wraps(function)
    def read(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        return list(made) if is_recorded() else made

    @wraps(function)
    async def aread(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        return [each async for each in made] if is_recorded() else made

    is_async = inspect.isasyncgenfunction(function)
    recorded = recording_calls(aread if is_async else read, name, arguments_of, way, own or function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        yield from _items(recorded(*args, **kwargs))

    @wraps(function)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        found = await recorded(*args, **kwargs)
        if inspect.isasyncgen(found):
            async for each in found:
                yield each
            return
        for each in _items(found):
            yield each

    return acall if is_async else call


def _items(result: Any) -> Iterable[Any]:
    """Returns the items of a result that stands for a generator. A result that is no list, such as that
    of a stub, is its one item."""
    is_listed = isinstance(result, list) or inspect.isgenerator(result)
    return cast("Iterable[Any]", result) if is_listed else [result]


def named_arguments(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], arguments_of: ArgumentsOf
) -> object:
    """Returns the arguments of a call that the model gave, by name; None if the function cannot be called
    with these arguments."""
    with suppress(TypeError):  # the later call of the function raises this error
        return arguments_of(_by_name(signature.bind(*args, **kwargs)))
    return None


def _by_name(bound: inspect.BoundArguments) -> dict[str, Any]:
    arguments = dict(bound.arguments)
    for each in bound.signature.parameters.values():
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            arguments |= arguments.pop(each.name, {})
    return arguments


def _made(result: Any) -> Any:
    run = participation()
    if run is not None:
        run.made.append(str(result))
    return result
