"""This module finds the state that the code of a tool reaches besides its arguments: variables that it
encloses, attributes of the objects whose methods it calls, and global variables.

It says of each whether the code may read it; code that only adds to a list does not read the list.
"""

import os
import sys
from collections.abc import Hashable
from contextvars import ContextVar
from enum import Enum
from functools import partial
from io import BytesIO, StringIO
from operator import attrgetter, methodcaller
from pathlib import Path, PurePath
from sqlite3 import Connection
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, cast

from ...probing.whose import is_named_as_ours, is_users
from ..comparable import comparable_library_value, comparable_value
from ..copies.guarded_code import own_code
from ..isolation.unheard import unheard_by_hook
from .attributes_read import attributes_held, attributes_read
from .changed_in_place import has_value, is_data_record
from .collected import collected_code
from .file_reads import KnownFiles
from .inner_parts import inner_parts
from .library_data import cached_values, has_memory, has_work, is_unknown, parts_that_run, viewed
from .noted_reads import ReadPath
from .reached import (
    DATA,
    FOLLOWED,
    Holder,
    Reached,
    file_holder,
    is_mutable,
    is_plain_data,
    reached_memory,
)
from .read_names import ANY_VARIABLE, METHODS_THAT_ADD, CodeNames, NamedVariable, names_in_code
from .written_paths import NEW_PATH, path_content

_DEEPEST = 30
_MOST = 2_000
"""The largest number of objects that are looked at."""
_WORK = frozenset({"_run", "_arun", "call", "acall", "__call__"})
"""The methods by which frameworks run a tool."""
_BUFFERS = (StringIO, BytesIO)
_ASKING = frozenset({"exists", "lexists", "is_file", "isfile", "is_dir", "isdir", "access"}) | {
    *("stat", "lstat", "getsize", "getmtime")
}
"""The names by which code asks for a file without opening it."""


def reached_state(tool: object, kept: list[object], files: KnownFiles) -> dict[ReadPath, Reached]:
    """Returns the values that the code of a tool reaches, by the names that lead to them. ``tool``: the
    tool, or its function; ``kept``: gets the holders, so that no later object gets the id of one;
    ``files``: those that the run has written."""
    names = CodeNames()
    while True:
        walk = _Walk(names, files)
        with unheard_by_hook():
            walk.from_tool(tool)
        if walk.names == names:
            kept += walk.kept
            return walk.values
        names = walk.names


