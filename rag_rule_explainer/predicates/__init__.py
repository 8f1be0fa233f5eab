"""Conditions on an answer, and how they are combined and negated."""

from .at_path import (
    JsonPath,
    json_path,
)
from .citing import (
    Cites,
    MentionsSource,
    cites,
    mentions_source,
)
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
    remembered_name,
    unwrapped,
)
from .judge import (
    Candidate,
    Judge,
    JudgedBy,
    JudgeFailed,
    JudgeReply,
    JudgeRequest,
    Jury,
    Matter,
    judged,
)
from .protocol import (
    Predicate,
    PredicateLike,
)
from .refusing import (
    Refuses,
    refuses,
)
from .same import (
    ConsistentWith,
    SameAnswer,
    consistent_with,
    same_answer,
)
from .text import (
    Contains,
    Equals,
    Matches,
    OneOf,
    contains,
    equals,
    matches,
    one_of,
)
from .validating import (
    IsValid,
    is_valid,
)
from .wording import (
    near_exact,
)

__all__ = [
    "AllOf",
    "AnyOf",
    "Candidate",
    "Cites",
    "ConsistentWith",
    "Contains",
    "Equals",
    "Function",
    "IsValid",
    "JsonPath",
    "Judge",
    "JudgeFailed",
    "JudgeReply",
    "JudgeRequest",
    "JudgedBy",
    "Jury",
    "Matches",
    "Matter",
    "MentionsSource",
    "Not",
    "OneOf",
    "Predicate",
    "PredicateLike",
    "Refuses",
    "SameAnswer",
    "as_judgement",
    "as_predicate",
    "cites",
    "condition",
    "consistent_with",
    "contains",
    "equals",
    "is_valid",
    "json_path",
    "judged",
    "matches",
    "mentions_source",
    "near_exact",
    "negated",
    "negation_of",
    "one_of",
    "refuses",
    "remembered_name",
    "same_answer",
    "unwrapped",
]
