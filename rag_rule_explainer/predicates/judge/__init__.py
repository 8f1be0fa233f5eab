"""This package contains the predicates that a judge, usually a model, decides. It also writes the
requests to judges and reads their replies."""

from typing import TYPE_CHECKING

from ...late_names import importing_late

if TYPE_CHECKING:
    from .judged import JudgedBy, judged
    from .jury import Jury
    from .naming import judge_name_of
    from .protocol import Candidate, Judge, JudgeFailed, JudgeReply, JudgeRequest, Matter

_LATE = {
    "JudgedBy": "judged",
    "judged": "judged",
    "Jury": "jury",
    "judge_name_of": "naming",
    **dict.fromkeys(
        ("Candidate", "Judge", "JudgeFailed", "JudgeReply", "JudgeRequest", "Matter"), "protocol"
    ),
}

__all__ = [
    "Candidate",
    "Judge",
    "JudgeFailed",
    "JudgeReply",
    "JudgeRequest",
    "JudgedBy",
    "Jury",
    "Matter",
    "judge_name_of",
    "judged",
]

__getattr__ = importing_late(__name__, _LATE)
