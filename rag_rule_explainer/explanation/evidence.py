"""This module describes the evidence of a rule in words. Each kind of claim (such as *proved* or
*tested*) has a wording of its own."""

from math import floor
from typing import TYPE_CHECKING

from ..lattice import subset_count
from ..printable import plain_id, printable
from .wording import joined

if TYPE_CHECKING:  # a runtime import would be circular
    from .records import Finding

_MOST_NAMED = 8
"""The maximum number of sources that the evidence lists if the claim is relative to them. If there are
more, only the first and the last source are named."""


def _kept(finding: "Finding") -> str:
    """Returns the sources to which a rule's claim is relative (it holds only among these), as a phrase.
    If there are many, it names only the first and the last."""
    if not finding.kept:
        return "groups kept whole"
    if len(finding.kept) <= _MOST_NAMED:
        return joined(finding.kept)
    first, last = (plain_id(finding.kept[place]) for place in (0, -1))
    return f"the {len(finding.kept)} sources {first}, …, {last}"


def confidence_shown(finding: "Finding") -> str:
    """Returns the confidence in per cent, rounded down. So 255 of 256 subsets are never shown as 100
    %."""
    return f"{floor(finding.confidence * 1000) / 10:g} %"


def evidence_of(finding: "Finding") -> str:
    """Returns the evidence of a finding in words; each kind of claim has its own wording."""
    seen = f"{finding.observed} of {subset_count(finding.applicable)} subsets"
    sampling = printable(finding.sampling)
    by_votes = f", {sampling}" if sampling else ""
    remarks = "; perhaps not minimal" if finding.minimal is None else ""
    if beside := finding.tied_beside:
        groups = "1 group" if beside == 1 else f"{beside} groups"
        remarks += f"; {groups} of other near-duplicates kept or left out as a whole"
    remarks += f"; {printable(finding.pinned)}" if finding.pinned else ""
    # If some of the subsets have no verdict, the condition may hold on more than the observed ones.
    least = "" if finding.observed + finding.broken == finding.applicable else "at least "
    wording = {
        "proved": f"proved on all {subset_count(finding.applicable)} subsets"
        if finding.applicable > 1
        else "proved on the only subset",
        "confident": f"confidence {least}{confidence_shown(finding)}: held on {seen}{by_votes}",
        "tested": f"tested: {sampling or seen}",
        "voted": f"voted: {sampling or seen}",
        "relative": f"relative to {_kept(finding)}: {sampling or f'held on {seen}'}",
        "unverified": f"UNVERIFIED: held where tried, on {seen}{by_votes}",
    }
    return wording[finding.claim] + remarks
