"""This module writes the end of a report: the cost of the explanation, and whether rules may be
missing."""

from collections.abc import Iterator, Mapping
from math import floor

from ..explanation.explanation import Explanation
from ..explanation.loose_judging import loosely_judged
from ..explanation.records import DOUBTED
from ..lattice import subset_count
from ..printable import printable, printable_within
from .section import ReportTone, Statement


def cost_statements(explanation: Explanation) -> Iterator[Statement]:
    """Yields sentences that say what the explanation cost, how its rules were searched for, and whether
    these are all rules (``completeness_of``)."""
    counts, spent = explanation.counts, explanation.spent
    subsets = subset_count(1 << len(explanation.units))
    yield Statement(
        f"{counts.probes} of {subsets} subsets probed; {counts.replays} replays "
        f"({counts.baseline} baseline, {counts.repeat_check} repeat check, {counts.samples} samples, "
        f"{counts.retries} retries)"
    )
    if counts.stored:
        yield Statement(f"{counts.stored} answers came from the store")
    if counts.wasted:
        yield Statement(f"{counts.wasted} probes were guesses that were not needed")
    yield from _spent("replays", spent.replays, spent.replays_cost)
    if counts.judge_requests:
        requests = "request" if counts.judge_requests == 1 else "requests"
        yield Statement(f"{counts.judge_requests:,} {requests} to the judge")
    yield from _spent("judge", spent.judge, spent.judge_cost)
    yield Statement(printable(f"miner: {explanation.miner.name} ({explanation.miner.reason})"))
    yield completeness_of(explanation)


def completeness_of(explanation: Explanation) -> Statement:
    """Returns a statement that says whether the explanation has all rules, and if not, why there may be
    others."""
    if explanation.ended:
        negated = "" if explanation.complete else "not "
        tone: ReportTone = "sure" if explanation.complete else "open"
        return Statement(f"{negated}complete: {_completeness(explanation)}", tone)
    why = printable_within(explanation.why_incomplete, 300)
    sure = all(finding.claim in {"proved", "confident"} for finding in explanation.rules)
    shown = "what is shown is true, " if sure and not explanation.voted else ""
    return Statement(f"not complete ({why}): {shown}more may exist", "open")


def _completeness(explanation: Explanation) -> str:
    passed = "won the vote over several answers" if explanation.voted else ""
    if explanation.miner.name == "partitioned":
        passed = passed or "was found"
        return f"no other rule within a batch {passed}; those over several are not looked for"
    if loosely_judged(explanation.warnings):
        passed = passed or "was found"
    if explanation.stop_reason == DOUBTED:
        return f"no other rule {passed or 'was found'}; {DOUBTED}"
    if not explanation.complete:
        passed = passed or "was found"
        return (
            f"no other rule of the sources that were looked at closely {passed}; there may be rules that "
            "name others"
        )
    if passed:
        return f"no other rule {passed}"
    tested = any(finding.claim == "tested" for finding in explanation.rules)
    units = ", with near-duplicates kept or left out together" if explanation.ties else ""
    if explanation.min_confidence < 1 and not tested:
        # The sentence names the share, because otherwise it would seem that each rule always holds.
        share = floor(explanation.min_confidence * 1000) / 10
        return f"these are all the rules that hold in at least {share:g} % of the subsets{units}"
    return "no other rule passed the tests" if tested else f"these are all the rules there are{units}"


def _spent(whose: str, tokens: Mapping[str, int], cost: float | None) -> Iterator[Statement]:
    if tokens:
        counted = ", ".join(f"{count:,} {printable(kind)}" for kind, count in tokens.items())
        money = "" if cost is None else f"; cost {cost:,.4f}"
        yield Statement(f"{whose}: {counted}{money}")
