"""This module finds numbers and flags that every run changes and that the application's code reads.

A comparison of the runs' prompts does not always show the influence of such a value: code such as "every
third turn, drop the first document" may do the same in all compared runs. Counters that no code reads are
harmless. Counters that only make a run fail at a limit are harmless too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any, cast

from ..copies.guarded_code import own_code
from .code import kept_by_defaults, users_functions
from .computed_names import is_computed
from .held import Held
from .holdings import Holdings, changed_values
from .name_reads import is_in_texts, reads
from .positions import Position
from .reaching import is_users

_LONGEST_FLAG = 20
"""The largest number of characters of a text that is treated as a flag, such as the name of a mode."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A ``Counted`` is a number or flag that changes from run to run.

    ``place``: the name of the value after the name of the object that has it, such as ``Chat.turn``.
    ``name``: the name by which code reads it. ``was``, ``came``: its value before and after a run.
    """

    place: str
    name: str
    was: object
    came: object


def deciding(before: Holdings, after: Holdings, is_meaningless: Callable[[str], bool]) -> Counted | None:
    """Returns a number or flag that a run changed and that the application's code reads; None if there is
    none.

    ``before``, ``after``: the application's state before and after the run. ``is_meaningless``: returns
    True iff the user ignores changes of the value with this ``place``.
    """
    counted = [each for each in _counted(before, after) if not is_meaningless(each.place)]
    if not counted:
        return None
    functions = [code for _, code in _running(after)]
    return next((each for each in counted if any(reads(code, each.name) for code in functions)), None)


def is_shown(holdings: Holdings, name: str) -> bool:
    """Returns True iff code that a run may call puts a value of this name into a text. ``holdings``: the
    application's state, which includes its code."""
    return any(reads(code, name, in_texts=True, decides=False) for _, code in _running(holdings))


def is_read(holdings: Holdings, name: str, *, in_texts: bool = True) -> bool:
    """Returns True iff code that a run may call reads this name.

    ``in_texts``: True if a read that only puts the value into a text counts too. Some checks do not count
    such reads, because they compare the prompts, in which the text appears.
    """
    codes = [code for _, code in _running(holdings)]
    return (
        any(reads(code, name, in_texts=in_texts) for code in codes)
        or any(name in kept_by_defaults(function) for _, function in users_functions(holdings))
        or is_computed(codes, name)
    )


def is_named(holdings: Holdings, name: str) -> bool:
    """Returns True iff a string in code that a run may call contains this name. Code can read a value by
    such a string, as in ``getattr(app, "mode")`` or ``"{app.mode}".format(app=app)``."""
    return any(is_in_texts(code, name) for _, code in _running(holdings))


def is_read_by_models(holdings: Holdings, name: str) -> bool:
    """Returns True iff the code of one of the user's own model classes reads this name."""
    return any(held.is_of_model and reads(code, name, in_texts=True) for held, code in _running(holdings))


def _counted(before: Holdings, after: Holdings) -> Iterator[Counted]:
    for held, name, value in changed_values(before, after, after.is_in_users):
        earlier = before.of(held.thing)
        if earlier is None or not _is_flag(value):
            continue
        is_entry = isinstance(held.thing, (dict, list))
        if not name and not isinstance(held.thing, list):
            continue
        was = next((old for known, old in earlier.plain if known == name), None)
        if was is None or type(was) is not type(value):
            continue
        yield Counted(
            place_in(after, held, "" if is_entry else name), held.name if is_entry else name, was, value
        )
    for held in after.all:
        earlier = before.of(held.thing)
        # A dict or a set may grow with each run, for example by an entry for each session. That is
        # harmless, so only lists are checked.
        if earlier is None or not isinstance(held.thing, list) or not held.name:
            continue
        if earlier.size != held.size and after.is_in_users(held):
            # If the entries of a list are in a request to a model, a comparison of requests shows that
            # the entries changed. The number of entries is in no request, but the user's code may depend
            # on this number.
            yield Counted(place_in(after, held, ""), f"len({held.name})", earlier.size, held.size)


