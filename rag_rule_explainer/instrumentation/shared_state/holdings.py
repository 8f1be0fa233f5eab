"""What an application holds at a moment: the texts and numbers on objects that all of its runs share.

That is what is reachable from it through functions of the user's, objects of the user's and of the
frameworks', and collections. Two such looks, before a run and after it, tell what the run left there.
"""

from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, cast

from .positions import position_of, state_of
from .reaching import FRAMEWORKS, is_opaque, is_users

_MOST = 3000
"""Things that are looked at."""
_MOST_INSIDE = 200
"""Of a collection."""
_MODELS = frozenset({"BaseLanguageModel", "BaseLLM"})
"""How the base classes of models are called in the frameworks."""
_COLLECTIONS = (list, tuple, set, frozenset, deque)
_NAMESPACES = (SimpleNamespace, ChainMap, UserDict, UserList)
"""Classes of Python's own whose objects are as good as the user's."""

Plain = str | int | float


_WRAPPERS = frozenset({"FunctionWrapper", "BoundFunctionWrapper"})
"""What LlamaIndex puts around methods of the user's (of the package wrapt)."""


@dataclass(slots=True)
class Held:
    """One thing and what it holds. ``name``: how its holder calls it; ``holder``: its place among all.

    ``plain``: its texts and numbers by name; entries of a collection have none. ``is_code``: it is the
    code of a function, whose texts no run changes. ``size``: of a collection. ``is_of_model``: a model
    holds it, which keeps books of its own. ``states``: by name, what tells the state of things that hold
    nothing by name, such as a queue. ``values``: all that an object of a framework's holds by name.
    """

    thing: object
    name: str
    holder: int | None
    is_users: bool
    is_code: bool = False
    size: int = 0
    is_of_model: bool = False
    plain: list[tuple[str, Plain]] = field(default_factory=list[tuple[str, Plain]])
    states: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, object] = field(default_factory=dict[str, object])


