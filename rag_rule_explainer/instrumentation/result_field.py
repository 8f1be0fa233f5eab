"""This module defines what the result of a tool has beside the content that a model is shown."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

STATE_BESIDE_A_LIST = (
    "fidelity not checked: the tool {tool} writes {name} into the state beside a list of items, and it "
    "is not known what it would write of some of them. Compute it from the tool's message where it is "
    "read, let the tool write a list with one element for each item, or, if it is the same whichever "
    "items there are, say so: ignore=[{pattern}]"
)
FIELD_BESIDE_A_LIST = (
    "fidelity not checked: the tool {tool} returns {name} beside a list of items, the application's code "
    "may read it, and it is not known what it would be for some of the items. Compute it from the tool's "
    "message where it is read, let it be a list with one element for each item, or, if it is the same "
    "whichever items there are, say so: ignore=[{pattern}]"
)
SHOWN_WITH_A_LIST = (
    "fidelity not checked: {name} in the result of the tool {tool} may be made of several items of its "
    "list, as a sum, a judgement or a place is, and replays that omit items leave it as it is. Let the "
    "tool return the list without it, or, if it is the same whichever items there are, say so: "
    "ignore=[{pattern}]"
)


class ResultField(NamedTuple):
    """A ``ResultField`` is a value that a result has beside its content. ``name``: the name of an
    attribute, or of a field of a graph's state (``is_state``), which the value is written into.
    ``stays``: True if it is the same whatever is omitted: a part of a hand-over, or named by the user.
    ``is_shown``: True if it is a part of the content, in or around a list, and nothing beside it."""

    name: str
    value: Any
    is_state: bool = False
    stays: bool = False
    is_shown: bool = False

    def path_of(self, tool: str) -> str:
        """Returns the name by which ``ignore=`` names this field of the results of ``tool``."""
        return f"{tool}.{self.name}"

    def doubt_about(self, tool: str) -> str:
        """Returns the reason why nothing is proved if this field was given to a replay in which some
        items of the content were omitted."""
        pattern = "r'" + re.escape(self.path_of(tool)).replace("'", "\\'") + "'"
        text = STATE_BESIDE_A_LIST if self.is_state else FIELD_BESIDE_A_LIST
        text = SHOWN_WITH_A_LIST if self.is_shown else text
        return text.format(tool=repr(tool), name=_said(self.name), pattern=pattern)


def _said(name: str) -> str:
    """Returns a field's name in words. A list of texts has no names for the numbers in them."""
    place = re.fullmatch(r"number (\d+)", name)
    return repr(name) if place is None else f"number {place[1]} in each item"


FieldDoubt: TypeAlias = Callable[[str, ResultField], None]
"""A function that is called with the name of a tool, and with a field of a result that a replay got, of
which it is not known what it is without the omitted items."""
