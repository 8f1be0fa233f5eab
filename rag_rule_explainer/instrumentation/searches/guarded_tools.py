"""This module keeps replays from running a tool, whichever way the application takes to the tool's
function: by the class, by ``inspect.unwrap``, or by a variable that refers to the function itself.

During an explanation, the code of these functions is replaced (see ``guarded_code``). The new code checks
whether a run calls the function directly and not through its tool. The result of a direct call is
recorded, and replays get this result. Other threads of the process call the function as before.
"""

import inspect
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary, WeakSet, ref

from ...probing.whose import is_named_as_ours, is_users
from ...tool_calls import ToolCall
from ..copies.guarded_code import CodeGuards
from ..executed_calls import ToolOutcome
from ..late_calls import in_its_run, late_use
from ..requests.tools_in_use import tools_in_use
from ..run_context import Participation, inside_retrieval, participation, run_begun
from ..tool_replay import UsedTool
from .tools import marked_tools, named_arguments

_GATES = f"{__package__}.gates"
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
        for function, name in list(marked_tools.items()):
            self._guard(function, ref(function), partial(_named, name))
        root = self.root()
        if root is None:
            return
        for kind in _with_subclasses(root):
            self._guard_kind(kind)
        for each in things:
            if isinstance(each, root):
                self.guard(each)

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
                for function, _ in _functions_in(vars(each).get(name)):
                    self._owners.setdefault(function, [])
                    _code.guard(function, partial(_chosen, ref(function)), self)

    def _guard(self, given: Any, tool: Callable[[], Any], name: Callable[[Any], str]) -> None:
        for function, bound in _functions_in(given):
            # A class may have a function that many tools used which no longer exist, because one tool was
            # made for each request. Such tools are removed from the list.
            alive = [each for each in self._owners.get(function, ()) if each.tool() is not None]
            self._owners[function] = [*alive, _Owner(tool, name, bound)]
            _code.guard(function, partial(_chosen, ref(function)), self)

    def chosen(self, run: Participation, function: Any, plain: Any, first: tuple[Any, ...]) -> Any:
        """Returns what a run calls in place of a guarded function: the function itself, or a function
        that records the call. ``plain``: the function with its original code; ``first``: its first
        argument, if there is one."""
        owners = list(self._owners.get(function, ()))
        fitting = [each for each in owners if each.bound is None or (first and first[0] is each.bound)]
        root = self.root()
        if not owners and first and root is not None and isinstance(first[0], root):
            fitting = [_Owner(partial(_given, first[0]), self.name_of, first[0])]
        found = [(each, tool) for each in fitting if (tool := each.tool()) is not None]
        names = {each.name(tool) for each, tool in found}
        running = {*tools_in_use.get()[-1:], *_within.get()}
        if not names or not names.isdisjoint(running) or _may_run(run, names):
            return plain
        (owner, tool), *_ = found
        called = plain if owner.bound is None else MethodType(plain, owner.bound)
        recorded = _Quietly(called, owner.name(tool), tool, partial(self.arguments_of, tool)).function
        return recorded if owner.bound is None else _Unbound(recorded)


_code = CodeGuards()
"""The guards of all frameworks together. An application may use one function in tools of several
frameworks."""


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
            return late_use(self.name, given)
        arguments = given()
        call, replay, told = ToolCall.written(self.name, arguments), run.tool_replay, (_WAY, arguments)
        if self.name in run.stubs:
            return UsedTool(None, None, ToolOutcome(run.stubs[self.name]))
        if replay is None:
            key = run.tool_record.key_of(self.name, told, self.tool)
            return UsedTool(call, run.tool_record, None, key, is_own=False)
        key = replay.key_of(self.name, told, self.tool, run.tool_record.tools.made)
        return UsedTool(call, None, replay.outcome(call, key))

    @contextmanager
    def _inside(self) -> Generator[None, None, None]:
        token = _within.set((*_within.get(), self.name))
        try:
            yield
        finally:
            _within.reset(token)


_within: ContextVar[tuple[str, ...]] = ContextVar("rag_rule_within_functions", default=())
"""The names of the tools whose functions are running now because they were called directly, not through
their tools."""


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


def _may_run(run: Participation, names: Collection[str]) -> bool:
    """Returns True iff one of these tools, or a tool that is running now, runs in replays. If a tool runs
    in replays, everything that it calls may run too."""
    replay = run.tool_replay
    if replay is None or replay.on_new == "live":
        return replay is not None
    running = {*tools_in_use.get(), *_within.get(), *names}
    return not running.isdisjoint(replay.safe) or not set(names).isdisjoint(replay.retrieving)


def _functions_in(given: Any) -> Iterator[tuple[FunctionType, object]]:
    """Yields the user's functions that a call of a tool's function may reach, each with the object of
    which it is a method (None for a plain function). Functions that are called only by a gated function
    are left out, because in a replay the gated function does not run."""
    bound: object = None
    seen = set[int]()
    while given is not None and id(given) not in seen:
        seen.add(id(given))
        if isinstance(given, partial):
            given = given.func
        elif isinstance(given, (staticmethod, classmethod)):
            given = cast("Any", given).__func__
        elif isinstance(given, MethodType):
            given, bound = given.__func__, given.__self__
        elif isinstance(given, FunctionType):
            module = str(given.__globals__.get("__name__"))
            if module == _GATES:
                return
            if is_users(module) and not is_named_as_ours(module):
                yield given, bound
            given = vars(given).get("__wrapped__")
        else:
            kind = cast("type[Any]", type(given))
            is_own = is_users(kind.__module__) and not isinstance(given, type)
            given, bound = (vars(kind).get("__call__"), given) if is_own else (None, None)
