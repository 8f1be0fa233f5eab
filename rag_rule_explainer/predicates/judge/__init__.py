"""Conditions that a judge decides, usually a model: what it is asked, and how its reply is read."""

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
