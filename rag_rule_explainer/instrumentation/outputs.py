"""What comes back: an application's output beside its explanation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..errors import InvalidInput
from ..explanation.explanation import Explanation

Output_co = TypeVar("Output_co", covariant=True)

KEY = "rag_rules"
"""Under which an explanation is attached to an output, as JSON-like data."""


@dataclass(frozen=True, slots=True)
class Explained(Generic[Output_co]):
    """What the application put out, and the rules its answer obeys."""

    output: Output_co
    explanation: Explanation


def check_alone(predicate: object, parameters: Iterable[str]) -> None:
    """Raises InvalidInput for what an explainer that is given as it is would never look at."""
    given = [*([] if predicate is None else ["predicate"]), *parameters]
    if given:
        raise InvalidInput(f"the RuleExplainer has its own {', '.join(given)}; set that where it is made")
