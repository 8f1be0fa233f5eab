"""This module reads the texts and numbers in all objects that the runs of an application share. Together
they are called the *holdings* of the application.

These objects are reachable from the application through the user's functions and objects, the frameworks'
objects, and collections. A comparison of the holdings before and after a run shows what the run left.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from .contents import (
    COLLECTIONS,
    MOST_INSIDE,
    NAMESPACES,
    attributes_of,
    entries_of_function,
    entries_of_object,
    is_collection,
    is_frameworks,
    is_of_user,
    parameters_of,
)
from .per_class import per_class
from .positions import position_of, state_text_of
from .reaching import FRAMEWORKS, SIMPLE, is_opaque, is_users

_MOST = 3000
"""The largest number of objects that are visited. If there are more, ``complete`` is False."""
_MODELS = frozenset({"BaseLanguageModel", "BaseLLM"})
"""The names of the frameworks' base classes of models."""
_TOOLS = frozenset({"BaseTool"})
"""The names of the frameworks' base classes of tools."""
_LOOKED_INTO = (FunctionType, CodeType, MethodType, partial, dict, *COLLECTIONS, *NAMESPACES)
_SIMPLE = SIMPLE | {FunctionType, MethodType}
Plain = str | int | float


@dataclass(slots=True)
class Held:
    """A ``Held`` is one object that was found in an application, with its content.

    ``name``: the name by which its holder refers to it. ``holder``: the index in ``Holdings.all`` of the
    object that refers to it; None for the application. ``is_users``: True if the object, or its class, is
    the user's. ``is_code``: True if the object is a function's code, which no run changes. ``size``: the
    number of entries of a collection, else 0. ``is_of_model``: True if the object belongs to a model.
    ``plain``: the texts and numbers in it, each with its name; entries of a collection without a text as
    key have an empty name. ``states``: for each object in it whose content has no names, such as a queue,
    a text that changes with the content; the key is the object's name. ``values``: all attributes of a
    framework's object.
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
    """A ``Holdings`` holds the content that all objects reachable from an application have at this
    moment.

    ``all``: the reachable objects. ``complete``: True if no object was left out. ``outer``: the objects
    that are not searched, such as a client of a database, by name.

    ``tools``: the names of the only tools that may run; None if all may. Objects that only functions of
    other tools can reach are left out.
    """

    def __init__(self, application: object, tools: Collection[str] | None = None) -> None:
        self._tools = tools
        # Visited objects are kept alive, so that Python does not give the ``id()`` of one to a new
        # object.
        self.all: list[Held] = []
        self.complete = True
        self.outer: dict[str, object] = {}
        self._places: dict[int, int] = {}
        self._waiting: deque[tuple[object, str, int | None]] = deque([(application, "", None)])
        while self._waiting:
            self._look(*self._waiting.popleft())

    def texts(self) -> Iterator[str]:
        """Yields every text in these objects, including string constants in code.

        Texts of models are left out, because a model's description says nothing about the application's
        state.
        """
        for held in self.all:
            if not held.is_of_model:
                yield from (value for _, value in held.plain if isinstance(value, str))

    def of(self, thing: object) -> Held | None:
        """Returns the ``Held`` of an object; None if the object was not reached."""
        place = self._places.get(id(thing))
        return None if place is None else self.all[place]

    def above(self, held: Held) -> Iterator[Held]:
        """Yields the holder of this object (the object that refers to it), the holder's holder, and so on
        up to the application."""
        while held.holder is not None:
            held = self.all[held.holder]
            yield held

    def is_in_users(self, held: Held) -> bool:
        """Returns True iff ``held`` is the user's object, or a collection that belongs to one. Returns
        False for everything in a model."""
        return not held.is_of_model and self.is_in_users_or_models(held)

    def is_in_users_or_models(self, held: Held) -> bool:
        """Returns True iff ``held`` is the user's object, or a collection that belongs to one. Objects
        in a model count too."""
        if held.is_users:
            return True
        if not is_collection(held.thing):
            return False
        owner = next((each for each in self.above(held) if not is_collection(each.thing)), None)
        return owner is not None and (owner.is_users or isinstance(owner.thing, (partial, MethodType)))

    def names(self, held: Held) -> Iterator[str]:
        """Yields the name of a collection, and the names of the collections that contain it, from the
        inside out; nothing for any other object. A name may be empty."""
        for each in (held, *self.above(held)):
            if not is_collection(each.thing):
                return
            yield each.name

    def named(self, held: Held, name: str) -> str:
        """Returns the words by which messages refer to a value of this object, such as ``'turns' of
        Chat``. ``name``: the value's name; if it is empty, the words refer to the object itself."""
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
            if self._tools is not None:
                entries = [each for each in entries if not is_resting(thing, each[1], self._tools)]
            if is_frameworks(thing):
                held.values = dict(entries)
        except Exception:  # an object of the user's may raise any error when it is read
            self.complete = False
            return
        for inner, value in entries:
            if not is_opaque(value):
                self._take(held, place, inner, value)

    def _take(self, held: Held, place: int, name: str, value: Any) -> None:
        if type(value) in _SIMPLE:  # a fast path for most values
            self._waiting.append((value, name, place))
        elif isinstance(value, (str, int, float)):
            held.plain.append((name, value))
        elif isinstance(value, ContextVar):
            self.outer.setdefault(name, cast("object", value))
            # If the variable's default value is a collection, all runs share it.
            self._waiting.append((cast("ContextVar[Any]", value).get(None), name, place))
        elif (position := position_of(value)) is not None:
            held.plain.append((name, position))
        elif _is_looked_into(value):
            self._waiting.append((value, name, place))
        elif name and value is not None and not held.is_of_model:
            self.outer.setdefault(name, value)
            held.states[name] = state_text_of(value)

    def _inside(self, thing: object) -> Iterator[tuple[str, Any]]:
        if isinstance(thing, FunctionType):
            yield from entries_of_function(thing)
        elif isinstance(thing, CodeType):
            yield from (("", each) for each in thing.co_consts)
        elif isinstance(thing, MethodType):
            yield from (("", thing.__self__), ("", thing.__func__))
        elif isinstance(thing, partial):
            whole = cast("partial[Any]", thing)
            yield "", whole.func
            yield from zip(parameters_of(whole.func), whole.args, strict=False)
            yield from whole.keywords.items()
        elif isinstance(thing, dict):
            entries = cast("dict[Any, Any]", thing)
            self.complete = self.complete and len(entries) <= MOST_INSIDE
            for key, value in list(islice(dict[Any, Any].items(entries), MOST_INSIDE)):
                yield "", key
                yield (key if isinstance(key, str) else ""), value
        elif isinstance(thing, COLLECTIONS):
            items = cast("list[Any]", thing)
            self.complete = self.complete and len(items) <= MOST_INSIDE
            yield from (("", each) for each in list(islice(items, MOST_INSIDE)))
        else:
            yield from entries_of_object(thing)


