"""This module finds the majority among a judge's opinions on one answer."""

from collections import Counter
from collections.abc import Sequence

from ...verdicts import Judgement, Verdict


def majority(opinions: Sequence[Judgement], samples: int) -> Judgement | None:
    """Returns the judgement of the majority of the opinions so far; None if opinions that are still
    missing could change it.

    A draw is UNKNOWN. Unsure opinions count for neither side. ``samples``: the number of opinions that
    there will be in all.
    """
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
    """Returns the smallest number of further opinions that can make the majority certain. To save
    requests, the caller requests only this number of opinions next."""
    counts = Counter(opinion.verdict for opinion in opinions)
    left = samples - len(opinions)
    lead = abs(counts[Verdict.HOLDS] - counts[Verdict.BREAKS])
    return min(left, max(1, (left - lead) // 2 + 1))
