"""This module keeps replays from running a tool, whichever way the application takes to the tool's
function: by the class, by ``inspect.unwrap``, or by a variable that refers to the function itself.

During an explanation, the code of these functions is replaced (see ``guarded_code``). The new code
records a run's direct calls and their results. Other threads of the process call the function as before.
"""

import inspect
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from inspect import getattr_static
from types import FunctionType, MethodType
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary, WeakSet, ref

from ...probing.whose import is_users
from ...tool_calls import ToolCall
from ..copies.guarded_code import CodeGuards
from ..executed_calls import ToolOutcome
from ..late_calls import in_its_run, late_use
from ..requests.exchanges import moment
from ..requests.tools_in_use import functions_in_use, tools_in_use
from ..run_context import inside_retrieval, participation, run_begun
from ..run_record import Participation
from ..tool_replay import GivenToTool, UsedTool
from .functions_of_tools import functions_in, is_call_of
from .handed_work import reached_by
from .tools import Marked, marked_tools, named_arguments

_WAY = "its function"


class _Owner(NamedTuple):
    """An ``_Owner`` is a tool that has a function. ``tool``: returns the tool; ``name``: returns its
    name; ``bound``: if the function is a method, the method's object; otherwise None."""

    tool: Callable[[], Any]
    name: Callable[[Any], str]
    bound: object = None


