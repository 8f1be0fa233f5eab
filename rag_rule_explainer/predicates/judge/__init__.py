"""This package contains the predicates that a judge, usually a model, decides. It also writes the
requests to judges and reads their replies."""

from .judged import JudgedBy, judged
from .jury import Jury
from .naming import judge_name_of
from .protocol import Candidate, Judge, JudgeFailed, JudgeReply, JudgeRequest, Matter

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
