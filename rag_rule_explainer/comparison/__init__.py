"""What changed between two explanations: two models, two prompts, two days."""

from .comparing import diff
from .comparison import Comparison, FailOn
from .records import Broken, Change, MatchedSource, Unsettled

__all__ = ["Broken", "Change", "Comparison", "FailOn", "MatchedSource", "Unsettled", "diff"]
