"""This module pairs an application's output with its explanation, or with the error that prevented it."""

from collections.abc import Iterable
from dataclasses import dataclass
from logging import getLogger
from typing import Any, Generic, TypeVar

from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..printable import printable

Output_co = TypeVar("Output_co", covariant=True)

KEY = "rag_rules"
"""The key under which an explanation is attached to an output, as JSON-like data."""


@dataclass(frozen=True, slots=True)
class Explained(Generic[Output_co]):
    """An ``Explained`` holds the application's output, and the explanation of its answer."""

    output: Output_co
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Unexplained(Generic[Output_co]):
    """An ``Unexplained`` holds the application's output, and the error that prevented an explanation."""

    output: Output_co
    error: Exception


_LOG = getLogger(__name__)


def unexplained(output: Any, error: Exception) -> Unexplained[Any]:
    """Returns an ``Unexplained`` and logs the error. The caller does not raise the error, so the user
    would otherwise not see it."""
    _LOG.warning("the answer comes without rules: %s: %s", type(error).__name__, printable(str(error)))
    return Unexplained(output, error)


def rules_in(done: Explained[Any] | Unexplained[Any]) -> dict[str, Any]:
    """Returns the JSON-like data that is attached to an output: its explanation, or the error as
    ``error`` (the name of its class) and ``message``."""
    if isinstance(done, Explained):
        return done.explanation.model_dump(mode="json")
    return {"error": type(done.error).__name__, "message": str(done.error)}


def check_alone(predicate: object, parameters: Iterable[str]) -> None:
    """Raises InvalidInput if the user passes a RuleExplainer together with a predicate or other
    parameters, which the RuleExplainer would ignore.

    ``parameters``: the names of the other parameters that were passed.
    """
    given = [*([] if predicate is None else ["predicate"]), *parameters]
    if given:
        raise InvalidInput(f"the RuleExplainer has its own {', '.join(given)}; set that where it is made")
