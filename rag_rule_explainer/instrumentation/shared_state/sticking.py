"""This module finds values that code changes, but to which not every run assigns a new value. A run can
then read a value that an earlier run left.

Examples are ``self.mode = "calm"`` under an ``if``, and ``seen.append(title)``. If every run assigns a
new value, as by ``self.mode = grade(documents)`` or ``seen.clear()``, no old value is left.
"""

import ast
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from .asked_parts import KEYED, is_asked_by_key, is_asked_for_its_last
from .certain_writes import ANY_KEY, ChangedPlace, is_certain, key_as_written
from .code import tree_of
from .counting import is_read, is_read_by_models
from .emptied import is_one_of
from .evicting import is_evicting
from .fresh_keys import has_fresh_key
from .holdings import Holdings
from .writing import Written, label_of, locals_of, writes_in

_PASSING = frozenset(
    {
        *("queue", "threading", "thread", "asyncio", "concurrent", "contextvars", "logging", "random"),
        *("sqlite3", "re", "io", "builtins", "collections", "anyio", "multiprocessing"),
    }
)


@dataclass(slots=True)
class Sticking:
    """A ``Sticking`` describes a value that one run sets and the next run finds.

    ``written``: a place in the code that changes the value. ``keyed``: True if the code changes and reads
    only single entries of the value, by their keys; runs that use different keys then do not influence
    each other. ``changes``: False if all writes are calls of ``execute``, whose SQL statement may only
    read data. ``is_made``: True if the value is only ever set to None, or to a new object that does not
    depend on the run, such as a client.
    """

    name: str
    written: Written
    keyed: bool = True
    changes: bool = False
    is_made: bool = True


def sticking_in(
    holdings: Holdings, reading: Holdings, emptied: Collection[object] = (), *, of_models: bool = False
) -> list[Sticking]:
    """Returns the values that a run changes and that code of ``reading`` reads. Leaves out a value if
    every run assigns a new value before it reads the old one.

    ``holdings``: the application's objects, whose code is searched for changes. ``reading``: the objects
    among them whose code runs in replays. ``of_models``: if True, only changes in the code of the user's
    own models are found; otherwise only changes in other code. ``emptied``: collections that each run
    empties first.
    """
    changes = defaultdict[ChangedPlace, list[Written]](list)
    anew: set[ChangedPlace] = set()
    for each in writes_in(holdings):
        if each.is_of_model is not of_models:
            continue
        place = place_of(each)
        if is_evicting(each) or is_one_of(holders_of(each), holdings, emptied):
            continue
        is_anew = _sets_anew(each) or (_appends(each) and is_asked_for_its_last(holdings, place[0]))
        (anew.add(place) if is_anew else changes[place].append(each))
    found: dict[str, Sticking] = {}
    for (name, key), all_writes in changes.items():
        if not name or {(name, ""), (name, key)} & anew:
            continue
        if not (is_read_by_models if of_models else is_read)(reading, name):
            continue
        sticking = found.setdefault(name, Sticking(name, all_writes[0]))
        sticking.changes = sticking.changes or any(map(_surely_changes, all_writes))
        sticking.keyed = sticking.keyed and key == ANY_KEY
        sticking.is_made = sticking.is_made and all(map(makes_it_of_constants, all_writes))
    for each in found.values():
        each.keyed = each.keyed and is_asked_by_key(holdings, each.name)
    return list(found.values())


def set_at_times(holdings: Holdings, variables: Collection[ContextVar[Any]]) -> Iterator[Written]:
    """Yields the places where code sets one of these context variables. Leaves out a place if every run
    sets the variable there and does not read it before."""
    for each in writes_in(holdings, variables):
        name = place_of(each)[0]
        if holdings.outer.get(name) in variables and (
            not is_certain(each) or _is_read_before(each, name)
        ):
            yield each


def makes_it_of_constants(written: Written) -> bool:
    """Returns True iff the code sets the value to None, or to the result of a call whose arguments
    contain no local variable except ``self`` or ``cls``."""
    node, value = written.node, getattr(written.node, "value", None)
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or isinstance(written.target, ast.Subscript):
        return False
    value = value.value if isinstance(value, ast.Await) else value
    if isinstance(value, ast.Constant):
        return value.value is None
    local = {*locals_of(written.code), *written.code.co_freevars} - {"self", "cls"}
    names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)} if value else local
    return isinstance(value, ast.Call) and not names & local


def _surely_changes(written: Written) -> bool:
    """Returns False for ``execute``, because an SQL statement may only read data. Returns True for all
    other writes."""
    node = written.node
    return not isinstance(node, ast.Attribute) or node.attr not in {"execute", "executemany"}


