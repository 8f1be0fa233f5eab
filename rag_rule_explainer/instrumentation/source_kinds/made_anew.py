"""This module makes a new list, dict or object with other content from one in the user's data. If a class
of the user's computes attributes when an object is made, such as the number of messages, the new object
computes them from the new content."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, cast

from ..rewinding.companies import is_own


class Made(NamedTuple):
    """A ``Made`` is an object with new content. ``computed``: the names of attributes that may still have
    values for the old content, because they could not be computed again."""

    thing: Any
    computed: tuple[str, ...] = ()


def with_elements(listed: Sequence[Any], left: list[Any]) -> Made:
    """Returns a copy of a list or tuple whose elements are ``left`` instead of the original elements."""
    if isinstance(listed, tuple):
        make: Any = getattr(cast("object", listed), "_make", tuple)
        return Made(make(left))
    kind: Any = type(listed)

    def changed() -> Any:
        made: Any = copy(listed)
        made[:] = left
        return made

    return _made(listed, lambda: kind(list(listed)), lambda: kind(left), changed)


def with_entries(entries: dict[Any, Any], made: Mapping[Any, Any]) -> Made:
    """Returns a copy of a dict with the values ``made``. If ``made`` has the same values as the dict,
    returns the dict itself."""
    if all(made[name] is each for name, each in entries.items()):
        return Made(entries)
    kind: Any = type(entries)

    def changed() -> Any:
        copied = copy(entries)
        copied.update(made)
        return copied

    return _made(entries, lambda: kind({**entries}), lambda: kind({**entries, **made}), changed)


def searched_fields(value: Any) -> list[str]:
    """Returns the names of the fields of an object in which messages are searched for. The object must be
    of a dataclass or pydantic model of the user's; for any other object, the list is empty."""
    if not is_own(type(value).__module__):
        return []
    if is_dataclass(value) and not isinstance(value, type):
        return [each.name for each in fields(value) if hasattr(value, each.name)]
    return [each for each in _declared(value) if hasattr(value, each)]


def with_values(value: Any, made: Mapping[str, Any]) -> Made:
    """Returns a copy of an object in which the fields that ``searched_fields`` names have the values
    ``made``. If the object's fields have these values already, returns the object itself."""
    differing = {name: each for name, each in made.items() if each is not getattr(value, name)}
    if not differing:
        return Made(value)
    kind: Any = cast("object", type(value))

    def changed(thing: Any) -> Any:
        for name, each in differing.items():
            object.__setattr__(thing, name, each)
        return thing

    def copied() -> Any:
        return changed(copy(value))

    if is_dataclass(value):
        of_class: Any = value
        return _made(value, lambda: replace(of_class), lambda: replace(of_class, **differing), copied)
    own = {name: getattr(value, name) for name in _declared(value)}
    # A pydantic model copies its lists when it is made. So the values in ``differing`` are set once more.
    return _made(value, lambda: kind(**own), lambda: changed(kind(**{**own, **differing})), copied)


def _made(
    value: Any, again: Callable[[], Any], anew: Callable[[], Any], changed: Callable[[], Any]
) -> Made:
    """Returns a new object with other content. If the class of ``value`` is the user's, first checks with
    ``again`` whether the class makes an equal object from the old content; if so, ``anew`` makes the
    object. Otherwise, ``changed`` makes a copy and changes it."""
    if not is_own(type(value).__module__):
        return Made(changed())
    try:
        if _state_of(again()) == _state_of(value):
            return Made(anew())
    except Exception:  # noqa: S110 -- the user's class may raise any error
        pass
    return Made(changed(), _computed_in(value))


def _computed_in(value: Any) -> tuple[str, ...]:
    known = {each.name for each in fields(value) if each.init} if is_dataclass(value) else set[str]()
    known.update(_declared(value))
    return tuple(each for each in _state_of(value) if each not in known and each != "")


def _state_of(value: Any) -> dict[str, Any]:
    """Returns the attributes of an object by name. If the object is a dict or a list, its content has an
    empty name."""
    private: Any = getattr(value, "__pydantic_private__", None)
    state = dict[str, Any](getattr(value, "__dict__", {}))
    state.update(private or {})
    if isinstance(value, dict):
        state[""] = [*cast("dict[Any, Any]", value).items()]
    elif isinstance(value, list):
        state[""] = [*cast("list[Any]", value)]
    return state


def _declared(value: Any) -> list[str]:
    kind: Any = cast("object", type(value))
    declared: Any = getattr(kind, "model_fields", None)
    return [*cast("dict[str, Any]", declared)] if isinstance(declared, dict) else []
