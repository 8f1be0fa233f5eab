"""This module finds out whether the instances of a class keep all their state in their attributes. If so,
a copy of the attributes is a complete copy of the instance.

Code *reaches out* if it uses globals, files or libraries that may store state. Code that cannot be
checked counts as reaching out.
"""

import builtins
import dis
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, cast
from weakref import WeakKeyDictionary

from .guarded_code import own_code

_ENCLOSED = {
    "_thread",
    "abc",
    "array",
    "asyncio",
    "base64",
    "bisect",
    "builtins",
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "logging",
    "math",
    "numbers",
    "numpy",
    "operator",
    "pydantic",
    "pydantic_core",
    "random",
    "re",
    "reprlib",
    "statistics",
    "string",
    "textwrap",
    "threading",
    "time",
    "types",
    "typing",
    "typing_extensions",
    "uuid",
    "warnings",
}
"""Libraries whose functions store nothing for the code that calls them. Code that calls these functions
does not reach out."""

_GENERATED = "<string>"
"""The file name of code that a library such as ``dataclasses`` generates."""

_OURS = "rag_rule_explainer"
_REACHING = {"open", "exec", "eval", "compile", "__import__", "input", "globals", "vars"}
_CONSTANTS = (int, float, complex, bool, str, bytes, type(None), frozenset)
_MUTABLE = (list, dict, set, bytearray)
_LOOKED_UP = {"LOAD_GLOBAL", "LOAD_NAME"}
_SET = {"STORE_GLOBAL", "DELETE_GLOBAL"}

_verdicts: WeakKeyDictionary[Any, dict[tuple[str, ...], bool]] = WeakKeyDictionary()


def keeps_to_itself(thing: type | FunctionType, trusted: tuple[str, ...] = ()) -> bool:
    """Returns True iff the code of the class or function does not reach out (use globals, files or
    libraries that may store state). All state is then in the instances.

    ``trusted``: packages and modules that are known to store no state.
    """
    known = _verdicts.setdefault(thing, {})
    if trusted not in known:
        known[trusted] = _Looking(trusted).at_value(thing)
    return known[trusted]


class _Looking:
    """A ``_Looking`` checks a class or function, and everything that its code names, for code that
    reaches out (uses globals, files or libraries that may store state). Each object is checked once."""

    def __init__(self, trusted: tuple[str, ...]) -> None:
        self._trusted = trusted
        self._seen: set[int] = set()

    def at_value(self, value: object) -> bool:
        """Returns True iff code that uses this value cannot thereby store state outside of instances. A
        number is such a value; an unknown module is not."""
        if isinstance(value, _CONSTANTS) or id(value) in self._seen:
            return True
        if isinstance(value, tuple):
            return all(map(self.at_value, cast("tuple[object, ...]", value)))
        if isinstance(value, ModuleType):
            return self._is_known(value.__name__)
        if isinstance(value, BuiltinFunctionType):
            return self._is_known(value.__module__) and value.__name__ not in _REACHING
        if isinstance(value, (type, FunctionType)):
            self._seen.add(id(value))
            return self._at_class(value) if isinstance(value, type) else self._at_function(value)
        return False

    def _is_known(self, module: str | None) -> bool:
        return _root(module) in _ENCLOSED or is_within(module or "", self._trusted)

    def _at_class(self, kind: type) -> bool:
        return all(self._at_owner(owner) for owner in kind.__mro__)

    def _at_owner(self, owner: type) -> bool:
        if self._is_known(owner.__module__):
            return True
        entries = {name: entry for name, entry in vars(owner).copy().items() if name != "model_config"}
        if any(isinstance(entry, _MUTABLE) and name[:2] != "__" for name, entry in entries.items()):
            return False  # All instances of the class share this attribute, so it may store state.
        functions = (function for entry in entries.values() for function in _functions(entry))
        return all(map(self._at_function, functions))

    def _at_function(self, function: FunctionType) -> bool:
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None and not self.at_value(wrapped):
            return False
        module = str(function.__globals__.get("__name__"))
        if self._is_known(module) or (wrapped is not None and _root(module).endswith(_OURS)):
            return True
        if own_code(function).co_filename == _GENERATED:
            return True
        free = zip(own_code(function).co_freevars, function.__closure__ or (), strict=False)
        if not all(self.at_value(_content(cell)) for name, cell in free if name != "__class__"):
            return False
        return all(self._at_step(step, function) for step in _steps(own_code(function)))

    def _at_step(self, step: dis.Instruction, function: FunctionType) -> bool:
        if step.opname == "IMPORT_NAME":
            return self._is_known(str(step.argval))
        if step.opname not in _LOOKED_UP:
            return step.opname not in _SET
        if step.argval in function.__globals__:
            return self.at_value(function.__globals__[step.argval])
        return hasattr(builtins, step.argval) and step.argval not in _REACHING


def is_within(module: str, packages: tuple[str, ...]) -> bool:
    """Returns True iff ``module`` is one of these packages or modules, or is inside one of the
    packages."""
    return any(module == each or module.startswith(f"{each}.") for each in packages)


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _functions(entry: Any) -> Iterable[FunctionType]:
    if isinstance(entry, (classmethod, staticmethod)):
        return _functions(cast("Any", entry).__func__)
    if isinstance(entry, property):
        accessors = (entry.fget, entry.fset, entry.fdel)
        return [each for each in accessors if isinstance(each, FunctionType)]
    return [entry] if isinstance(entry, FunctionType) else []


def _steps(code: CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _steps(constant)


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # an empty cell contains no state
        return None
