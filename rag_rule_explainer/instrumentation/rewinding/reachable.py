"""This module finds the objects through which one run of an application may influence the next run.

These are: the user's objects with everything that they refer to; the globals that the user's functions
name; objects of the frameworks; and plain data of other libraries to which one of these objects refers.
Connections and threads are not searched.
"""

import gc
import sys
from collections import defaultdict, deque
from collections.abc import Collection, Iterable
from contextlib import suppress
from contextvars import Context, ContextVar
from functools import lru_cache, partial
from itertools import islice
from threading import local
from types import (
    AsyncGeneratorType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any, ClassVar
from weakref import ReferenceType

from ..copies.guarded_code import own_code
from ..shared_state.contents import function_in, names_in
from ..shared_state.holdings import is_resting
from ..shared_state.reaching import SIMPLE, is_opaque, is_ours, is_users
from .buffers import is_of_c, memory_of_c
from .class_part import CLASS
from .companies import is_of_own, is_own
from .left_alone import APART, OF_THREADS, is_connection, keeps_users_attributes, value_in
from .library_objects import is_a_mock
from .marked import behind_mark
from .named import held_in, looked_up_in, modules_of, named_by, own_of_loggers, visible_to
from .owners import Node, Owner, bound_to, is_a_register, is_model, is_of_library, owner_of, package_of
from .parts import parts_of
from .randomness import hidden_generators
from .suspended import suspended_in
from .used_libraries import note_libraries, note_settings
from .users_attributes import USERS_ATTRIBUTES
from .values import ABSENT, LISTED, SET, TUPLES, is_all_plain

_MOST, _MOST_INSIDE = 6000, 5000
"""The maximum numbers of objects, and of entries of one collection, that are visited."""
_PLAINEST: frozenset[type] = frozenset({str, int, type(None)})
_IMPORTING = frozenset({"import_module", "__import__"})
"""The names of functions that import a module by a name that code computes."""
FROM_A_LIBRARY = 2
"""The maximum number of library objects at the end of the path to a visited library object."""
_REFERRING: Any = (partial, MethodType, property, staticmethod, classmethod)
"""Types whose objects refer to other objects, but not by attributes."""
# These classes are typed as Any. Otherwise, pyright would report unknown types of the values in them.
_REFERENCE: Any = ReferenceType
_WITH_DEFAULTS: Any = defaultdict
_GENERATORS: Any = (GeneratorType, AsyncGeneratorType, CoroutineType)
_VARIABLE: Any = ContextVar
_FORM: Any = type(ClassVar)
"""The class of special types of ``typing``. Their caches hold annotations of all packages."""
_OF_EACH_THREAD: Any = local  # its objects have other attributes in each thread; ``asking.py`` reads them
_CACHED: Any = type(lru_cache(maxsize=None)(bool))


class Reachable:
    """A ``Reachable`` collects the objects that are reachable from an application, and visits each once.

    ``nodes``: every visited object; all of them are kept alive, so that no other object gets the same
    address. ``functions``: the user's functions. ``caches``: the caches of ``functools``. ``modules``:
    the user's modules, each with the names that code uses. ``libraries``: other modules that code uses.
    ``settings``: for each framework module, the globals that may change because the user's code names a
    function that sets them. ``others``: threads and other objects that are not searched. ``classes``:
    the classes of libraries to which the user's objects refer. ``tools``: the names of the only tools
    that may run; None if all may. Functions of other tools are not visited.
    """

    def __init__(self, application: object, tools: Collection[str] | None = None) -> None:
        self.nodes, self.functions, self._tools = list[Node](), list[Node](), tools
        self.caches: list[Any] = []
        self.modules: dict[str, tuple[ModuleType, set[str]]] = {}
        self.libraries: dict[str, ModuleType] = {}
        self.settings: dict[str, frozenset[str]] = {}
        self.others: list[Any] = []
        self.classes = list[Node]()
        self._seen: dict[int, Node] = {}
        self._waiting = deque([Node(application)])
        self._resting: list[tuple[Any, str, Node]] = []
        self._visit()

    def beyond_resting(self) -> list[Any]:
        """Returns the objects that are reachable only through functions of tools that may not run. The
        search goes on with these functions, so call this method once."""
        known, self._tools = len(self.nodes), None
        for each in self._resting:
            self._add(*each)
        self._visit()
        return [node.thing for node in self.nodes[known:]]

    def _visit(self) -> None:
        while self._waiting and len(self.nodes) < _MOST:
            node = self._waiting.popleft()
            if self._seen.setdefault(id(node.thing), node).is_also_named(node.name, node.holder) is node:
                self.nodes.append(node)
                # Reading an attribute of a user's object may raise any error. The search then leaves out
                # the rest of this object.
                with suppress(Exception):
                    self._look(node)

    def _look(self, node: Node) -> None:
        thing = node.thing
        if type(thing) in SIMPLE:  # a fast path for most objects
            self._take_contents(node)
        elif keeps_users_attributes(thing):
            self._take_users_attributes(node)
        elif isinstance(thing, FunctionType):
            self._look_at_function(node)
        elif isinstance(thing, type):
            self._look_at_class(node)
        elif isinstance(thing, _VARIABLE):
            self._add(thing.get(), node.name, node)
        elif isinstance(thing, Context):
            self._add_all(((each.name, value) for each, value in thing.items()), node)
        elif isinstance(thing, _GENERATORS):
            self._add_all(suspended_in(thing), node)
        elif isinstance(thing, _CACHED):
            self.caches.append(thing)
            self._add_referents(node)
        else:
            self._look_at_object(node)

    def _look_at_object(self, node: Node) -> None:
        thing = node.thing
        if is_a_register(node) or is_connection(thing):
            return
        if package_of(thing) in OF_THREADS:
            self._add(value_in(thing), node.name, node)
            if not isinstance(thing, _OF_EACH_THREAD):
                self._take_users_attributes(node)
            return
        self._take_contents(node)
        if is_of_c(thing):
            self._add_all((("", each) for each in memory_of_c(thing)), node)
        if isinstance(thing, _REFERENCE):
            self._add(thing(), node.name, node)
        elif isinstance(thing, _REFERRING) or not (node.contents or isinstance(thing, TUPLES)):
            self._add_referents(node)
        elif isinstance(thing, _WITH_DEFAULTS):
            self._add(thing.default_factory, "", node)
        if not is_of_library(thing):
            self._add(type(thing), "", node)

    def _take_users_attributes(self, node: Node) -> None:
        self._add(type(node.thing), "", node)
        content = USERS_ATTRIBUTES.read(node.thing)
        node.contents += ((USERS_ATTRIBUTES, content),)
        self._add_all(content.items(), node)

    def _take_contents(self, node: Node) -> None:
        self._take_parts(node)
        if isinstance(node.thing, TUPLES):
            self._add_all((("", each) for each in islice(iter(node.thing), _MOST_INSIDE)), node)

    def _take_parts(self, node: Node) -> None:
        for part in parts_of(node.thing):
            content = part.read(node.thing)
            node.contents += ((part, content),)
            if part.is_named:
                listed: list[tuple[Any, Any]] = list(islice(content.items(), _MOST_INSIDE))
                for key, value in listed:
                    if type(value) not in _PLAINEST:  # a fast path for most values
                        self._add(value, key if isinstance(key, str) else "", node)
                for key, _ in listed:
                    if type(key) not in _PLAINEST and not isinstance(key, str):
                        self._add(key, "", node)
            elif isinstance(content, (*LISTED, SET)):
                entries: Any = islice(iter(content), _MOST_INSIDE)
                self._add_all((("", each) for each in entries), node)

    def _look_at_class(self, node: Node) -> None:
        if is_own(node.thing.__module__ or ""):
            content = CLASS.read(node.thing)
            node.contents += ((CLASS, content),)
            self._add_all(((name, function_in(value)) for name, value in content.items()), node)
        self._add(type(node.thing), "", node)
        self._add_all(((node.name, each) for each in node.thing.__bases__), node)

    def _look_at_function(self, node: Node) -> None:
        function = node.thing
        cells = zip(own_code(function).co_freevars, function.__closure__ or (), strict=True)
        self._add_all(cells, node)
        if is_of_own(function):
            self.functions.append(node)
            self._take_parts(node)
            self._look_at_globals(node)

    def _look_at_globals(self, node: Node) -> None:
        function = node.thing
        names = frozenset(names_in(own_code(function)))
        held = function.__globals__.copy()  # another thread may set or delete a global
        own, here = sys.modules.get(str(held.get("__name__", ""))), names & held.keys()
        if own is not None and vars(own) is function.__globals__:
            self._look_at_module(own, names | looked_up_in(vars(own), names, is_own=True), node)
        else:
            # Code that was executed from a text or by ``runpy`` has globals of its own.
            self._add_all([("", function.__globals__), *((name, held[name]) for name in here)], node)
        note_libraries(self.libraries, (held[name] for name in here))
        enclosed = frozenset(own_code(function).co_freevars)
        note_settings(self.settings, named := list(named_by(names | enclosed, visible_to(function))))
        self._add_all(hidden_generators(named, names), node)
        if "getLogger" in names:
            self._add_all((("handlers", each) for each in own_of_loggers()), node)
        if _IMPORTING & names:
            self._look_at_modules(names, node)
        for each in modules_of(function, names):
            computed = looked_up_in(vars(each), names, is_own=False)
            self._look_at_module(each, names | computed, node)

    def _look_at_modules(self, names: frozenset[str], node: Node) -> None:
        """Visits all modules that code may import by a name that it computes: the user's modules, and
        modules that code created."""
        for name, module in sys.modules.copy().items():
            # A package may have put any object into ``sys.modules``, so the type is checked.
            if type(module) is ModuleType and (module.__spec__ is None or is_users(name)):
                self._look_at_module(module, names | held_in(module, names), node)

    def _look_at_module(self, module: ModuleType, names: frozenset[str], of: Node) -> None:
        _, known = self.modules.setdefault(module.__name__, (module, set()))
        node = Node(module, module.__name__, of)
        new = names - known
        known |= new
        held = vars(module).copy()
        for name in new & held.keys():
            value = held[name]
            if isinstance(value, ModuleType) and is_own(value.__name__):
                self._look_at_module(value, names, of)
            else:
                self._add(value, name, node)

    def _add_referents(self, node: Node) -> None:
        self._add_all((("", each) for each in gc.get_referents(node.thing)[:_MOST_INSIDE]), node)

    def _add_all(self, entries: Iterable[tuple[str, Any]], holder: Node) -> None:
        for name, value in list(entries):
            if type(value) not in _PLAINEST:  # a fast path for most values
                self._add(value, name, holder)

    def _add_simple(self, value: Any, name: str, holder: Node) -> None:
        known: object = value
        is_plain = type(known) is tuple and is_all_plain(value)
        if holder.steps <= FROM_A_LIBRARY and not is_plain:
            self._waiting.append(Node(value, name, holder, holder.owner, holder.steps))

    def _add(self, value: Any, name: str, holder: Node) -> None:
        if id(value) in self._seen:
            self._seen[id(value)].is_also_named(name, holder)
            return
        if type(value) in SIMPLE:  # a fast path for most values
            self._add_simple(value, name, holder)
            return
        value, tool = behind_mark(bound_to(value))
        if tool is not None and self._tools is not None and tool not in self._tools:
            self._resting.append((value, name, holder))
            value = ABSENT
        if id(value) in self._seen or value is ABSENT or is_all_plain(value):
            return
        if not is_a_mock(value) and self._is_left_out(value, name, holder):
            return
        if isinstance(value, APART) or is_a_mock(value):
            self.others.append(value)
            self._waiting += [Node(value, name, holder)] * keeps_users_attributes(value)
            return
        if isinstance(value, type):
            self._add_class(value, name, holder)
            return
        owner, steps = owner_of(value, holder)
        if steps <= FROM_A_LIBRARY:
            self._waiting.append(Node(value, name, holder, owner, steps))

    def _is_left_out(self, value: Any, name: str, holder: Node) -> bool:
        if is_opaque(value) or is_ours(value) or issubclass(type(value), _FORM):
            return True
        is_at_rest = is_resting(holder.thing, value, self._tools)
        self._resting += [(value, name, holder)] * is_at_rest
        return is_at_rest

    def _add_class(self, kind: type, name: str, holder: Node) -> None:
        # A library's class may still have a base class or a metaclass of the user's.
        if is_own(kind.__module__ or ""):
            owner = Owner.USERS_MODEL if is_model(kind) else Owner.USER
            self._waiting.append(Node(kind, name, holder, owner))
        elif holder.owner is Owner.USER:
            self.classes.append(Node(kind, name, holder, Owner.LIBRARY))
