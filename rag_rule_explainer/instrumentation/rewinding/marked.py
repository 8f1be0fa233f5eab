"""This module recognises the functions that ``@tool`` returns."""

from types import FunctionType
from typing import Any

from ..requests.tools_in_use import TOOL_NAME
from ..shared_state.reaching import is_ours


def behind_mark(value: Any) -> tuple[Any, str | None]:
    """Returns the user's function behind one that ``@tool`` returned, and the name of the tool; any other
    value itself, and None."""
    if not (isinstance(value, FunctionType) and is_ours(value) and TOOL_NAME in vars(value)):
        return value, None
    return vars(value).get("__wrapped__"), vars(value)[TOOL_NAME]
