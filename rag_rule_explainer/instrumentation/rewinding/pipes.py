"""This module finds code that creates a pipe of the operating system, or reads from one.

The name "pipe" is not enough to recognise such code, because chains, pipelines and methods often have
this name too.
"""

import dis
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from types import CodeType, FunctionType

from ..copies.guarded_code import own_code

_TAKES, _READS, _OPENS = "pipe", "read", "open"


def call_of_pipes(things: Iterable[object]) -> str:
    """Finds the first of these objects that uses a pipe. Returns "pipe" if this object is ``os.pipe`` or
    a function that calls ``os.pipe``, and "read" if it is a function that reads from a pipe by
    ``os.read``. Returns an empty text if no object uses a pipe. A function that also calls ``os.open``
    reads a file, not a pipe."""
    for each in things:
        if each is os.pipe:
            return _TAKES
        if isinstance(each, FunctionType):
            known = _known(each)
            if _calls(_TAKES, own_code(each), known):
                return _TAKES
            if _calls(_READS, own_code(each), known) and not _calls(_OPENS, own_code(each), known):
                return _READS
    return ""


def _known(function: FunctionType) -> Mapping[str, object]:
    """Returns the function's globals and enclosed variables, by name."""
    known: dict[str, object] = {**function.__globals__}
    for name, cell in zip(own_code(function).co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # the enclosed variable has no value yet
            known[name] = cell.cell_contents
    return known


def _calls(name: str, code: CodeType, known: Mapping[str, object]) -> bool:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    if any(_calls(name, each, known) for each in inner):
        return True
    if name not in code.co_names:
        return False
    steps = [step for step in dis.get_instructions(code) if step.opname != "PUSH_NULL"]
    return any(
        step.argval == name
        and (
            # If the function itself imports ``os``, the name is not among its globals.
            (step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")) and _is_os(before.argval, known))
            or (step.opname == "IMPORT_FROM" and (name == _TAKES or before.argval == "os"))
        )
        for before, step in pairwise(steps)
    )


def _is_os(name: object, known: Mapping[str, object]) -> bool:
    return isinstance(name, str) and known.get(name, os if name == "os" else None) is os
