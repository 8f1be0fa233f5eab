"""This package explains the answers of a RAG application by rules over its retrieved sources.

Each of the names below is imported when it is first used, so that the package itself is imported fast.
"""

from typing import TYPE_CHECKING

from .late_names import importing_late, register_functions

if TYPE_CHECKING:
    from .checking import JudgeCheck, LabelledCase, check_judge
    from .citations import (
        CitationCheck,
        CitationClass,
        CitationVerdict,
        CitedAnswer,
        acite,
        check_citations,
        cite,
    )
    from .comparison import Comparison, diff
    from .errors import (
        AnswerNotRepeatable,
        ApplicationChanged,
        BaselineFailed,
        ConditionFalse,
        InvalidInput,
        MissingExtra,
        NoBackfill,
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
    from .explainer import Explainer
    from .explanation.explanation import Explanation
    from .explanation.records import Finding
    from .explanation.summary import RuleSummary, Summary
    from .explanation.verification import Verification
    from .mining.partition import Partition
    from .mining.sampled import Sampled
    from .predicates import (
        JudgeReply,
        JudgeRequest,
        calls_in_order,
        calls_tool,
        cites,
        condition,
        consistent_with,
        contains,
        equals,
        ignoring_citations,
        is_valid,
        json_path,
        judged,
        matches,
        mentions_source,
        next_call,
        number_of_calls,
        one_of,
        refuses,
        same_answer,
    )
    from .probing.limiter import Limiter
    from .probing.limits import Limits
    from .probing.noise import Noise
    from .probing.prices import Price
    from .probing.retries import Retries
    from .progress import ProgressBar
    from .progress.report import Progress, ProgressReport
    from .report.loading import load
    from .rules import RuleKind
    from .session.estimate.assumptions import Assumptions
    from .session.estimate.estimate import Estimate
    from .session.updates import Update
    from .settings import Settings, SettingsFields
    from .sources import Source
    from .storing.store import Store
    from .tool_calls import ToolCall
    from .traces import Annotations, Incident
    from .verdicts import Answer, Case, Judgement, Verdict
    from .version import __version__

_ROOMS = {
    "session.estimate.assumptions": ("Assumptions",),
    "checking": ("JudgeCheck", "LabelledCase", "check_judge"),
    "citations": (
        "CitationCheck",
        "CitationClass",
        "CitationVerdict",
        "CitedAnswer",
        "acite",
        "check_citations",
        "cite",
    ),
    "comparison": ("Comparison", "diff"),
    "progress": ("ProgressBar",),
    "errors": (
        "AnswerNotRepeatable",
        "ApplicationChanged",
        "BaselineFailed",
        "ConditionFalse",
        "InvalidInput",
        "MissingExtra",
        "NoBackfill",
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
    "session.estimate.estimate": ("Estimate",),
    "explainer": ("Explainer",),
    "explanation.explanation": ("Explanation",),
    "mining.partition": ("Partition",),
    "mining.sampled": ("Sampled",),
    "predicates": (
        "JudgeReply",
        "JudgeRequest",
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
        "next_call",
        "number_of_calls",
        "one_of",
        "refuses",
        "same_answer",
    ),
    "probing.limiter": ("Limiter",),
    "probing.limits": ("Limits",),
    "probing.noise": ("Noise",),
    "probing.prices": ("Price",),
    "probing.retries": ("Retries",),
    "progress.report": ("Progress", "ProgressReport"),
    "explanation.records": ("Finding",),
    "report.loading": ("load",),
    "rules": ("RuleKind",),
    "settings": ("Settings", "SettingsFields"),
    "sources": ("Source",),
    "storing.store": ("Store",),
    "traces": ("Annotations", "Incident"),
    "explanation.summary": ("RuleSummary", "Summary"),
    "session.updates": ("Update",),
    "tool_calls": ("ToolCall",),
    "verdicts": ("Answer", "Case", "Judgement", "Verdict"),
    "explanation.verification": ("Verification",),
    "version": ("__version__",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "Annotations",
    "Answer",
    "AnswerNotRepeatable",
    "ApplicationChanged",
    "Assumptions",
    "BaselineFailed",
    "Case",
    "CitationCheck",
    "CitationClass",
    "CitationVerdict",
    "CitedAnswer",
    "Comparison",
    "ConditionFalse",
    "Estimate",
    "Explainer",
    "Explanation",
    "Finding",
    "Incident",
    "InvalidInput",
    "JudgeCheck",
    "JudgeReply",
    "JudgeRequest",
    "Judgement",
    "LabelledCase",
    "Limiter",
    "Limits",
    "MissingExtra",
    "NoBackfill",
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
    "ToolCall",
    "UnknownQuery",
    "UnseenSourcesNeeded",
    "UntrueReplay",
    "Update",
    "Verdict",
    "Verification",
    "__version__",
    "acite",
    "calls_in_order",
    "calls_tool",
    "check_citations",
    "check_judge",
    "cite",
    "cites",
    "condition",
    "consistent_with",
    "contains",
    "diff",
    "equals",
    "ignoring_citations",
    "is_valid",
    "json_path",
    "judged",
    "load",
    "matches",
    "mentions_source",
    "next_call",
    "number_of_calls",
    "one_of",
    "refuses",
    "same_answer",
]


__getattr__ = importing_late(__name__, _ROOM_OF)
# Methods of results, such as ``Explanation.report``, call these functions by name. The classes of results
# cannot import the packages of the functions, because these packages import the classes.
register_functions(
    __name__,
    {
        "as_dataframe": "report.dataframe",
        "check_citations": "citations.of_explanation",
        "fixes_of": "fixing.fixes",
        "notebook_html": "report.html",
        "plotted": "report.plots",
        "report_in": "report.forms",
        "save_report": "report.forms",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
