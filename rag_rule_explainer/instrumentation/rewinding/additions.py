"""This module finds attributes that a run adds to modules, to find data that the user's code stores
there.

Libraries also fill their own modules while they are used. Modules, classes and functions that a library
adds are ignored, because they are no data. The user's own modules are watched only where code may set
globals in them by names that it computes.
"""

import sys
import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from types import CodeType, ModuleType
from typing import Any

from ...probing.whose import is_named_as_ours
from ..copies.guarded_code import own_code
from ..shared_state.contents import names_in
from .before_earlier import MISSING, before_earlier
from .companies import is_of_own, is_own
from .named import WHOLE_NAMESPACES, modules_of
from .owners import Node, Owner
from .parts import Part
from .system_settings import names_of_builtins

_MOST = 200
"""The maximum number of modules that are watched. Further modules are ignored."""
_BY_A_TEXT = frozenset({"modules", "import_module", "__import__"})
"""Names by which code can get a module by a string, as in ``sys.modules["csv"]``. If the user's code has
such a name, all modules whose names are strings in this code are watched too."""
_SETTING = frozenset({"setattr", "delattr", "__setattr__", *WHOLE_NAMESPACES})
"""Names of functions and attributes by which code can set a global of a module although the code does not
contain the global's name."""
_OF_THREADS = frozenset({"main_thread", "current_thread", "currentThread", "enumerate"})
"""Names by which code reaches the main thread."""


def watched_for_additions(functions: Iterable[Node], reached: Iterable[Any]) -> list[Node]:
    """Returns the objects that are watched for added attributes, each as a ``Node``. These are the
    modules that the user's functions name, the modules in ``reached``, and the main thread if the user's
    functions name it. The user's own modules are left out, unless the functions may set globals in them
    by names that they compute.

    ``functions``: the user's functions. ``reached``: objects that the application refers to.
    """
    modules = {each.__name__: each for each in reached if isinstance(each, ModuleType)}
    named = set[str]()
    for node in functions:
        names = frozenset(names_in(own_code(node.thing)))
        named |= names
        for module in (*_named_modules(names, node.thing), *modules_of(node.thing, names)):
            modules.setdefault(module.__name__, module)
    named.update(names_of_builtins([*reached]))
    if named & _SETTING:
        for each in _own_modules(functions, is_any=bool(named & _BY_A_TEXT)):
            modules.setdefault(each.__name__, each)
    else:
        modules = {name: each for name, each in modules.items() if not is_own(name)}
    others = (each for name, each in modules.items() if not is_named_as_ours(name))
    found = [
        Node(each, each.__name__, owner=Owner.USER if is_own(each.__name__) else Owner.LIBRARY)
        for each in islice(others, _MOST)
    ]
    main = Node(threading.main_thread(), "main_thread", owner=Owner.LIBRARY)
    return [*found, *([main] if named & _OF_THREADS else [])]


def _own_modules(functions: Iterable[Node], *, is_any: bool) -> Iterator[ModuleType]:
    """Yields the modules in which these functions were defined. ``is_any``: True to yield all of the
    user's modules, because code may get any of them by a string."""
    names = {str(node.thing.__globals__.get("__name__", "")) for node in functions}
    for name, module in sys.modules.copy().items():
        # A package may put any object into ``sys.modules``, so the type is checked.
        if type(module) is ModuleType and (name in names or (is_any and is_own(name))):
            yield module


def added_to(thing: Any) -> Part:
    """Returns a ``Part`` that reads and writes only the attributes that are added to the object from now
    on. Attributes that runs of earlier explanations added count as added. A ``Part`` is a pair of
    functions that save and restore a piece of an object's state."""
    held = _all_of(thing)
    known = frozenset(held) - {
        name for name, was in before_earlier(thing, thing, held).items() if was is MISSING
    }

    def read(thing: Any) -> dict[str, Any]:
        return {
            name: value
            for name, value in _all_of(thing).copy().items()
            if name not in known and not name.startswith("__") and not _is_made_by_a_library(value)
        }

    def write(thing: Any, content: dict[str, Any]) -> None:
        for name in read(thing).keys() - content.keys():
            _all_of(thing).pop(name, None)
        _all_of(thing).update(content)

    return Part(read, write, is_named=True)


def _all_of(thing: Any) -> dict[str, Any]:
    return thing.__dict__


def _is_made_by_a_library(value: object) -> bool:
    """Returns True for a module, or for a library's class or function. A library adds such objects to its
    modules when they are first used."""
    return isinstance(value, ModuleType) or (callable(value) and not is_of_own(value))


def _named_modules(names: frozenset[str], function: Any) -> Iterator[ModuleType]:
    """Yields the modules that the code of a function may refer to by these names."""
    held = function.__globals__
    for name in names:
        for each in (held.get(name), sys.modules.get(name)):
            if isinstance(each, ModuleType):
                yield each
                inner = (vars(each).get(name) for name in names)
                yield from (each for each in inner if isinstance(each, ModuleType))
    if names & _BY_A_TEXT:
        for text in _texts_in(own_code(function)):
            module = sys.modules.get(text)
            if isinstance(module, ModuleType):
                yield module


def _texts_in(code: CodeType) -> Iterator[str]:
    for each in code.co_consts:
        if isinstance(each, str):
            yield each
        elif isinstance(each, CodeType):
            yield from _texts_in(each)
