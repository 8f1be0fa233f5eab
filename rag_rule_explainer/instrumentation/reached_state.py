"""This module finds the state that the code of a tool reaches besides its arguments: variables that it
encloses, attributes of the objects whose methods it calls, and global variables.

It says of each whether the code may read it; code that only adds to a list does not read the list.
"""

import dis
from collections import deque
from collections.abc import Hashable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache, partial
from pathlib import PurePath
from sqlite3 import Connection
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeAlias, cast

from ..probing.whose import is_named_as_ours, is_users
from .changed_in_place import ADDING, has_value, is_data_record
from .comparable import comparable_value
from .copies.guarded_code import own_code
from .noted_reads import ReadPath
from .rewinding.values import held_by
from .written_paths import path_content

_DEEPEST = 10
_MOST = 2_000
"""The largest number of objects that are looked at."""
_DATA = (dict, list, set, frozenset, tuple, deque, bytearray, str, bytes, int, float, bool, type(None))
_MUTABLE = (dict, list, set, deque, bytearray, Connection)
_CALLED = frozenset(
    {
        *("__call__", "__getitem__", "__contains__", "__len__", "__iter__", "__next__", "__bool__"),
        *("__enter__", "__getattr__", "__aiter__", "__anext__", "__aenter__"),
    }
)
"""The special methods that code may call without their names."""
_WORK = frozenset({"_run", "_arun", "call", "acall", "__call__"})
"""The methods by which frameworks run a tool."""
_OF_NAMES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
_BY_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
Holder: TypeAlias = Hashable


class Reached(NamedTuple):
    """A ``Reached`` is one value that code reaches. ``content``: what ``comparable_value`` returns for
    it; ``holders``: identify the variable, and the object itself if it may change; ``is_read``: True if
    the code may read it; ``is_coarse``: True for a file, and for an object of a library, of which it may
    read any part."""

    content: Any
    holders: tuple[Holder, ...]
    is_read: bool
    is_coarse: bool = False


class _Names(NamedTuple):
    """The names in code: all; those that it reads; and those that it uses otherwise than by an attribute,
    as in ``f"{session}"`` or ``asdict(session)``, so that it may read all of the object."""

    named: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()

    def __or__(self, other: "_Names") -> "_Names":
        return _Names(self.named | other.named, self.read | other.read, self.whole | other.whole)


def reached_state(tool: object, kept: list[object], begun: float) -> dict[ReadPath, Reached]:
    """Returns the values that the code of a tool reaches, by the names that lead to them. ``tool``: the
    tool, or its function; ``kept``: gets the holders, so that no later object gets the id of one;
    ``begun``: the time at which the baseline began."""
    names = _Names()
    while True:
        walk = _Walk(names, begun)
        walk.from_tool(tool)
        if walk.names == names:
            kept += walk.kept
            return walk.values
        names = walk.names