@dataclass(slots=True, eq=False)
class ToolGuards:
    """A ``ToolGuards`` guards the functions of a framework's tools. Thread-safe.

    ``attributes``: the names of the attributes in which tools hold functions; ``methods``: the names of
    the methods that do the work of a tool; ``name_of``: returns the name of a tool; ``arguments_of``:
    returns the arguments of a call that the model gives; ``root``: returns the base class of tools, None
    if it is not loaded.
    """

    root: Callable[[], type | None] = lambda: None
    attributes: Collection[str] = ()
    methods: Collection[str] = ()
    name_of: Callable[[Any], str] = str
    arguments_of: Callable[[Any, Mapping[str, Any]], Any] = lambda _, given: given
    _code: CodeGuards = field(default_factory=CodeGuards)
    _owners: WeakKeyDictionary[Any, list[_Owner]] = field(default_factory=WeakKeyDictionary[Any, Any])
    _known: dict[int, Any] = field(default_factory=dict[int, Any])
    _kinds: WeakSet[type] = field(default_factory=WeakSet[type])

    def guard_all(self, things: Iterable[object]) -> None:
        """Guards the functions of the tools among these objects, of all classes of tools that are
        loaded, and of all functions with ``@tool``."""
        for each in list(marked_tools.values()):
            self.guard_marked(each)
        root = self.root()
        if root is None:
            return
        for kind in _with_subclasses(root):
            self._guard_kind(kind)
        for each in things:
            if isinstance(each, root):
                self.guard(each)

    def guard_marked(self, marked: Marked) -> None:
        """Guards the functions of a tool with ``@tool``."""
        self._guard(marked.function(), marked.function, partial(_named, marked.name))

    def guard(self, tool: Any) -> None:
        """Guards the functions of a tool."""
        key = id(tool)
        held: Mapping[str, Any] = object.__getattribute__(tool, "__dict__")
        if key in self._known or not held:  # without attributes, it is still being made
            return
        try:
            known: Any = ref(tool, lambda _: self._known.pop(key, None))
        except TypeError:  # the class allows no weak references
            known = partial(_given, tool)
        self._known[key] = known
        self._guard_kind(cast("type[Any]", type(tool)))
        for name in self.attributes:
            self._guard(held.get(name), known, self.name_of)

    def work_of(self, tool: object) -> list[object]:
        """Returns what does the work of a tool: the functions that it holds, and methods of its class if
        that is the user's. A function that is a tool itself is returned unchanged."""
        root = self.root()
        if root is None or not isinstance(tool, root):
            return [tool]
        held: Mapping[str, Any] = object.__getattribute__(tool, "__dict__")
        methods = self.methods if is_users(type(tool).__module__) else ()
        own = (getattr_static(tool, name, None) for name in methods)
        bound = (MethodType(each, tool) for each in own if isinstance(each, FunctionType))
        return [*(held.get(name) for name in self.attributes), *bound]

    def restore(self) -> None:
        """Restores all functions."""
        _code.restore(self)
        self._owners.clear()
        self._known.clear()
        self._kinds.clear()

    def _guard_kind(self, kind: type) -> None:
        if kind in self._kinds:
            return
        self._kinds.add(kind)
        for each in kind.__mro__ if is_users(kind.__module__) else ():
            for name in self.methods:
                for function, _ in functions_in(vars(each).get(name)):
                    self._owners.setdefault(function, [])
                    _code.guard(function, partial(_chosen, ref(function)), self)

    def _guard(self, given: Any, tool: Callable[[], Any], name: Callable[[Any], str]) -> None:
        for function, bound in functions_in(given):
            # A class may have a function of many tools that are long gone, each made for one request.
            alive = [each for each in self._owners.get(function, ()) if each.tool() is not None]
            self._owners[function] = [*alive, _Owner(tool, name, bound)]
            _code.guard(function, partial(_chosen, ref(function)), self)

    def chosen(self, run: Participation, function: Any, plain: Any, first: tuple[Any, ...]) -> Any:
        """Returns what a run calls in place of a guarded function: itself, or a function that records the
        call. ``plain``: the function as it was; ``first``: its first argument, if there is one."""
        found = [
            (each, tool)
            for each, tool in self._owners_of(function, first)
            if each.bound is None or is_call_of(run, each.name(tool), first, each.bound)
        ]
        if _is_let_through(run, found):
            return plain
        (owner, tool), *_ = found
        called = plain if owner.bound is None else MethodType(plain, first[0])
        recorded = _Quietly(called, owner.name(tool), tool, partial(self.arguments_of, tool)).function
        return recorded if owner.bound is None else _Unbound(recorded)

    def tool_in(self, run: Participation, work: object) -> str | None:
        """Returns the name of a tool that must not run in a run, but that work may call which is handed
        to another process; None if there is none."""
        for each in reached_by(work, self.root()):
            function, first = each, cast("tuple[Any, ...]", ())
            if isinstance(each, MethodType):
                function, first = each.__func__, (each.__self__,)
            is_tool = isinstance(each, self.root() or ())
            if not is_tool and not (isinstance(function, FunctionType) and function in self._owners):
                continue
            found = [
                (owner, tool)
                for owner, tool in self._owners_of(function, (each,) if is_tool else first)
                if is_tool
                or not first
                or owner.bound is None
                or is_call_of(run, owner.name(tool), first, owner.bound)
            ]
            if not _is_let_through(run, found):
                return min(owner.name(tool) for owner, tool in found)
        return None

    def _owners_of(self, function: Any, first: tuple[Any, ...]) -> list[tuple[_Owner, Any]]:
        owners = list(self._owners.get(function, ())) if isinstance(function, FunctionType) else []
        root = self.root()
        if not owners and first and root is not None and isinstance(first[0], root):
            owners = [_Owner(partial(_given, first[0]), self.name_of, first[0])]
        return [(each, tool) for each in owners if (tool := each.tool()) is not None]


_code = CodeGuards()
"""The guards of all frameworks together, as one function may be in tools of several of them."""


def _chosen(function: Callable[[], Any], plain: FunctionType, first: tuple[Any, ...]) -> Any:
    """Returns the same as ``ToolGuards.chosen`` for the current run; outside of runs, returns the
    function with its original code."""
    run = run_begun()
    if run is None or run.guards is None or inside_retrieval.get():
        return plain
    return run.guards.chosen(run, function(), plain, first)