class _Walk:
    """A ``_Walk`` goes through what code reaches. ``known``: the names in the code, as far as it is known
    yet; ``names``: those in all code that was found. ``files``: see ``reached_state``."""

    def __init__(self, known: CodeNames, files: KnownFiles) -> None:
        self.known = known
        self.files = files
        self.names = known
        self.values = dict[ReadPath, Reached]()
        self.kept = list[object]()
        self._handed_on = set[ReadPath]()  # what no code names, in an object that code hands on
        self._of_whole = set[ReadPath]()  # attributes of objects all of which code may read
        self._seen = set[tuple[Hashable, ...]]()

    def from_tool(self, tool: Any) -> None:
        """Goes through a tool: its functions, and the methods that do its work."""
        if isinstance(tool, (FunctionType, MethodType, partial)):
            self._visit(tool, (), (), is_read=True)
            return
        kinds = [each for each in type(tool).__mro__ if is_users(str(each.__module__))]
        for kind in kinds:
            for name in _WORK & vars(kind).keys():
                self._visit(vars(kind)[name], (name,), (), is_read=True)
        for name, each in attributes_held(tool).items():
            if callable(each):
                self._visit(each, (name,), ((id(tool), name),), is_read=True)
        if kinds:
            self._attributes(tool, ("self",))

    def _visit(self, value: Any, path: ReadPath, holders: tuple[Holder, ...], *, is_read: bool) -> None:
        value = viewed(value)
        if type(value) not in FOLLOWED:
            self._note_any(value, path, holders, is_read=is_read)
        if is_plain_data(value) and not is_users(type(value).__module__):
            for place, each in enumerate(collected_code(value)):
                self._visit(each, (*path, place), (), is_read=is_read)
            return
        # What code reads of an object depends on the name by which it uses the object.
        seen = (id(value), is_read, *(path[-1:] if is_users(type(value).__module__) else ()))
        if seen in self._seen or len(self._seen) > _MOST or len(path) > _DEEPEST:
            return
        self._seen.add(seen)
        self.kept.append(value)
        self._follow(value, path, is_read=is_read)

    def _follow(self, value: Any, path: ReadPath, *, is_read: bool) -> None:
        """Goes through what a value leads to."""
        if isinstance(value, FunctionType):
            self._function(value, path)
        elif isinstance(value, (staticmethod, classmethod, property)):
            held = cast("Any", value)
            self._visit(
                held.fget if isinstance(value, property) else held.__func__, path, (), is_read=True
            )
        elif isinstance(value, MethodType):
            self.names |= CodeNames(frozenset({value.__func__.__name__}))
            self._visit(value.__func__, path, (), is_read=True)
            if not is_users(str(value.__func__.__module__)) and is_users(type(value.__self__).__module__):
                # A method of a library may read all of the user's object.
                own = id(value.__self__)
                self._note(value.__self__, (*path, "self"), (own, ("of", own)), is_read=True)
            self._visit(value.__self__, (*path, "self"), (), is_read=True)
        elif isinstance(value, BuiltinFunctionType) and not isinstance(value.__self__, ModuleType):
            is_read = value.__name__ not in METHODS_THAT_ADD
            self._visit(value.__self__, (*path, "self"), (), is_read=is_read)
        elif isinstance(value, (attrgetter, methodcaller)):
            _, args = cast("tuple[Any, tuple[Any, ...]]", value.__reduce__()[:2])
            read = frozenset(part for each in args for part in str(each).split("."))
            self.names |= CodeNames(read, read)
        elif isinstance(value, partial):
            call = cast("partial[Any]", value)
            for place, each in enumerate((call.func, *call.args, *call.keywords.values())):
                self._visit(each, (*path, place), (), is_read=True)
        elif isinstance(value, ContextVar):
            variable = cast("ContextVar[Any]", value)
            self._note(variable.get(None), path, (id(variable),), is_read=is_read)
            self._visit(variable.get(None), (*path, "its value"), (), is_read=is_read)
        else:
            self._object(value, path, is_read=is_read)

    def _note_any(
        self, value: Any, path: ReadPath, holders: tuple[Holder, ...], *, is_read: bool
    ) -> None:
        """Notes what a variable holds, whatever it is."""
        is_record = is_data_record(value) and not has_work(value)
        is_own = is_users(str((value if isinstance(value, type) else type(value)).__module__))
        if is_own and not is_plain_data(value):
            self._note_which(value, path, holders, is_read=is_read)
        elif has_memory(value) and not is_record:
            self.values[path] = reached_memory(value, is_changed=True)
        elif is_record or isinstance(value, (*DATA, PurePath, Connection, *_BUFFERS)):
            self._note(value, path, holders, is_read=is_read)
        else:
            content = comparable_library_value(value)
            if content is not None:
                self._add(value, path, (*holders, id(value)), content, is_read=is_read)
            elif is_unknown(value):
                is_changed = not self.known.changed.isdisjoint(path)
                self.values[path] = reached_memory(value, is_changed=is_changed)

    def _object(self, value: Any, path: ReadPath, *, is_read: bool) -> None:
        kind: Any = value if isinstance(value, (type, ModuleType)) else type(value)
        is_own = is_users(str(kind.__name__ if isinstance(value, ModuleType) else kind.__module__))
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            self._visit(wrapped, path, (), is_read=True)
            for place, each in enumerate(cached_values(value)):
                if is_mutable(each) or is_users(type(each).__module__):
                    self._visit(each, (*path, "the cache", place), (), is_read=is_read)
        elif is_own or (is_data_record(value) and not has_work(value)):
            self._attributes(value, path)
        for place, each in enumerate(parts_that_run(value)):
            self._visit(each, (*path, "the parts", place), (), is_read=True)

    def _note_which(
        self, value: Any, path: ReadPath, holders: tuple[Holder, ...], *, is_read: bool
    ) -> None:
        """Notes which object of the user's a variable holds. What it holds itself is noted apart."""
        if not holders or isinstance(value, ModuleType):
            return
        kind = cast("type[Any]", value if isinstance(value, type) else type(value))
        named = f"{kind.__module__}.{kind.__qualname__}"
        content = ("the object", named, value.name if isinstance(value, Enum) else "")
        self.values[path] = Reached(content, holders, is_read, identity=id(value))

    def _function(self, function: FunctionType, path: ReadPath) -> None:
        module, wrapped = str(function.__globals__.get("__name__")), vars(function).get("__wrapped__")
        if not is_users(module) or is_named_as_ours(module):
            self._function_of_library(function, path)
            return
        code = own_code(function)
        names = names_in_code(code)
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
        self._by_texts(function, names)
        for name in self.known.named & vars(function).keys():
            self._visit(vars(function)[name], (*where, name), ((id(function), name),), is_read=True)
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        for place, each in enumerate((*defaults, wrapped)):
            self._visit(each, (*where, place), (), is_read=True)

    def _function_of_library(self, function: FunctionType, path: ReadPath) -> None:
        """Goes through the user's functions behind one of a library."""
        wrapped = vars(function).get("__wrapped__")
        # What this package or a framework puts around a function may differ from run to run.
        if wrapped is not None:
            self._visit(wrapped, path, (), is_read=True)
        # A function of a framework may enclose one of the user's.
        for each in function.__closure__ or ():
            if has_value(each) and isinstance(each.cell_contents, (FunctionType, MethodType)):
                self._visit(each.cell_contents, (*path, "inner"), (), is_read=True)
        for name, each in vars(function).copy().items():
            if isinstance(each, MappingProxyType):  # the functions of functools.singledispatch
                self._visit(each, (*path, name), (), is_read=True)

    def _by_texts(self, function: FunctionType, names: CodeNames) -> None:
        """Goes through what a function reaches by the texts in its code."""
        variables = function.__globals__
        for each in names.environment:
            self._environment(each, variables)
        for each in sorted(names.texts):
            content = path_content(each, self.files) if "\n" not in each else None
            is_asked = not Path(each).is_dir() or not names.named.isdisjoint(_ASKING)
            if content not in (None, NEW_PATH) and is_asked:
                self._add(each, ("the file", each), (), content, is_read=True)
        named = (str(variables[each]) for each in names.named & variables.keys())
        for each in {*named, *names.texts} if "modules" in names.named else ():
            if is_users(each) and each in sys.modules:
                self._visit(sys.modules[each], (each,), (), is_read=True)
        own = (each for each in variables if names.is_any and not each.startswith("__"))
        for each in list(own):
            module = str(variables.get("__name__"))
            if isinstance(variables[each], (*DATA, *_BUFFERS)):
                self._visit(variables[each], (module, each), ((module, each),), is_read=True)

    def _environment(self, wanted: NamedVariable, variables: dict[str, Any]) -> None:
        name: Any = variables.get(wanted.name, ANY_VARIABLE) if wanted.is_global else wanted.name
        if not isinstance(name, str) or name == ANY_VARIABLE:
            self._note(dict(os.environ), ("os.environ",), (), is_read=True)
        elif name in os.environ:
            self._note(os.environ[name], ("os.environ", name), (("os.environ", name),), is_read=True)

    def _attributes(self, value: Any, path: ReadPath) -> None:
        is_in_whole = any(path[:end] in self._of_whole for end in range(len(path) + 1))
        for each in attributes_read(value, path, self.known, is_in_whole=is_in_whole):
            inner = (*path, each.name)
            self._handed_on |= {inner} if each.is_handed_on else set()
            self._of_whole |= {inner} if each.is_of_whole else set()
            self._visit(each.value, inner, (each.holder,), is_read=each.is_read)

    def _note(self, value: Any, path: ReadPath, holders: tuple[Holder, ...], *, is_read: bool) -> None:
        if path in self.values and self.values[path].is_read:
            return
        of_path = path_content(value, self.files)
        content = comparable_value(value) if of_path is None else of_path
        self._add(value, path, holders, content, is_read=is_read)

    def _add(
        self, value: Any, path: ReadPath, holders: tuple[Holder, ...], content: Any, *, is_read: bool
    ) -> None:
        own: tuple[Holder, ...] = (id(value),) if is_mutable(value) else ()
        is_path = isinstance(value, PurePath) or (
            isinstance(value, str) and content != (type(value), value)
        )
        if is_path:
            own = (file_holder(os.path.abspath(value)),)  # noqa: PTH100 -- links stay as they are
        self.kept.append(value)
        is_known = (
            is_plain_data(value) or isinstance(value, (Connection, *_BUFFERS)) or id(value) in holders
        )
        is_coarse = (is_path and self.names.named.isdisjoint(_ASKING)) or not (is_known or is_path)
        is_coarse = is_coarse or path in self._handed_on
        parts = inner_parts(value) if is_known else {}
        self.values[path] = Reached(content, (*holders, *own), is_read, is_coarse, parts)