def _is_flag(value: object) -> bool:
    if isinstance(value, str):
        return isinstance(value, Position) or (value.isalpha() and len(value) <= _LONGEST_FLAG)
    # A larger number is probably a time or an id, not a flag.
    return isinstance(value, int) and abs(value) < 1_000_000_000


def place_in(holdings: Holdings, held: Held, name: str) -> str:
    """Returns the name of a value, with the name of the object that has it, such as ``Chat.turn``. The
    user's ``ignore=`` patterns are compared with this text. ``name``: the name of the value in
    ``held``."""
    names = [name] if name else []
    for each in (held, *holdings.above(held)):
        thing = each.thing
        if isinstance(thing, FunctionType):
            return ".".join([thing.__name__, *reversed(names)])
        if not isinstance(thing, (dict, list, tuple, set)):
            kind = thing if isinstance(thing, type) else type(thing)
            return ".".join([kind.__name__, *reversed(names)])
        names += [each.name] if each.name else []
    return ".".join(reversed(names))


def _running(holdings: Holdings) -> Iterator[tuple[Held, CodeType]]:
    return ((held, own_code(function)) for held, function in running_functions(holdings))


def running_functions(holdings: Holdings) -> Iterator[tuple[Held, FunctionType]]:
    """Yields the user's functions that a run may call, each with its ``Held``, which says where it was
    found.

    Methods that no code names, such as methods that report statistics, are left out.
    """
    functions = list(users_functions(holdings))
    for held, function in functions:
        holder = None if held.holder is None else holdings.all[held.holder].thing
        if own_code(function).co_filename == "<string>" and function.__name__ == "__init__":
            continue  # the ``__init__`` of a dataclass, which only sets attributes
        # A variable with the method's name is a different object, so only reads as an attribute, such as
        # ``self.name``, count.
        if is_for_others(holder, function) and not (
            any(reads(own_code(each), function.__name__, as_attribute=True) for _, each in functions)
            or _may_be_meant(function.__name__, functions, of_a_model=held.is_of_model)
        ):
            continue
        yield held, function


def _may_be_meant(name: str, functions: list[tuple[Held, FunctionType]], *, of_a_model: bool) -> bool:
    """Returns True iff the user's code may call a method of this name although the name is not in the
    code, because the code computes it, as in ``getattr(self, "on_" + event)``. ``of_a_model``: True for a
    method of a model; only the code of models is then considered."""
    codes = (own_code(each) for held, each in functions if held.is_of_model or not of_a_model)
    return is_computed(codes, name, of_a_method=True)


def _names_of(function: FunctionType, kind: type) -> set[str]:
    """Returns the names of this function in a class or one of its bases: as a method, a static or class
    method, or the getter of a property."""
    # The attributes may be objects of any kind, whose ``==`` may do anything. So the attributes are
    # compared by identity.
    return {
        name
        for each in kind.__mro__
        for name, held in vars(each).copy().items()
        if (held if type(held) is FunctionType else _function_of(held)) is function
    }


def _function_of(held: Any) -> Any:
    if isinstance(held, (staticmethod, classmethod)):
        return cast("Any", held).__func__
    if isinstance(held, property):
        return held.fget
    return cast("Any", held).func if isinstance(held, cached_property) else held


def is_for_others(holder: object, function: FunctionType) -> bool:
    """Returns True for a user's method that runs only if the user's code contains its name. ``holder``:
    the object or the class that has the method.

    Returns False for methods that may run although no code names them: special methods, which Python
    calls (``if cart:`` calls ``__bool__`` of ``cart``); methods that override a framework's method;
    methods that a decorator may have registered; and methods that have a second name (an alias).
    """
    kind = holder if isinstance(holder, type) else type(holder)
    if function.__name__.startswith("__") and function.__name__.endswith("__"):
        return False
    if not is_users(kind.__module__) or vars(function):
        return False
    if _names_of(function, kind) != {function.__name__}:
        return False
    return not any(
        hasattr(each, function.__name__) for each in kind.__mro__ if not is_users(each.__module__)
    )
