"""Conditions on an answer, and how they are combined and negated."""

from .combine import (
    AllOf,
    AnyOf,
    Function,
    Not,
    as_judgement,
    as_predicate,
    condition,
    negated,
    negation_of,
    unwrapped,
)
from .protocol import Predicate, PredicateLike
from .text import (
    ConsistentWith,
    Contains,
    Equals,
    Matches,
    SameAnswer,
    consistent_with,
    contains,
    equals,
    matches,
    near_exact,
    same_answer,
)

__all__ = [
    "AllOf",
    "AnyOf",
    "ConsistentWith",
    "Contains",
    "Equals",
    "Function",
    "Matches",
    "Not",
    "Predicate",
    "PredicateLike",
    "SameAnswer",
    "as_judgement",
    "as_predicate",
    "condition",
    "consistent_with",
    "contains",
    "equals",
    "matches",
    "near_exact",
    "negated",
    "negation_of",
    "same_answer",
    "unwrapped",
]
