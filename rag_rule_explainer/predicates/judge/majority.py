"""This module counts the opinions of judges on one answer."""

from collections import Counter
from collections.abc import Sequence

from ...verdicts import Judgement, Verdict


def majority(opinions: Sequence[Judgement], samples: int) -> Judgement | None:
    """Returns the judgement of the majority; None while the remaining opinions could still change it.
    A draw is UNKNOWN. Opinions that are unsure are not counted."""
    if samples == 1:
        return opinions[0] if opinions else None
    counts = Counter(opinion.verdict for opinion in opinions)
    holds, breaks = counts[Verdict.HOLDS], counts[Verdict.BREAKS]
    if abs(holds - breaks) <= (left := samples - len(opinions)) and left:
        return None
    verdict = Verdict.UNKNOWN if holds == breaks else Verdict.of(holds > breaks)
    counted = f"{holds} of {len(opinions)} judges for it, {breaks} against"
    reason = next((each.reason for each in opinions if each.verdict is verdict and each.reason), "")
    return Judgement(verdict, f"{counted}; {reason}" if reason else counted)


def soonest(opinions: Sequence[Judgement], samples: int) -> int:
    """Returns the smallest number of further opinions after which the majority may be certain."""
    counts = Counter(opinion.verdict for opinion in opinions)
    left = samples - len(opinions)
    lead = abs(counts[Verdict.HOLDS] - counts[Verdict.BREAKS])
    return min(left, max(1, (left - lead) // 2 + 1))