class _Walk:
    """A ``_Walk`` goes through what code reaches. ``known``: the names in the code, as far as it is known
    yet; ``names``: those in all code that was found. ``begun``: see ``reached_state``."""

    def __init__(self, known: _Names, begun: float) -> None:
        self.known = known
        self.begun = begun
        self.names = known
        self.values = dict[ReadPath, Reached]()
        self.kept = list[object]()
        self._seen = set[tuple[int, bool]]()

    def from_tool(self, tool: Any) -> None:
        """Goes through a tool: its functions, and the methods that do its work."""
        if isinstance(tool, (FunctionType, MethodType, partial)):
            self._visit(tool, (), (), is_read=True)
            return
        kinds = [each for each in type(tool).__mro__ if is_users(str(each.__module__))]
        for kind in kinds:
            for name in _WORK & vars(kind).keys():
                self._visit(vars(kind)[name], (name,), (), is_read=True)
        for name, each in _held(tool).items():
            if callable(each):
                self._visit(each, (name,), ((id(tool), name),), is_read=True)
        if kinds:
            self._attributes(tool, ("self",))

    def _visit(self, value: Any, path: ReadPath, holders: tuple[Holder, ...], *, is_read: bool) -> None:
        if _is_data(value) and not is_users(type(value).__module__):
            self._note(value, path, holders, is_read=is_read)
            return
        if (id(value), is_read) in self._seen or len(self._seen) > _MOST or len(path) > _DEEPEST:
            return
        self._seen.add((id(value), is_read))
        self.kept.append(value)
        if isinstance(value, FunctionType):
            self._function(value, path)
        elif isinstance(value, (staticmethod, classmethod)):
            self._visit(cast("Any", value).__func__, path, (), is_read=True)
        elif isinstance(value, property):
            self._visit(value.fget, path, (), is_read=True)
        elif isinstance(value, MethodType):
            self._visit(value.__func__, path, (), is_read=True)
            self._visit(value.__self__, (*path, "self"), (), is_read=True)
        elif isinstance(value, partial):
            call = cast("partial[Any]", value)
            for place, each in enumerate((call.func, *call.args, *call.keywords.values())):
                self._visit(each, (*path, place), (), is_read=True)
        elif isinstance(value, ContextVar):
            variable = cast("ContextVar[Any]", value)
            self._note(variable.get(None), path, (id(variable),), is_read=is_read)
        else:
            self._object(value, path, holders, is_read=is_read)

    def _object(self, value: Any, path: ReadPath, holders: tuple[Holder, ...], *, is_read: bool) -> None:
        is_own = is_users(
            str(value.__name__ if isinstance(value, ModuleType) else type(value).__module__)
        )
        if isinstance(value, type):
            is_own = is_users(str(cast("type[Any]", value).__module__))
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            self._visit(wrapped, path, (), is_read=True)
        elif is_own or (is_data_record(value) and not hasattr(value, "invoke")):
            self._attributes(value, path)
        if is_own and not _is_data(value):
            return
        if isinstance(value, (*_DATA, PurePath, Connection)) or (
            is_data_record(value) and not hasattr(value, "invoke")
        ):
            self._note(value, path, holders, is_read=is_read)

    def _function(self, function: FunctionType, path: ReadPath) -> None:
        module, wrapped = str(function.__globals__.get("__name__")), vars(function).get("__wrapped__")
        if not is_users(module) or is_named_as_ours(module):
            # What this package or a framework puts around a function may differ from run to run.
            if wrapped is not None:
                self._visit(wrapped, path, (), is_read=True)
            # A function of a framework may enclose one of the user's.
            for each in function.__closure__ or ():
                if has_value(each) and isinstance(each.cell_contents, (FunctionType, MethodType)):
                    self._visit(each.cell_contents, (*path, "inner"), (), is_read=True)
            return
        code = own_code(function)
        names = _names_in(code)
        self.names |= names
        where = (*path[:1], function.__qualname__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            if has_value(cell):
                self.kept.append(cell)
                read, holder = name in names.read, (id(cell),)
                self._visit(cell.cell_contents, (*where, name), holder, is_read=read)
        for name in sorted(names.named & function.__globals__.keys()):
            holder = ((module, name),)
            self._visit(function.__globals__[name], (module, name), holder, is_read=name in names.read)
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        for place, each in enumerate((*defaults, wrapped)):
            self._visit(each, (*where, place), (), is_read=True)

    def _attributes(self, value: Any, path: ReadPath) -> None:
        is_whole = not isinstance(value, ModuleType) and not self.known.whole.isdisjoint(path)
        for name, each in _held(value).items():
            if is_whole or name in self.known.named:
                read, holder = is_whole or name in self.known.read, ((id(value), name),)
                self._visit(each, (*path, name), holder, is_read=read)
        if isinstance(value, ModuleType):
            return
        kind: Any = value if isinstance(value, type) else type(value)
        owners: tuple[type, ...] = kind.__mro__
        for owner in owners:
            if not is_users(str(owner.__module__)):
                continue
            for name, each in vars(owner).copy().items():
                if name in _CALLED or (name in self.known.named and not name.startswith("__")):
                    read, holder = name in self.known.read, ((id(owner), name),)
                    self._visit(each, (*path, name), holder, is_read=read)

    def _note(self, value: Any, path: ReadPath, holders: tuple[Holder, ...], *, is_read: bool) -> None:
        if path in self.values and self.values[path].is_read:
            return
        own = (id(value),) if _is_mutable(value) else ()
        self.kept.append(value)
        of_path = path_content(value, self.begun)
        content = comparable_value(value) if of_path is None else of_path
        is_coarse = of_path is not None or not (_is_data(value) or isinstance(value, Connection))
        self.values[path] = Reached(content, (*holders, *own), is_read, is_coarse)


def _is_data(value: object) -> bool:
    return isinstance(value, _DATA)


def _is_mutable(value: object) -> bool:
    return isinstance(value, _MUTABLE)


def _held(value: Any) -> Mapping[str, Any]:
    if isinstance(value, (type, ModuleType)):
        return vars(value).copy() if isinstance(value, ModuleType) else {}
    return held_by(value) or {**getattr(value, "__dict__", {})}


@lru_cache(maxsize=2_048)
def _names_in(code: CodeType) -> _Names:
    steps = list(dis.get_instructions(code))
    named, read, whole = {*code.co_names, *code.co_freevars}, set[str](), set[str]()
    for place, step in enumerate(steps):
        if step.opname in _OF_NAMES and not _only_changes(steps, place):
            read.add(str(step.argval))
            after = steps[min(place + 1, len(steps) - 1)]
            whole |= set() if after.opname in _BY_ATTRIBUTE else {str(step.argval)}
    found = _Names(frozenset(named), frozenset(read), frozenset(whole))
    for each in _inner(code):
        found |= _names_in(each)
    return found


def _inner(code: CodeType) -> Iterator[CodeType]:
    yield from (each for each in code.co_consts if isinstance(each, CodeType))


def _only_changes(steps: list[dis.Instruction], place: int) -> bool:
    """Returns True iff the value that an instruction loads is only changed: an entry of it is set, or
    something is added to it."""
    step = steps[place]
    if _adds_to_entry(steps, place):
        return True
    before, after = steps[max(place - 1, 0)], steps[min(place + 1, len(steps) - 1)]
    second = steps[min(place + 2, len(steps) - 1)]
    if after.opname in ("LOAD_ATTR", "LOAD_METHOD") and after.argval in ADDING:
        return True
    if second.opname == "STORE_SUBSCR":
        return True
    if step.opname == "LOAD_ATTR" and before.opname in ("COPY", "DUP_TOP"):
        return _is_in_place(second)
    return step.opname in ("LOAD_DEREF", "LOAD_GLOBAL") and _is_in_place(second)


def _adds_to_entry(steps: list[dis.Instruction], place: int) -> bool:
    """Returns True iff the value that an instruction loads gets another value under one key, such as
    ``counts[name] += 1``."""
    doubling = [each.opname for each in steps[place + 2 : place + 4]]
    if doubling[:1] != ["DUP_TOP_TWO"] and doubling != ["COPY", "COPY"]:
        return False
    rest = steps[place + 3 : place + 16]
    added = next((number for number, each in enumerate(rest) if _is_in_place(each)), len(rest))
    return any(each.opname == "STORE_SUBSCR" for each in rest[added : added + 4])


def _is_in_place(step: dis.Instruction) -> bool:
    return step.opname.startswith("INPLACE_") or (
        step.opname == "BINARY_OP" and step.argrepr.endswith("=")
    )
