"""This module finds the attributes that the user's code sets on objects, classes and modules of a
library.

Libraries set attributes of their own objects too. So an attribute is watched only if the user's own code
sets an attribute of this name somewhere, by an assignment or by ``setattr``.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.computed_names import sets_computed_names
from ..shared_state.contents import names_in
from ..shared_state.instructions import instructions_of
from ..shared_state.name_reads import texts_in_code
from .before_earlier import MISSING, before_earlier
from .companies import is_of_own, is_own
from .left_alone import keeps_users_attributes
from .owners import Node, Owner, is_of_library
from .parts import Part
from .values import ABSENT, is_plain

_MOST = 2000
"""The maximum number of objects that are watched. Further objects are ignored."""


def with_foreign_attributes(
    functions: Iterable[Node], nodes: Iterable[Node]
) -> Iterator[tuple[Node, Part]]:
    """Yields each object of a library on which the user's functions may set attributes, with a ``Part``
    that reads and writes only the attributes that are set after this call.

    ``functions``: the user's functions. ``nodes``: all reachable objects.
    """
    listed = [node for node in functions if node.owner is Owner.USER]
    names = frozenset(name for node in listed for name in names_set_in(own_code(node.thing)))
    is_any = any(sets_computed_names(own_code(node.thing)) for node in listed)
    if names or is_any:
        held = (each for each in nodes if _is_of_a_library(each))
        for node in islice(_distinct((*held, *_named(listed))), _MOST):
            yield node, _set_from_now_on(node.thing, None if is_any else names)


def _is_of_a_library(node: Node) -> bool:
    is_function = isinstance(node.thing, FunctionType) and not is_of_own(node.thing)
    return node.owner is Owner.LIBRARY or is_function or keeps_users_attributes(node.thing)


def _distinct(nodes: Iterable[Node]) -> Iterator[Node]:
    seen = set[int]()
    for node in nodes:
        if id(node.thing) not in seen and _attributes(node.thing) is not None:
            seen.add(id(node.thing))
            yield node


def _named(functions: Iterable[Node]) -> Iterator[Node]:
    """Yields the classes, functions and modules of libraries that the user's functions name, as a global
    or as an attribute of a library's module. Also yields other objects that are attributes of a library's
    module, such as ``sys.stdout``."""
    for function in functions:
        held, names = function.thing.__globals__.copy(), frozenset(names_in(own_code(function.thing)))
        waiting = [(name, held[name]) for name in sorted(names & held.keys())]
        while waiting:
            name, value = waiting.pop()
            if isinstance(value, ModuleType) and not is_own(value.__name__):
                inner = vars(value).copy()
                for each in sorted(names & inner.keys()):
                    if isinstance(inner[each], (ModuleType, type, FunctionType)):
                        is_part = not isinstance(inner[each], ModuleType) or _is_inside(
                            inner[each], value
                        )
                        waiting += [(each, inner[each])] * is_part
                    elif is_of_library(inner[each]):
                        # Often no object of the application refers to an object such as ``sys.stdout``,
                        # so the search for the application's objects does not find ``sys.stdout``.
                        # Therefore this function yields it.
                        yield Node(inner[each], each, owner=Owner.LIBRARY)
                yield Node(value, name, owner=Owner.LIBRARY)
            elif isinstance(value, (type, FunctionType)) and not is_own(value.__module__ or ""):
                yield Node(value, name, owner=Owner.LIBRARY)


def _is_inside(value: object, module: ModuleType) -> bool:
    return isinstance(value, ModuleType) and value.__name__.startswith(f"{module.__name__}.")


@lru_cache(maxsize=4096)
def names_set_in(code: CodeType) -> frozenset[str]:
    """Returns the names of the attributes that the code sets. Code never changes, so the result is
    cached."""
    found = {str(each.argval) for each in instructions_of(code, "STORE_ATTR", "DELETE_ATTR")}
    if {"setattr", "delattr"} & set(code.co_names):
        found.update(text for text in texts_in_code(code) if text.isidentifier())
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(found.union(*map(names_set_in, inner)))


def _attributes(thing: Any) -> Any:
    """Returns the dict of an object's own attributes, or, for a class, a read-only view of this dict;
    None if the object has no such dict."""
    try:
        return type.__getattribute__(thing, "__dict__") if isinstance(thing, type) else thing.__dict__
    except Exception:  # the object is a proxy, or has no dict
        return None


def _set_from_now_on(thing: Any, names: frozenset[str] | None) -> Part:
    """Returns a ``Part`` of an object that contains only attributes which are set from now on. ``names``:
    the names of the attributes that count; None if all attributes count, because the code computes their
    names."""
    known = {
        name: value for name, value in _attributes(thing).copy().items() if names is None or name in names
    }
    for name, was in before_earlier(thing, thing, known).items():
        if was is MISSING or was is ABSENT:
            known.pop(name, None)
        elif names is None or name in names:
            known[name] = was
    is_shared = isinstance(thing, (type, ModuleType, FunctionType))

    def read(thing: Any) -> dict[str, Any]:
        now = _attributes(thing).copy()
        return {
            name: now.get(name, ABSENT)
            for name in ((known.keys() | now.keys()) if names is None else names)
            if now.get(name, ABSENT) is not known.get(name, ABSENT)
            and not (names is None and name.startswith("__"))
            and (
                (is_shared and name in known)
                or _is_the_users(now.get(name, ABSENT), is_new=name not in known)
            )
        }

    def write(thing: Any, content: dict[str, Any]) -> None:
        for name in read(thing).keys() - content.keys():
            _write(thing, name, known.get(name, ABSENT))
        for name, value in content.items():
            _write(thing, name, value)

    return Part(read, write, is_named=True, known=known)


def _is_the_users(value: Any, *, is_new: bool) -> bool:
    """Returns True iff the user's code may have set an attribute to this value. That is possible for the
    user's own functions and objects. For a new attribute (``is_new``), it is also possible for texts,
    numbers, lists, dicts and sets."""
    return (
        is_of_own(value)
        or (is_new and is_plain(value))
        or (is_new and isinstance(value, (list, dict, set)))
    )


def _write(thing: Any, name: str, value: Any) -> None:
    if value is ABSENT:
        if name in _attributes(thing):
            delattr(thing, name)
    elif isinstance(thing, type):
        type.__setattr__(thing, name, value)
    else:
        thing.__dict__[name] = value
