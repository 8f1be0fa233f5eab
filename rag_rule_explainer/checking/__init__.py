"""A judge measured against labels: how often what it says is so, and how often it sees what is so."""

from .checking import check_judge
from .figures import Share
from .labelled import LabelledCase
from .result import CaseOutcome, JudgeCheck

__all__ = ["CaseOutcome", "JudgeCheck", "LabelledCase", "Share", "check_judge"]
