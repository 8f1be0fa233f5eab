"""This module says whether the answer of a probe was the bad outcome, which the user wants to fix."""

from ..explanation.explanation import Explanation
from ..explanation.records import ProbeRecord
from ..rules import RuleKind
from ..verdicts import Verdict


def badness_of(explanation: Explanation, probe: ProbeRecord) -> Verdict | None:
    """Returns HOLDS if the answer of the probe was the bad outcome, BREAKS if it was not, and UNKNOWN if
    the condition has no certain verdict. Returns None if the condition did not judge the answer.

    The condition of omission rules says that the bad outcome is gone. So an answer is the bad outcome if
    it does not meet this condition.
    """
    judged = probe.verdicts.get(RuleKind.OMISSION)
    if judged is not None:
        return ~judged.verdict
    judged = probe.verdicts.get(RuleKind.RETENTION)
    return judged.verdict if judged is not None and explanation.conditions_are_opposite else None
