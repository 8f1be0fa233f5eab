"""This module finds code that takes a pipe from the operating system.

The name "pipe" is not enough to recognise such code, because chains, pipelines and methods often have
this name too.
"""

import dis
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from types import CodeType, FunctionType


def takes_pipes(things: Iterable[object]) -> bool:
    """Returns True iff one of these objects is ``os.pipe``, or a function that reads it from ``os``."""
    return any(
        each is os.pipe or (isinstance(each, FunctionType) and _reads_it(each.__code__, _known(each)))
        for each in things
    )


def _known(function: FunctionType) -> Mapping[str, object]:
    """Returns the objects for which the free names of a function stand, by name."""
    known: dict[str, object] = {**function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # no value has been stored in the cell yet
            known[name] = cell.cell_contents
    return known


def _reads_it(code: CodeType, known: Mapping[str, object]) -> bool:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    if any(_reads_it(each, known) for each in inner):
        return True
    if "pipe" not in code.co_names:
        return False
    steps = [step for step in dis.get_instructions(code) if step.opname != "PUSH_NULL"]
    return any(
        step.argval == "pipe"
        and (
            # If the function itself imports the module, the name ``os`` stands for the module.
            (step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")) and _is_os(before.argval, known))
            or step.opname == "IMPORT_FROM"
        )
        for before, step in pairwise(steps)
    )


def _is_os(name: object, known: Mapping[str, object]) -> bool:
    return isinstance(name, str) and known.get(name, os if name == "os" else None) is os