def keeps(thing: object) -> bool:
    """Returns True iff an object whose content this package does not read, such as a client, may pass
    values from run to run.

    Returns False for queues, locks and files. After a run, a queue is empty and a lock is free, and
    another check covers files.
    """
    kind = type(thing)
    return (
        kind.__name__ in {"Event", "_local"}
        or str(kind.__module__).split(".")[0].strip("_") not in _PASSING
    )


def is_of_threads(thing: object, sticking: Sticking) -> bool:
    """Returns True iff ``thing`` is a ``threading.local`` in which each thread stores its own object, and
    this object does not depend on the run. An example is a client. ``sticking``: describes the stored
    value."""
    return type(thing) is threading.local and sticking.is_made


def holders_of(written: Written) -> Iterator[str]:
    """Yields the names of the objects that contain the changed attribute or entry, the innermost first:
    ``b`` and ``a`` for ``a.b.c = 1``."""
    target: ast.expr = written.target
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
        yield label_of(target)


def place_of(written: Written) -> ChangedPlace:
    """Returns the name and the key of the value that a write changes. The name is empty if code cannot
    read the value by a name."""
    target, node = written.target, written.node
    if isinstance(target, ast.Subscript):
        return _place_at(target)
    if isinstance(node, ast.Call):
        return _place_of_call(node)
    if isinstance(node, ast.Attribute) and isinstance(target, ast.Attribute):
        # The changed expression is a method that changes its object, such as ``seen.append``.
        is_keyed = target.attr in KEYED or has_fresh_key(written, target.value)
        return label_of(target.value), (ANY_KEY if is_keyed else "")
    return _place_at(target)


def _place_at(target: ast.expr) -> ChangedPlace:
    if isinstance(target, ast.Subscript):
        if _is_a_namespace(target.value) and isinstance(target.slice, ast.Constant):
            return str(target.slice.value), ""
        return label_of(target.value), key_as_written(target.slice)
    return label_of(target), ""


def _is_a_namespace(node: ast.expr) -> bool:
    """Returns True iff the expression is a dict of attributes or variables, such as ``vars(self)`` or
    ``globals()``."""
    label = label_of(node.func) if isinstance(node, ast.Call) else label_of(node)
    return label in {"vars", "globals", "__dict__"}


def _place_of_call(call: ast.Call) -> ChangedPlace:
    """Returns the name and the key that a call of ``setattr`` or ``setitem`` changes; both are empty for
    other calls."""
    name = label_of(call.func)
    if name not in {"setattr", "setitem"} or len(call.args) < 2:
        return "", ""
    if name == "setitem":
        return label_of(call.args[0]), key_as_written(call.args[1])
    known = call.args[1]
    return (str(known.value), "") if isinstance(known, ast.Constant) else ("", "")


def _sets_anew(written: Written) -> bool:
    """Returns True iff every call of the function assigns a new value that does not depend on the old
    value."""
    node, target = written.node, written.target
    if isinstance(node, ast.Attribute):
        return node.attr == "clear" and is_certain(written)
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    if isinstance(target, ast.Subscript) and key_as_written(target.slice) == ANY_KEY:
        return False
    name, _ = place_of(written)
    is_from_itself = any(
        label_of(each) == name or (isinstance(each, ast.Constant) and each.value == name)
        for each in ast.walk(node.value)
    )
    return not is_from_itself and is_certain(written) and not _is_read_before(written, name)


def _is_read_before(written: Written, name: str) -> bool:
    """Returns True iff the function reads the value before the function sets it. The function may then
    read a value that an earlier run left."""
    tree, line = tree_of(written.code), getattr(written.node, "lineno", 0)
    return tree is not None and any(
        isinstance(node, (ast.Name, ast.Attribute))
        and isinstance(node.ctx, ast.Load)
        and label_of(node) == name
        and node.lineno < line
        and not _is_target(tree, node)
        for node in ast.walk(tree)
    )


def _is_target(tree: ast.AST, read: ast.AST) -> bool:
    """Returns True iff the code reads this expression only to set one of its entries: ``x`` in ``x[key] =
    1``."""
    return any(
        isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and node.value is read
        for node in ast.walk(tree)
    )


def _appends(written: Written) -> bool:
    """Returns True iff every call of the function appends to the value."""
    tree, node = tree_of(written.code), written.node
    if not isinstance(node, ast.Attribute) or node.attr != "append" or tree is None:
        return False
    is_called = any(isinstance(each, ast.Call) and each.func is node for each in ast.walk(tree))
    return is_called and is_certain(written)
