"""This module finds out the form of a search's result (such as a list or a single text), and builds a
result of the same form from some of its items."""

from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple, cast

from ..clients.fields import is_listed
from ..copies.copying import copied


def items_in(result: Any) -> Iterable[Any]:
    """Returns the items of a result: the items of a list or tuple, none for None, and any other result as
    a single item. A tuple whose fields have names is a single item too."""
    if result is None:
        return ()
    single: tuple[Any, ...] = (result,)
    return cast("Iterable[Any]", result) if is_listed(result) else single


def form_of(result: Any) -> object:
    """Returns a marker of the result's type, from which a replay's result of the same type is built.

    The marker is ``""`` for a text, ``()`` for a list or None, the class ``tuple`` for a tuple, an
    ``OwnList`` for a list of the user's own class, and ``ONE`` for a single object.
    """
    if isinstance(result, str):
        return ""
    if type(cast("object", result)) is tuple:
        return tuple
    if isinstance(result, list) and type(cast("object", result)) is not list:
        empty = copy(cast("list[Any]", result))
        empty.clear()
        return OwnList(empty)
    return () if result is None or isinstance(result, list) else ONE


class OwnList(NamedTuple):
    """An ``OwnList`` is the form of a list whose class the user wrote. ``empty``: a copy of the list
    without its items, but with its other attributes, such as the number of all hits."""

    empty: list[Any]


ONE = object()


def result_like(items: list[Any], form: object) -> Any:
    """Builds a result of the form that ``form_of`` returned: one text of all items, the first item (None
    if there is none), a tuple or a list."""
    if form == "":
        return "\n\n".join(items)
    if form is ONE:
        return items[0] if items else None
    if form is tuple:
        return tuple(items)
    if isinstance(form, OwnList):
        whole = copied(form.empty)
        whole.extend(items)
        return whole
    return items
