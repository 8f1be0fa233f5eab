"""This module finds code that stores values on the running event loop or on the current thread.

Code gets these two objects by a call, such as ``asyncio.get_running_loop()``. No object of the
application refers to them, so a comparison of the application's objects before and after a run does not
show what the run stored there.
"""

import ast
from collections.abc import Iterator

from .code import tree_of
from .counting import is_read, is_read_by_models
from .files import Left
from .holdings import Holdings
from .sticking import makes_it_of_constants, place_of
from .writing import OF_THE_MOMENT, Written, label_of, writes_in

_OF_EVERY_THREAD = frozenset({"name", "daemon"})
"""Attributes that every thread has. Changes of them are not reported here, because another check compares
their values."""


def left_on_loop_or_thread(holdings: Holdings, reading: Holdings) -> Iterator[Left]:
    """Yields each value that the application's code sets on the running event loop or on a thread, and
    that code of replays reads. Leaves out values that do not depend on the run, such as a client.

    ``holdings``: the application's objects, whose code is searched for such writes. ``reading``: the
    objects among them whose code runs in replays.
    """
    for each in writes_in(holdings):
        name, _ = place_of(each)
        if (
            name in {"", *_OF_EVERY_THREAD}
            or not _is_on_loop_or_thread(each)
            or makes_it_of_constants(each)
        ):
            continue
        if is_read(reading, name) or is_read_by_models(reading, name):
            yield Left(name, f"{each.clause}, where the next run finds it")


def _is_on_loop_or_thread(written: Written) -> bool:
    """Returns True iff the write changes an event loop or a thread, or an object inside it, and the code
    gets the loop or thread by a call such as ``asyncio.get_running_loop()``."""
    target: ast.expr = written.target
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    if isinstance(target, ast.Name):
        return target.id in _names_of(written)
    return _is_got(target)


def _names_of(written: Written) -> frozenset[str]:
    tree = tree_of(written.code)
    assigned = [] if tree is None else [each for each in ast.walk(tree) if isinstance(each, ast.Assign)]
    return frozenset(
        target.id
        for each in assigned
        for target in each.targets
        if isinstance(target, ast.Name) and _is_got(each.value)
    )


def _is_got(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and label_of(value.func) in OF_THE_MOMENT
