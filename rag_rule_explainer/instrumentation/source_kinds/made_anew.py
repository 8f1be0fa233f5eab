"""This module makes a container or an object of the user's anew with other content. What its class
computes when an object is made, such as a number of messages, is then computed of the other content."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, cast

from ..rewinding.companies import is_own


class Made(NamedTuple):
    """A ``Made`` is an object with other content. ``computed``: the names of attributes that may have
    been computed of the content before, and that could not be computed anew."""

    thing: Any
    computed: tuple[str, ...] = ()


def with_elements(listed: Sequence[Any], left: list[Any]) -> Made:
    """Returns a list or tuple with the elements ``left`` in place of its own."""
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
    """Returns a dict with the values ``made``; the same dict if these are its own."""
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
    """Returns an object with the values ``made`` in the fields that ``searched_fields`` names; the same
    object if these are its own."""
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
    # A pydantic model copies its lists.
    return _made(value, lambda: kind(**own), lambda: changed(kind(**{**own, **differing})), copied)


def _made(
    value: Any, again: Callable[[], Any], anew: Callable[[], Any], changed: Callable[[], Any]
) -> Made:
    """Returns the object that ``anew`` makes, if the class of ``value`` is the user's, and makes an equal
    object of the same content, which ``again`` tries; else the one that ``changed`` makes, a copy."""
    if not is_own(type(value).__module__):
        return Made(changed())
    try:
        if _state_of(again()) == _state_of(value):
            return Made(anew())
    except Exception:  # noqa: S110 -- a class of the user's may refuse this in any way
        pass
    return Made(changed(), _computed_in(value))


def _computed_in(value: Any) -> tuple[str, ...]:
    known = {each.name for each in fields(value) if each.init} if is_dataclass(value) else set[str]()
    known.update(_declared(value))
    return tuple(each for each in _state_of(value) if each not in known and each != "")


def _state_of(value: Any) -> dict[str, Any]:
    """Returns the attributes of an object, and the content of a container under an empty name."""
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
