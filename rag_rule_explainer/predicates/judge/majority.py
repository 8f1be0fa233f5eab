"""How the opinions on one answer are counted."""

from collections import Counter
from collections.abc import Sequence

from ...verdicts import Judgement, Verdict


def majority(opinions: Sequence[Judgement], samples: int) -> Judgement | None:
    """Returns what most of these say; None while the opinions that are left could change it.

    A draw is UNKNOWN; those that are unsure count for neither side.
    """
    if samples == 1:
        return opinions[0] if opinions else None
    counts = Counter(opinion.verdict for opinion in opinions)
    holds, breaks = counts[Verdict.HOLDS], counts[Verdict.BREAKS]
    if abs(holds - breaks) <= (left := samples - len(opinions)) and left:
        return None
    verdict = Verdict.UNKNOWN if holds == breaks else Verdict.of(holds > breaks)
    told = f"{holds} of {len(opinions)} judges for it, {breaks} against"
    reason = next((each.reason for each in opinions if each.verdict is verdict and each.reason), "")
    return Judgement(verdict, f"{told}; {reason}" if reason else told)


def soonest(opinions: Sequence[Judgement], samples: int) -> int:
    """Returns how many more opinions it takes at least until the majority is known."""
    counts = Counter(opinion.verdict for opinion in opinions)
    left = samples - len(opinions)
    lead = abs(counts[Verdict.HOLDS] - counts[Verdict.BREAKS])
    return min(left, max(1, (left - lead) // 2 + 1))