@dataclass(frozen=True, slots=True)
class _Quietly:
    """A ``_Quietly`` makes a replacement for the function of a tool that the application calls directly,
    not through the tool. Calls of the replacement do not count as calls of the tool, and their results
    are no sources. But the results are recorded, and a replay gets them, so that the function does not
    run.

    ``called``: the function; ``name``, ``tool``: its tool; ``arguments_of``: returns the arguments that
    the model gives.
    """

    called: Callable[..., Any]
    name: str
    tool: object
    arguments_of: Callable[[Mapping[str, Any]], Any]

    @property
    def function(self) -> Callable[..., Any]:
        """Returns the replacement of the called function, sync or async."""
        return self._acall if inspect.iscoroutinefunction(self.called) else self._call

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        with in_its_run():
            used = self._used(args, kwargs)
            if used is None:
                return self.called(*args, **kwargs)
            if used.outcome is not None:
                return used.outcome.given()
            with self._inside(), used.noting_errors():
                result = self.called(*args, **kwargs)
            return used.noted(result)

    async def _acall(self, *args: Any, **kwargs: Any) -> Any:
        with in_its_run():
            used = self._used(args, kwargs)
            if used is None:
                return await self.called(*args, **kwargs)
            if used.outcome is not None:
                return used.outcome.given()
            with self._inside(), used.noting_errors():
                result = await self.called(*args, **kwargs)
            return used.noted(result)

    def _used(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> UsedTool | None:
        given = partial(named_arguments, inspect.signature(self.called), args, kwargs, self.arguments_of)
        run = participation()
        if run is None:
            return late_use(self.name, given, tool=self.tool)
        arguments = given()
        call, replay, told = ToolCall.written(self.name, arguments), run.tool_replay, (_WAY, arguments)
        if self.name in run.stubs:
            return UsedTool(None, None, ToolOutcome(run.stubs[self.name]))
        if replay is None:
            key = run.tool_record.key_of(self.name, told, self.tool)
            before = run.tool_record.reached(GivenToTool((args, kwargs)), self.tool)
            return UsedTool(call, run.tool_record, None, key, at=moment(), is_own=False, reaching=before)
        key = replay.key_of(self.name, told, self.tool, run.tool_record.tools.made)
        return UsedTool(call, None, replay.outcome(call, key, self.tool))

    @contextmanager
    def _inside(self) -> Generator[None, None, None]:
        token = functions_in_use.set((*functions_in_use.get(), self.name))
        try:
            yield
        finally:
            functions_in_use.reset(token)


class _Unbound(NamedTuple):
    """An ``_Unbound`` wraps a method of an object as a function of the object's class: it is called with
    the object as its first argument."""

    method: Callable[..., Any]

    def __call__(self, _: object, *args: Any, **kwargs: Any) -> Any:
        return self.method(*args, **kwargs)


def _given(tool: object) -> object:
    return tool


def _named(name: str, _: object) -> str:
    return name


def _with_subclasses(root: type) -> Iterator[type]:
    yield root
    for each in type.__subclasses__(root):
        yield from _with_subclasses(each)


def _is_let_through(run: Participation, found: Collection[tuple[_Owner, Any]]) -> bool:
    """Returns True iff a function runs as it is: it is no tool's, or its tool is running or may run."""
    names = {each.name(tool) for each, tool in found}
    running = {*tools_in_use.get()[-1:], *functions_in_use.get()}
    return not names or not names.isdisjoint(running) or _may_run(run, found, names)


def _may_run(run: Participation, found: Collection[tuple[_Owner, Any]], names: Collection[str]) -> bool:
    """Returns True iff one of these tools runs in replays, or if the user lets a tool that is running do
    so, with all that it does."""
    replay = run.tool_replay
    if replay is None or replay.on_new == "live":
        return replay is not None
    running = {*tools_in_use.get(), *functions_in_use.get(), *names}
    made = run.tool_record.tools.made
    return not running.isdisjoint(replay.safe) or any(
        replay.retrieves(each.name(tool), tool, made) for each, tool in found
    )
