"""This module finds data of libraries that the user's code may change by calling a library's function.
Examples are a global that ``urllib.request.install_opener`` sets, and a collection that
``logging.addLevelName`` fills."""

import re
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.contents import names_in
from ..shared_state.reaching import FRAMEWORKS, is_ours
from ..shared_state.writing import changed_collections, changed_names
from .class_registers import registers_of_classes
from .companies import is_own
from .owners import Node, Owner
from .parts import Part, of_names, parts_of

_SETTING = re.compile(
    "_?(set|add|install|register|push|enable|disable|use|configure|patch|update|remove|capture|pickle$)"
)
"""The beginnings of names of functions that set something for the whole process."""
_COLLECTIONS: Any = (dict, list, set)
_MOST_ENTRIES = 5000


def registers_of(functions: Iterable[Node]) -> Iterator[tuple[Node, Part]]:
    """Yields the globals of libraries that the user's code may change by calling a library's function:
    each module with a ``Part`` that reads and writes these globals, and each collection among the globals
    with a ``Part`` for its entries. Also yields what class methods of libraries' classes change.
    ``functions``: the user's functions."""
    functions, seen = list(functions), set[int]()
    for node in functions:
        names = frozenset(names_in(own_code(node.thing)))
        setting = frozenset(filter(_SETTING.match, names))
        spaces = _spaces(node.thing.__globals__, names) if setting else ()
        yield from registers_of_classes(spaces, names, setting)
    for function in _setting(functions):
        module = sys.modules.get(str(function.__globals__.get("__name__")))
        if id(function) in seen or module is None or vars(module) is not function.__globals__:
            continue
        seen.add(id(function))
        held = vars(module).copy()
        names = changed_names(own_code(function)) & held.keys()
        if names:
            yield Node(module, module.__name__, owner=Owner.LIBRARY), of_names(names)
        for name in sorted(names):
            value: Any = held[name]
            if isinstance(value, _COLLECTIONS) and len(value) < _MOST_ENTRIES:
                yield from ((Node(value, name, owner=Owner.LIBRARY), part) for part in parts_of(value))


def collections_filled(functions: Iterable[Node]) -> Iterator[tuple[Node, Part]]:
    """Yields each collection in a library's module in which the user's functions set an entry themselves,
    as ``linecache.cache[name] = lines`` does. Such an entry is state, because the library's own code may
    read it."""
    seen = {id(sys.modules), id(sys.path)}
    for node in functions:
        # The source of a function is parsed only if the function names a library's module.
        spaces = [*_spaces_of_libraries(node.thing)] if node.owner is Owner.USER else []
        changed = changed_collections(own_code(node.thing)) if spaces else frozenset[str]()
        for space in spaces:
            for name in sorted(changed & space.keys()):
                value: Any = space.get(name)
                if isinstance(value, _COLLECTIONS) and id(value) not in seen:
                    seen.add(id(value))
                    yield from (
                        (Node(value, name, owner=Owner.LIBRARY), part) for part in parts_of(value)
                    )


def _setting(functions: Iterable[Node]) -> Iterator[FunctionType]:
    for node in functions:
        names = frozenset(names_in(own_code(node.thing)))
        wanted = frozenset(filter(_SETTING.match, names))
        spaces = list(_spaces(node.thing.__globals__, names)) if wanted else []
        for name in sorted(wanted):
            yield from (space[name] for space in spaces if _is_a_librarys(space.get(name)))


def _spaces_of_libraries(function: FunctionType) -> Iterator[dict[str, Any]]:
    """Yields the dicts of globals of each library's module that a function names."""
    for space in _spaces(function.__globals__, frozenset(names_in(own_code(function)))):
        if space is not function.__globals__ and not is_own(str(space.get("__name__", ""))):
            yield space


def _spaces(held: dict[str, Any], names: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yields the dicts of globals that a function uses: those of its own module (``held``), and those of
    each module that it names. For a function with ``urllib.request``, these are the globals of ``urllib``
    and ``urllib.request``. ``names``: the names in the function's code."""
    waiting, seen = [held], set[int]()
    while waiting:
        space = waiting.pop()
        if id(space) not in seen:
            seen.add(id(space))
            yield space
            inner = (space.get(name) for name in names)
            waiting += [vars(each) for each in inner if isinstance(each, ModuleType)]


def _is_a_librarys(value: Any) -> bool:
    if not isinstance(value, FunctionType) or is_ours(value):
        return False
    module = str(value.__module__)
    # Settings of frameworks are left out here, because ``Reachable.settings`` has them.
    return not is_own(module) and not module.startswith(FRAMEWORKS)
