"""Explains the answers of a RAG application by rules over its retrieved sources.

The names below are loaded when first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .assuming import Assuming
    from .checking import JudgeCheck, LabelledCase, check_judge
    from .comparison import Comparison, diff
    from .display import ProgressBar
    from .errors import (
        AnswerNotRepeatable,
        ApplicationChanged,
        BaselineFailed,
        ConditionFalse,
        InvalidInput,
        MissingExtra,
        NoSourcesCaptured,
        RagRuleError,
        ReplayMissedGate,
        SourceLeak,
        StateShared,
        StoreFailed,
        TooManySources,
        UnknownQuery,
        UnseenSourcesNeeded,
        UntrueReplay,
    )
    from .estimate import Estimate
    from .explainer import Explainer
    from .explanation import Explanation
    from .mining.partitioned import Partition
    from .mining.sampled import Sampled
    from .predicates import (
        JudgeReply,
        JudgeRequest,
        cites,
        condition,
        consistent_with,
        contains,
        equals,
        is_valid,
        json_path,
        judged,
        matches,
        mentions_source,
        one_of,
        refuses,
        same_answer,
    )
    from .probing.limiter import Limiter
    from .probing.limits import Limits
    from .probing.noise import Noise
    from .probing.prices import Price
    from .probing.retries import Retries
    from .progress import Progress, ProgressReport
    from .records import Finding
    from .rules import RuleKind
    from .settings import Settings, SettingsFields
    from .sources import Source
    from .storing.store import Store
    from .summary import RuleSummary, Summary
    from .updates import Update
    from .verdicts import Answer, Case, Judgement, Verdict
    from .verification import Verification
    from .version import __version__

_ROOMS = {
    "assuming": ("Assuming",),
    "checking": ("JudgeCheck", "LabelledCase", "check_judge"),
    "comparison": ("Comparison", "diff"),
    "display": ("ProgressBar",),
    "errors": (
        "AnswerNotRepeatable",
        "ApplicationChanged",
        "BaselineFailed",
        "ConditionFalse",
        "InvalidInput",
        "MissingExtra",
        "NoSourcesCaptured",
        "RagRuleError",
        "ReplayMissedGate",
        "SourceLeak",
        "StateShared",
        "StoreFailed",
        "TooManySources",
        "UnknownQuery",
        "UnseenSourcesNeeded",
        "UntrueReplay",
    ),
    "estimate": ("Estimate",),
    "explainer": ("Explainer",),
    "explanation": ("Explanation",),
    "mining.partitioned": ("Partition",),
    "mining.sampled": ("Sampled",),
    "predicates": (
        "JudgeReply",
        "JudgeRequest",
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
        "one_of",
        "refuses",
        "same_answer",
    ),
    "probing.limiter": ("Limiter",),
    "probing.limits": ("Limits",),
    "probing.noise": ("Noise",),
    "probing.prices": ("Price",),
    "probing.retries": ("Retries",),
    "progress": ("Progress", "ProgressReport"),
    "records": ("Finding",),
    "rules": ("RuleKind",),
    "settings": ("Settings", "SettingsFields"),
    "sources": ("Source",),
    "storing.store": ("Store",),
    "summary": ("RuleSummary", "Summary"),
    "updates": ("Update",),
    "verdicts": ("Answer", "Case", "Judgement", "Verdict"),
    "verification": ("Verification",),
    "version": ("__version__",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "Answer",
    "AnswerNotRepeatable",
    "ApplicationChanged",
    "Assuming",
    "BaselineFailed",
    "Case",
    "Comparison",
    "ConditionFalse",
    "Estimate",
    "Explainer",
    "Explanation",
    "Finding",
    "InvalidInput",
    "JudgeCheck",
    "JudgeReply",
    "JudgeRequest",
    "Judgement",
    "LabelledCase",
    "Limiter",
    "Limits",
    "MissingExtra",
    "NoSourcesCaptured",
    "Noise",
    "Partition",
    "Price",
    "Progress",
    "ProgressBar",
    "ProgressReport",
    "RagRuleError",
    "ReplayMissedGate",
    "Retries",
    "RuleKind",
    "RuleSummary",
    "Sampled",
    "Settings",
    "SettingsFields",
    "Source",
    "SourceLeak",
    "StateShared",
    "Store",
    "StoreFailed",
    "Summary",
    "TooManySources",
    "UnknownQuery",
    "UnseenSourcesNeeded",
    "UntrueReplay",
    "Update",
    "Verdict",
    "Verification",
    "__version__",
    "check_judge",
    "cites",
    "condition",
    "consistent_with",
    "contains",
    "diff",
    "equals",
    "is_valid",
    "json_path",
    "judged",
    "matches",
    "mentions_source",
    "one_of",
    "refuses",
    "same_answer",
]


def __getattr__(name: str) -> object:
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_ROOM_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
