"""This module finds the syntax tree of a function, and the objects to which its names refer."""

import ast
import builtins
import linecache
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.contents import attributes_of, names_in
from ..shared_state.parsing import syntax_tree

Code = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NOTHING = object()
"""This object is returned if the object to which a name refers cannot be found."""


def code_of(function: FunctionType) -> Iterator[Code]:
    """Yields the syntax tree of a function. Yields several trees if several lambdas begin in the same
    line and cannot be distinguished, and none if the source is not available."""
    code = own_code(function)
    names = set(names_in(code)) - {"__name__"}
    for node, known in _functions_in(code.co_filename).get(code.co_firstlineno, ()):
        if (isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and names <= known) or (
            not isinstance(node, ast.Lambda) and node.name == code.co_name
        ):
            yield node


@lru_cache(maxsize=64)
def _functions_in(file: str) -> dict[int, list[tuple[Code, set[str]]]]:
    """Returns the functions in a file by the numbers of their first lines, each with the names that it
    uses. Returns an empty dict if the file cannot be read or parsed."""
    try:
        module = syntax_tree("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, list[tuple[Code, set[str]]]] = {}
    for node in ast.walk(module):
        if isinstance(node, Code):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            first = min([node.lineno, *(each.lineno for each in decorators)])
            found.setdefault(first, []).append((node, set(_names_in(node))))
    return found


def _names_in(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


class KnownNames:
    """A ``KnownNames`` finds the objects to which names in a function refer, without running the user's
    code. ``holder``: the object or class of a method; None for any other function."""

    def __init__(self, function: FunctionType, node: Code, holder: object) -> None:
        code = own_code(function)
        self._globals = function.__globals__
        self._closed = dict(_closed_in(code, function))
        own = code.co_varnames[: code.co_argcount]
        self._own = own[0] if own and own[0] in {"self", "cls"} else ""
        self._holder = holder
        self._local = _imported_in(node)
        self._set = {
            each.id
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        self._set |= {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}

    def object_of(self, node: ast.expr) -> Any:
        """Returns the object to which an expression of names refers, such as ``module.name``; NOTHING if
        it cannot be known before a run."""
        if isinstance(node, ast.Name):
            if node.id == self._own:
                return self._holder
            for known in (self._local, *(() if node.id in self._set else (self._closed, self._globals))):
                if node.id in known:
                    return known[node.id]
            return NOTHING if node.id in self._set else getattr(builtins, node.id, NOTHING)
        return self._attribute(node) if isinstance(node, ast.Attribute) else NOTHING

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.object_of(node.value)
        if isinstance(owner, ModuleType) or _is_of_a_library(owner):
            try:
                return getattr(owner, node.attr, NOTHING)
            except Exception:  # a module's ``__getattr__`` may raise any error
                return NOTHING
        if isinstance(node.value, ast.Name) and node.value.id == self._own and owner is not None:
            return _held_by(owner, node.attr)
        return NOTHING


def _held_by(owner: Any, name: str) -> Any:
    """Returns the attribute of an object or class of the user's, without running the user's code; NOTHING
    if there is none."""
    held = attributes_of(owner)
    kind = owner if isinstance(owner, type) else type(owner)
    return held.get(
        name, next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), NOTHING)
    )


def _is_of_a_library(owner: Any) -> bool:
    """Returns True for classes and objects of libraries such as ``random`` and ``datetime``, because
    reading their attributes runs no code of the user's."""
    module: str = (owner if isinstance(owner, type) else type(owner)).__module__
    return module.partition(".")[0] in {"random", "datetime", "numpy", "uuid", "secrets"}


def _closed_in(code: CodeType, function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # the enclosed variable has no value yet
            continue


def _imported_in(node: ast.AST) -> dict[str, Any]:
    """Returns the objects that the function's own import statements import, by name. A module that is not
    loaded yet is not imported; its value is NOTHING."""
    found: dict[str, Any] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            for alias in each.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or name] = sys.modules.get(name, NOTHING)
        elif isinstance(each, ast.ImportFrom) and each.module and not each.level:
            module = sys.modules.get(each.module)
            for alias in each.names:
                found[alias.asname or alias.name] = getattr(module, alias.name, NOTHING)
    return found
