"""What comes back: an application's output beside its explanation."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from ..explanation import Explanation

Output_co = TypeVar("Output_co", covariant=True)

KEY = "rag_rules"
"""Under which an explanation is attached to an output, as JSON-like data."""


@dataclass(frozen=True, slots=True)
class Explained(Generic[Output_co]):
    """What the application put out, and the rules its answer obeys."""

    output: Output_co
    explanation: Explanation