def _is_looked_into(value: object) -> bool:
    if value is None or isinstance(value, (bytes, ModuleType)):
        return False
    if _is_of_looked_into(type(value)):
        return True
    module = (value if isinstance(value, type) else type(value)).__module__
    if isinstance(value, type):
        return is_users(module)
    # functools sets this attribute on a wrapper, such as a cached function. The wrapped function may be
    # the user's.
    if "__wrapped__" in attributes_of(value):
        return True
    return module.startswith(FRAMEWORKS) or is_users(module)


def _is_model(thing: object) -> bool:
    return _is_of_models(thing if isinstance(thing, type) else type(thing))


@per_class
def _is_of_looked_into(kind: type) -> bool:
    return issubclass(kind, _LOOKED_INTO)


@per_class
def _is_of_models(kind: type) -> bool:
    return any(each.__name__ in _MODELS for each in kind.__mro__)


def is_resting(thing: object, value: object, tools: Collection[str] | None) -> bool:
    """Returns True iff ``thing`` is a framework's tool that may not run, and ``value`` is a function that
    this tool calls. ``tools``: the names of the only tools that may run; None if all may."""
    if (
        tools is None
        or not isinstance(value, (FunctionType, MethodType, partial))
        or not is_frameworks(thing)
    ):
        return False
    if not any(each.__name__ in _TOOLS for each in type(thing).__mro__):
        return False
    named: Any = thing
    name = getattr(getattr(named, "metadata", None), "name", None) or getattr(named, "name", None)
    return name not in tools


def changed_values(
    before: Holdings, after: Holdings, wanted: Callable[[Held], bool]
) -> Iterator[tuple[Held, str, Plain]]:
    """Yields the texts and numbers in ``after`` that the same object did not hold in ``before``. Each
    yielded triple is the object, the value's name, and the value.

    If an object is new in ``after``, all its texts and numbers are yielded. ``wanted``: returns True iff
    an object is to be compared.
    """
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
