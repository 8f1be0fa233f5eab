"""This module reads from a probe whether the bad outcome was seen on its subset."""

from ..explanation.explanation import Explanation
from ..explanation.records import ProbeRecord
from ..rules import RuleKind
from ..verdicts import Verdict


def badness_of(explanation: Explanation, probe: ProbeRecord) -> Verdict | None:
    """Returns HOLDS iff the subset of the probe shows the bad outcome, which is what the condition of
    omission rules excludes. Returns None if the probe has no verdict that says so."""
    judged = probe.verdicts.get(RuleKind.OMISSION)
    if judged is not None:
        return ~judged.verdict
    judged = probe.verdicts.get(RuleKind.RETENTION)
    return judged.verdict if judged is not None and explanation.conditions_are_opposite else None
