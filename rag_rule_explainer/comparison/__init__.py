"""This package compares the rules of two explanations, for example of two models, two prompts or two
days."""

from .comparing import diff
from .comparison import Comparison, FailOn
from .records import Broken, Change, MatchedSource, Unsettled

__all__ = ["Broken", "Change", "Comparison", "FailOn", "MatchedSource", "Unsettled", "diff"]
