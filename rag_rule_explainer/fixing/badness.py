"""This module finds out, for a probe, whether its answer was the bad outcome."""

from ..explanation.explanation import Explanation
from ..explanation.records import ProbeRecord
from ..rules import RuleKind
from ..verdicts import Verdict


def badness_of(explanation: Explanation, probe: ProbeRecord) -> Verdict | None:
    """Returns HOLDS iff the answer of the probe was the bad outcome. The bad outcome is that the
    condition of omission rules breaks. Returns None if the probe has no verdict that shows this."""
    judged = probe.verdicts.get(RuleKind.OMISSION)
    if judged is not None:
        return ~judged.verdict
    judged = probe.verdicts.get(RuleKind.RETENTION)
    return judged.verdict if judged is not None and explanation.conditions_are_opposite else None
