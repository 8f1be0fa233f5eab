"""This module finds the data that functions of the user enclose, and the globals that they read."""

from collections.abc import Iterator
from dis import get_instructions
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ..copies.guarded_code import own_code
from ..rewinding.companies import is_own
from ..shared_state.contents import is_collection, is_frameworks
from ..shared_state.held import Held
from .passed_constants import is_passed_constant

NO_DATA = (CodeType, ModuleType, type)
"""The types of objects that hold no data of an application."""


class Holding(NamedTuple):
    """A ``Holding`` is something that an application holds. ``path``: the name by which messages refer to
    it; ``name``: the last part of it; ``is_global``: True if it is a variable of a module;
    ``is_constant``: True if the code has it where it made the function that encloses it."""

    path: str
    name: str
    content: Any
    is_global: bool = False
    is_constant: bool = False


def enclosed_by(function: FunctionType) -> Iterator[Holding]:
    """Yields the data that a function of the user's encloses, each with its name."""
    for name, cell in zip(own_code(function).co_freevars, function.__closure__ or (), strict=True):
        content = content_of_cell(cell)
        kind = type(content)
        is_data = is_collection(content) or not (is_own(kind.__module__) or is_frameworks(content))
        if _runs_again(function) and is_data and not isinstance(content, (FunctionType, *NO_DATA)):
            is_constant = is_passed_constant(function, content)
            yield Holding(f"{function.__name__}.{name}", name, content, is_constant=is_constant)


def reads_held(function: FunctionType, held: Held) -> bool:
    """Returns True iff a function of the user's uses the collection ``held``, as a global variable or
    as the default value of a parameter. An attribute with the same name as a global variable does not
    count."""
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    is_default = any(each is held.thing for each in defaults)
    return _runs_again(function) and (is_default or held.name in _globals_in(own_code(function)))


def _globals_in(code: CodeType) -> set[str]:
    own = {each.argval for each in get_instructions(code) if each.opname in {"LOAD_GLOBAL", "LOAD_NAME"}}
    inner = [_globals_in(each) for each in code.co_consts if isinstance(each, CodeType)]
    return own.union(*inner)


def _runs_again(function: FunctionType) -> bool:
    """Returns True iff a function is the user's, and may be called in a run. The method ``__init__`` only
    makes an object before the run."""
    is_users = is_own(str(function.__globals__.get("__name__", "")))
    return is_users and function.__name__ != "__init__"


def content_of_cell(cell: object) -> object:
    """Returns the value of an enclosed variable; None if it has no value yet."""
    try:
        return getattr(cell, "cell_contents", None)
    except ValueError:  # the enclosed variable has no value yet
        return None
