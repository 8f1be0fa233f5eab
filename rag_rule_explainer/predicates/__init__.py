"""This package contains predicates, which are conditions on an answer. Predicates can be combined and
negated."""

from typing import TYPE_CHECKING

from ..late_names import importing_late
from .combine import AllOf, AnyOf, Function, Not, as_predicate, condition, negated, negation_of, unwrapped
from .outcomes import as_judgement
from .protocol import (
    Predicate,
    PredicateLike,
)
from .remembering import remembered_name
from .same import (
    ConsistentWith,
    SameAnswer,
    consistent_with,
    same_answer,
)
from .wording import (
    near_exact,
)

if TYPE_CHECKING:
    from .at_path import JsonPath, json_path
    from .calling import (
        CallCount,
        CallsInOrder,
        CallsTool,
        calls_in_order,
        calls_tool,
        next_call,
        number_of_calls,
    )
    from .citing import Cites, MentionsSource, cites, mentions_source
    from .judge.judged import JudgedBy, judged
    from .judge.jury import Jury
    from .judge.protocol import Candidate, Judge, JudgeFailed, JudgeReply, JudgeRequest, Matter
    from .refusing import Refuses, refuses
    from .text import Contains, Equals, Matches, OneOf, contains, equals, matches, one_of
    from .validating import IsValid, is_valid
    from .without_marks import IgnoringCitations, ignoring_citations

# Few users need these names. Their modules load libraries and many patterns, so they are imported only
# when a name is first used.
_LATE = {
    "JsonPath": "at_path",
    "json_path": "at_path",
    "CallCount": "calling",
    "CallsInOrder": "calling",
    "CallsTool": "calling",
    "calls_in_order": "calling",
    "calls_tool": "calling",
    "next_call": "calling",
    "number_of_calls": "calling",
    "Cites": "citing",
    "MentionsSource": "citing",
    "cites": "citing",
    "mentions_source": "citing",
    "JudgedBy": "judge.judged",
    "judged": "judge.judged",
    "Jury": "judge.jury",
    **dict.fromkeys(
        ("Candidate", "Judge", "JudgeFailed", "JudgeReply", "JudgeRequest", "Matter"), "judge.protocol"
    ),
    "Refuses": "refusing",
    "refuses": "refusing",
    **dict.fromkeys(
        ("Contains", "Equals", "Matches", "OneOf", "contains", "equals", "matches", "one_of"),
        "text",
    ),
    "IsValid": "validating",
    "is_valid": "validating",
    "IgnoringCitations": "without_marks",
    "ignoring_citations": "without_marks",
}

__all__ = [
    "AllOf",
    "AnyOf",
    "CallCount",
    "CallsInOrder",
    "CallsTool",
    "Candidate",
    "Cites",
    "ConsistentWith",
    "Contains",
    "Equals",
    "Function",
    "IgnoringCitations",
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
    "calls_in_order",
    "calls_tool",
    "cites",
    "condition",
    "consistent_with",
    "contains",
    "equals",
    "ignoring_citations",
    "is_valid",
    "json_path",
    "judged",
    "matches",
    "mentions_source",
    "near_exact",
    "negated",
    "negation_of",
    "next_call",
    "number_of_calls",
    "one_of",
    "refuses",
    "remembered_name",
    "same_answer",
    "unwrapped",
]


__getattr__ = importing_late(__name__, _LATE)