class Holdings:
    """What is reachable from an application now. ``complete``: nothing had to be left out. ``outer``: by
    name, things that are not looked into, such as a client of a database."""

    def __init__(self, application: object) -> None:
        # What is looked at is kept alive: no other thing may come by its address.
        self.all: list[Held] = []
        self.complete = True
        self.outer: dict[str, object] = {}
        self._places: dict[int, int] = {}
        self._waiting: deque[tuple[object, str, int | None]] = deque([(application, "", None)])
        while self._waiting:
            self._look(*self._waiting.popleft())

    def texts(self) -> Iterator[str]:
        """Yields every plain string that these objects hold, including string constants in code.
        Strings held by models are left out: how a model is described is up to the model."""
        for held in self.all:
            if not held.is_of_model:
                yield from (value for _, value in held.plain if isinstance(value, str))

    def of(self, thing: object) -> Held | None:
        """Returns what a thing was seen to hold; None where it was not reached."""
        place = self._places.get(id(thing))
        return None if place is None else self.all[place]

    def above(self, held: Held) -> Iterator[Held]:
        """Yields what holds it, and what holds that, up to the application."""
        while held.holder is not None:
            held = self.all[held.holder]
            yield held

    def is_in_users(self, held: Held) -> bool:
        """Returns True iff it is an object of the user's, or a collection that one of these holds.

        Not what a model holds, whatever it counts.
        """
        return not held.is_of_model and self.is_in_users_or_models(held)

    def is_in_users_or_models(self, held: Held) -> bool:
        """Returns the same, also for what a model holds."""
        if held.is_users:
            return True
        if not is_collection(held.thing):
            return False
        owner = next((each for each in self.above(held) if not is_collection(each.thing)), None)
        return owner is not None and (owner.is_users or isinstance(owner.thing, (partial, MethodType)))

    def names(self, held: Held) -> Iterator[str]:
        """Yields the names of a collection and of those that it is in, as far as they have any."""
        for each in (held, *self.above(held)):
            if not is_collection(each.thing):
                return
            yield each.name

    def named(self, held: Held, name: str) -> str:
        """Returns how a user would call what is held there."""
        names = [name] if name else [held.name]
        if not name or is_collection(held.thing):
            names = [next((each.name for each in (held, *self.above(held)) if each.name), name)]
        owner = next(
            (each.thing for each in (held, *self.above(held)) if not is_collection(each.thing)), None
        )
        if isinstance(owner, FunctionType):
            return f"{names[0]!r}, which {owner.__name__}() uses"
        kind = owner if isinstance(owner, type) else type(owner)
        return f"{names[0]!r} of {kind.__name__}"

    def _look(self, thing: object, name: str, holder: int | None) -> None:
        if id(thing) in self._places:
            return
        if len(self.all) >= _MOST:
            self.complete = False
            return
        held = Held(thing, name, holder, False, isinstance(thing, CodeType))
        held.is_of_model = _is_model(thing) or (holder is not None and self.all[holder].is_of_model)
        place = self._places[id(thing)] = len(self.all)
        self.all.append(held)
        held.is_users = is_of_user(thing)
        held.size = len(cast("list[Any]", thing)) if is_collection(thing) else 0
        try:
            entries = list(self._inside(thing))
            if _is_frameworks(thing):
                held.values = dict(entries)
        except Exception:  # whatever an object of the user's raises that is looked at
            self.complete = False
            return
        for inner, value in entries:
            if not is_opaque(value):
                self._take(held, place, inner, value)

    def _take(self, held: Held, place: int, name: str, value: Any) -> None:
        if isinstance(value, (str, int, float)):
            held.plain.append((name, value))
        elif isinstance(value, ContextVar):
            self.outer.setdefault(name, cast("object", value))
            # A collection that is its default is shared by all runs.
            self._waiting.append((cast("ContextVar[Any]", value).get(None), name, place))
        elif (position := position_of(value)) is not None:
            held.plain.append((name, position))
        elif _is_looked_into(value):
            self._waiting.append((value, name, place))
        elif name and value is not None and not held.is_of_model:
            self.outer.setdefault(name, value)
            held.states[name] = state_of(value)

    def _inside(self, thing: object) -> Iterator[tuple[str, Any]]:
        if isinstance(thing, FunctionType):
            yield from _of_function(thing)
        elif isinstance(thing, CodeType):
            yield from (("", each) for each in thing.co_consts)
        elif isinstance(thing, MethodType):
            yield from (("", thing.__self__), ("", thing.__func__))
        elif isinstance(thing, partial):
            whole = cast("partial[Any]", thing)
            yield "", whole.func
            yield from zip(_parameters_of(whole.func), whole.args, strict=False)
            yield from whole.keywords.items()
        elif isinstance(thing, dict):
            entries = cast("dict[Any, Any]", thing)
            self.complete = self.complete and len(entries) <= _MOST_INSIDE
            for key, value in list(islice(dict[Any, Any].items(entries), _MOST_INSIDE)):
                yield "", key
                yield (key if isinstance(key, str) else ""), value
        elif isinstance(thing, _COLLECTIONS):
            items = cast("list[Any]", thing)
            self.complete = self.complete and len(items) <= _MOST_INSIDE
            yield from (("", each) for each in list(islice(items, _MOST_INSIDE)))
        else:
            yield from _of_object(thing)


def _of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not filled yet
            continue
    if not is_of_user(function):
        return
    yield function.__name__, function.__code__
    # Not what a decorator of a framework's notes there.
    yield from ((name, value) for name, value in vars(function).items() if not _is_frameworks(value))
    defaults = function.__defaults__ or ()
    known = _parameters_of(function)
    named = [*zip(known[len(known) - len(defaults) :], defaults, strict=False)]
    for name, value in (*named, *(function.__kwdefaults__ or {}).items()):
        # Nothing else can a call change, and it is not what else has that name.
        yield (name if is_collection(value) else ""), value
    names = set(names_in(function.__code__))
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            if is_users(value.__name__):
                yield from ((each, vars(value)[each]) for each in sorted(names & vars(value).keys()))
        elif name in function.__globals__:
            yield name, value


