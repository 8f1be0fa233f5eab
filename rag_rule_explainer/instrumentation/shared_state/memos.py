"""This module finds values that the first run computes from its sources and that later runs reuse.

An example is ``if self.cut is None: self.cut = mean(scores)``. If later runs reuse such a value, all runs
on all sources look equal. Such a value is recognised by two signs: the baseline left it, and the user's
code writes it only if it is missing.
"""

import ast
from collections.abc import Callable, Collection, Iterator
from functools import cached_property, lru_cache
from inspect import getattr_static
from types import CodeType

from ..copies.guarded_code import own_code
from .code import tree_of, users_functions
from .contents import is_collection
from .counting import is_named, is_read
from .files import Left
from .held import Held
from .holdings import Holdings, changed_values
from .writing import label_of


def first_made(
    start: Holdings,
    after: Holdings,
    later: Holdings,
    is_harmless: Callable[[str, str], bool],
    emptied: Collection[object] = (),
) -> Iterator[Left]:
    """Yields the values that the baseline left and that later runs reuse.

    ``start``, ``after``, ``later``: the state of the application before and after the baseline, and after
    a later run. ``is_harmless``: a function that returns True iff the user ignores the value. Its
    arguments are the value's name in messages, such as ``'cut' of Chain``, and its key; the key is empty
    for a value that is no entry of a dict. ``emptied``: collections that every run empties first, so that
    their entries are not reused.
    """
    kept = set(_kept_names(after))
    for held, name, _ in changed_values(start, after, after.is_in_users):
        thing: object = held.thing
        label = held.name if is_collection(thing) else name
        around = (held, *after.above(held))
        if (
            any(each.thing is one for each in around for one in emptied)
            or (_is_dict(thing) and not name)
            or not label
            or (start.of(thing) is None and not _holder_was_there(start, after, held))
        ):
            continue
        # If no code reads the value, it has no influence. An example is a maximum for a report.
        goes_by = is_read(after, label) or is_named(after, label)
        is_kept = _is_cached(thing, name) or (label in kept and goes_by)
        if not is_kept or _grows(after, later, held):
            continue  # a growing dict has an entry for each session or run, so no entry is reused
        place = after.named(held, "" if label == held.name else name)
        if not is_harmless(place, name if _is_dict(thing) else ""):
            yield Left(label, place)


def _holder_was_there(start: Holdings, after: Holdings, held: Held) -> bool:
    """Returns True iff the object that refers to ``held`` existed before the baseline. ``start``,
    ``after``: the application's state before and after the baseline. ``held``: an object in ``after``."""
    return held.holder is not None and start.of(after.all[held.holder].thing) is not None


def _is_dict(thing: object) -> bool:
    return issubclass(type(thing), dict)


def _grows(after: Holdings, later: Holdings, held: Held) -> bool:
    """Returns True iff a later run added an entry to this dict, or to a dict that contains it. ``after``:
    the state after the baseline; ``later``: the state after the later run."""
    around = [each for each in (held, *after.above(held)) if _is_dict(each.thing)]
    found = [(each.size, later.of(each.thing)) for each in around]
    return any(now is not None and now.size > size for size, now in found)


def _is_cached(thing: object, name: str) -> bool:
    return isinstance(getattr_static(type(thing), name, None), cached_property)


def _kept_names(holdings: Holdings) -> Iterator[str]:
    """Yields the names of the values that some function in the user's code sets only if they are missing,
    as in ``if self.cut is None: self.cut = mean(scores)``."""
    for _, function in users_functions(holdings):
        yield from _kept_in(own_code(function))


@lru_cache(maxsize=1024)
def _kept_in(code: CodeType) -> frozenset[str]:
    tree = tree_of(code)
    return frozenset(name for node in (ast.walk(tree) if tree else ()) for name in _kept_by(node))


def _kept_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If):
        asked = set(_names_in(node.test))
        yield from (name for name in _written_in([*node.body, *node.orelse]) if name in asked)
    elif isinstance(node, ast.ExceptHandler):
        yield from _written_in(node.body)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "setdefault":
            yield label_of(node.func.value)
    elif isinstance(node, ast.Assign) and _goes_by_what_was(node.value):
        asked = set(_names_in(node.value))
        yield from (name for name in map(label_of, node.targets) if name in asked)


def _goes_by_what_was(value: ast.expr) -> bool:
    """Returns True iff the expression may return the old value of ``x``. Examples are ``x or made()``,
    ``x if x else made()`` and ``max(x, found)``."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in {"max", "min"}
    return isinstance(value, (ast.BoolOp, ast.IfExp))


def _written_in(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                yield from (
                    label_of(target) for target in node.targets if not isinstance(target, ast.Name)
                )


def _names_in(test: ast.AST) -> Iterator[str]:
    for node in ast.walk(test):
        if isinstance(node, (ast.Attribute, ast.Name)):
            yield label_of(node)
