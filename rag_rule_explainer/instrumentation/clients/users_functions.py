"""This module calls the functions that users pass to ``gate``. If one fails, the error names it."""

from collections.abc import Callable
from typing import Any

from ...allowed import named_function
from ...errors import InvalidInput, RagRuleError
from ...printable import type_said
from ...probing.transient import is_transient


def users_result(name: str, function: Callable[..., Any], *given: Any, what: str = "") -> Any:
    """Calls a user's function, and returns its result.

    ``name``: the parameter of ``gate`` with this function. ``given``: the function's arguments. ``what``:
    words for the value that the function has to return, for the error message; empty if it may return
    None.

    Raises InvalidInput, which names the function, if the function raises an error, or returns None
    although ``what`` is set. A transient error (one that a repetition may avoid) is raised unchanged, so
    that the run is retried.
    """
    try:
        result = function(*given)
    except RagRuleError:
        raise
    except Exception as error:
        if is_transient(error):
            raise
        raised = f"raised {type(error).__name__}: {error}"
        raise InvalidInput(
            f"{_call_in_words(name, function, given)} {raised}; mend that function"
        ) from error
    if result is None and what:
        raise InvalidInput(
            f"{_call_in_words(name, function, given)} returned None; have it return {what}"
        )
    return result


def _call_in_words(name: str, function: Callable[..., Any], given: tuple[Any, ...]) -> str:
    called = f"was called with {type_said(given[0])} and"
    return f"{name}, which gate was given ({named_function(function)}), {called}"
