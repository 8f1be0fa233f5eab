"""This package measures how well a judge's verdicts agree with labels: its precision and its recall."""

from .checking import check_judge
from .figures import Share
from .labelled import LabelledCase
from .result import CaseOutcome, JudgeCheck

__all__ = ["CaseOutcome", "JudgeCheck", "LabelledCase", "Share", "check_judge"]
