"""What comes back: an application's output, beside its explanation or why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass
from logging import getLogger
from typing import Any, Generic, TypeVar

from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..printable import printable

Output_co = TypeVar("Output_co", covariant=True)

KEY = "rag_rules"
"""Under which an explanation is attached to an output, as JSON-like data."""


@dataclass(frozen=True, slots=True)
class Explained(Generic[Output_co]):
    """What the application put out, and the rules its answer obeys."""

    output: Output_co
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Unexplained(Generic[Output_co]):
    """What the application put out, and the error that says why there are no rules of its answer."""

    output: Output_co
    error: Exception


_LOG = getLogger(__name__)


def unexplained(output: Any, error: Exception) -> Unexplained[Any]:
    """Returns an output without rules. That there are none is logged, as nothing is raised."""
    _LOG.warning("the answer comes without rules: %s: %s", type(error).__name__, printable(str(error)))
    return Unexplained(output, error)


def rules_in(done: Explained[Any] | Unexplained[Any]) -> dict[str, Any]:
    """Returns what is attached to an output, as JSON-like data: its explanation, or why there is none, as
    ``error`` (the name of its class) and ``message``."""
    if isinstance(done, Explained):
        return done.explanation.model_dump(mode="json")
    return {"error": type(done.error).__name__, "message": str(done.error)}


def check_alone(predicate: object, parameters: Iterable[str]) -> None:
    """Raises InvalidInput for what an explainer that is given as it is would never look at."""
    given = [*([] if predicate is None else ["predicate"]), *parameters]
    if given:
        raise InvalidInput(f"the RuleExplainer has its own {', '.join(given)}; set that where it is made")
