"""This module reads the texts and numbers in all objects that the runs of an application share. Together
they are called the *holdings* of the application.

These objects are reachable from the application through the user's functions and objects, the frameworks'
objects, and collections. A comparison of the holdings before and after a run shows which data the run
left.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from ..copies.live import entries_now, members_now
from .contents import (
    COLLECTIONS,
    MOST_INSIDE,
    entries_of_function,
    entries_of_object,
    is_collection,
    is_frameworks,
    is_of_user,
    parameters_of,
)
from .held import Held, NamedValues, Plain
from .per_class import per_class
from .reaching import SIMPLE

_MOST = 3000
"""The largest number of objects that are visited. If there are more, ``complete`` is False."""
_MODELS = frozenset({"BaseLanguageModel", "BaseLLM"})
"""The names of the frameworks' base classes of language models."""
_TOOLS = frozenset({"BaseTool"})
"""The names of the frameworks' base classes of tools."""


class Holdings:
    """A ``Holdings`` holds the content that all objects reachable from an application have at this
    moment.

    ``all``: the reachable objects. ``complete``: True if no object was left out. ``outer``: the objects
    that are not searched, such as a client of a database, by name.

    ``tools``: the names of the only tools that may run; None if all may. Objects that only functions of
    other tools can reach are left out. ``earlier``: the holdings of the same application at an earlier
    moment. An object that has not changed since then is not read a second time, and ``changed_values``
    does not compare its content.
    """

    def __init__(
        self,
        application: object,
        tools: Collection[str] | None = None,
        earlier: "Holdings | None" = None,
    ) -> None:
        self._tools = tools
        self._earlier = earlier
        # Visited objects are kept alive, so that Python does not give the ``id()`` of a visited object to
        # a new object.
        self.all: list[Held] = []
        self.complete = True
        self.outer: dict[str, object] = {}
        self._places: dict[int, int] = {}
        self._waiting: deque[tuple[object, str, int | None]] = deque([(application, "", None)])
        while self._waiting:
            self._look(*self._waiting.popleft())
        # Without this line, each ``Holdings`` would keep the earlier one alive, and so all ``Holdings``
        # that were ever read.
        self._earlier = None

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
        """Yields the holder of this object (the object that refers to it), then the holder of the holder,
        and so on up to the application."""
        while held.holder is not None:
            held = self.all[held.holder]
            yield held

    def is_in_users(self, held: Held) -> bool:
        """Returns True iff ``held`` is the user's object, or a collection that belongs to one. Returns
        False for a language model of a framework, and for all objects that were found inside such a
        model, at any depth."""
        return not held.is_of_model and self.is_in_users_or_models(held)

    def is_in_users_or_models(self, held: Held) -> bool:
        """Returns True iff ``held`` is the user's object, or a collection that belongs to one, even if it
        was found inside a framework's language model."""
        if held.is_users:
            return True
        if not is_collection(held.thing):
            return False
        owner = next((each for each in self.above(held) if not is_collection(each.thing)), None)
        return owner is not None and (owner.is_users or isinstance(owner.thing, (partial, MethodType)))

    def names(self, held: Held) -> Iterator[str]:
        """Yields the name of a collection, and then the names of the collections that contain it, from
        the inside out. Yields nothing for any other object. A name may be empty."""
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
        place = self._places[id(thing)] = len(self.all)
        held = self._held(thing, name, holder)
        self.all.append(held)
        self._waiting.extend((value, inner, place) for inner, value in held.followed)

    def _held(self, thing: object, name: str, holder: int | None) -> Held:
        is_simple = type(thing) in SIMPLE
        is_of_model = holder is not None and self.all[holder].is_of_model
        is_of_model = is_of_model or (not is_simple and _is_model(thing))
        size = len(cast("list[Any]", thing)) if is_simple or is_collection(thing) else 0
        known = None if self._earlier is None else self._earlier.of(thing)
        try:
            entries = self._entries(thing)
            if known is not None and known.has_still(entries, size, is_of_model=is_of_model):
                held = known.held_as(name, holder)
            else:
                held = Held(thing, name, holder, is_of_user(thing), size, is_of_model)
                held.read(entries)
        except Exception:  # an object of the user's may raise any error when it is read
            self.complete = False
            return Held(thing, name, holder, is_of_user(thing), size, is_of_model)
        for position in held.outside:
            self.outer.setdefault(*entries[position])
        return held

    def _entries(self, thing: object) -> NamedValues:
        kind: type = type(thing)
        if kind is dict:
            held = self._entries_of_dict(cast("Any", thing))
        elif kind in SIMPLE:
            held = self._entries_of_members(cast("Any", thing))
        else:
            held = [*self._inside(thing)]
        if self._tools is None:
            return held
        return [each for each in held if not is_resting(thing, each[1], self._tools)]

    def _entries_of_members(self, thing: list[Any]) -> NamedValues:
        self.complete = self.complete and len(thing) <= MOST_INSIDE
        return [("", each) for each in members_now(thing, MOST_INSIDE)]

    def _entries_of_dict(self, thing: dict[Any, Any]) -> NamedValues:
        self.complete = self.complete and len(thing) <= MOST_INSIDE
        entries: NamedValues = []
        for key, value in entries_now(thing, MOST_INSIDE).items():
            entries += (("", key), (key if isinstance(key, str) else "", value))
        return entries

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
            yield from entries_now(whole.keywords).items()
        elif isinstance(thing, dict):
            yield from self._entries_of_dict(cast("dict[Any, Any]", thing))
        elif isinstance(thing, COLLECTIONS):
            yield from self._entries_of_members(cast("list[Any]", thing))
        else:
            yield from entries_of_object(thing)


def _is_model(thing: object) -> bool:
    return _is_of_models(thing if isinstance(thing, type) else type(thing))


@per_class
def _is_of_models(kind: type) -> bool:
    return any(each.__name__ in _MODELS for each in kind.__mro__)


def is_resting(thing: object, value: object, tools: Collection[str] | None) -> bool:
    """Returns True iff ``thing`` is a framework's tool that may not run, and ``value`` is a function that
    this tool calls. ``tools``: the names of the only tools that may run; None if all tools may run."""
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
        if earlier is not None and earlier.plain is held.plain:
            continue  # the object has not changed, so its values were not read a second time
        known = set(map(_typed, earlier.plain if earlier is not None else ()))
        for name, value in held.plain:
            if _typed((name, value)) not in known:
                yield held, name, value


def _typed(entry: tuple[str, Plain]) -> tuple[str, type, Plain]:
    return entry[0], type(entry[1]), entry[1]