def _parameters_of(function: Any) -> tuple[str, ...]:
    """Returns the names of positional parameters; where unknown, more empty ones than any call needs."""
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if isinstance(code, CodeType) else ("",) * _MOST_INSIDE


def names_in(code: CodeType) -> Iterator[str]:
    """Yields the global and attribute names in code, and in that of the functions it makes."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from names_in(inner)


def _of_object(thing: object) -> Iterator[tuple[str, Any]]:
    kind = thing if isinstance(thing, type) else type(thing)
    if not isinstance(thing, type):
        yield from list(_attributes_of(thing).items())
        private: Any = getattr(thing, "__pydantic_private__", None)
        if isinstance(private, dict):
            yield from list(cast("dict[str, Any]", private).items())
    for each in kind.__mro__:
        if not is_users(each.__module__):
            continue
        for name, value in list(vars(each).items()):
            if name == "__slots__" and not isinstance(thing, type):
                slots = (value,) if isinstance(value, str) else tuple(value)
                yield from ((slot, getattr(thing, slot)) for slot in slots if hasattr(thing, slot))
            elif not name.startswith("__") or name in {"__call__", "__init__"}:
                yield name, function_in(value)


def _attributes_of(thing: object) -> Mapping[str, Any]:
    held: Any = getattr(thing, "__dict__", None)
    return cast("Mapping[str, Any]", held) if isinstance(held, Mapping) else {}


def function_in(value: Any) -> Any:
    """Returns the function behind what a class has under a name; anything else as it is."""
    while type(value).__name__ in _WRAPPERS and hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    if isinstance(value, (staticmethod, classmethod)):
        return cast("Any", value).__func__
    return cast("Any", value.fget) if isinstance(value, property) else value


def _is_looked_into(value: object) -> bool:
    if value is None or isinstance(value, (bytes, ModuleType)):
        return False
    if isinstance(
        value, (FunctionType, CodeType, MethodType, partial, dict, *_COLLECTIONS, *_NAMESPACES)
    ):
        return True
    module = (value if isinstance(value, type) else type(value)).__module__
    if isinstance(value, type):
        return is_users(module)
    if "__wrapped__" in _attributes_of(value):  # by functools, such as a cache around a function
        return True
    return module.startswith(FRAMEWORKS) or is_users(module)


def _is_frameworks(thing: object) -> bool:
    return type(thing).__module__.startswith(FRAMEWORKS)


def _is_model(thing: object) -> bool:
    kind = thing if isinstance(thing, type) else type(thing)
    return any(each.__name__ in _MODELS for each in kind.__mro__)


def is_collection(thing: object) -> bool:
    """Returns True iff it is a dict, a list or the like."""
    return isinstance(thing, (dict, *_COLLECTIONS))


def is_of_user(thing: object) -> bool:
    """Returns True iff a function, a class or the class of an object is the user's own."""
    if isinstance(thing, FunctionType):
        # A function that wraps another one has the other one's __module__.
        return is_users(str(thing.__globals__.get("__name__", "")))
    if isinstance(thing, type):
        return is_users(thing.__module__ or "")
    return isinstance(thing, _NAMESPACES) or is_users(type(thing).__module__)


def changed(
    before: Holdings, after: Holdings, wanted: Callable[[Held], bool]
) -> Iterator[tuple[Held, str, Plain]]:
    """Yields what ``after`` holds and ``before`` did not, where the thing that holds it was there."""
    for held in after.all:
        if held.is_code or not wanted(held):
            continue
        earlier = before.of(held.thing)
        known = set(map(_typed, earlier.plain if earlier is not None else ()))
        for name, value in held.plain:
            if _typed((name, value)) not in known:
                yield held, name, value


def _typed(entry: tuple[str, Plain]) -> tuple[str, type, Plain]:
    return entry[0], type(entry[1]), entry[1]
