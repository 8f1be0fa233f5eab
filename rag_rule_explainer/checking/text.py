"""This module prints a judge's check as text. All texts from outside of the package pass through
``printable``, which escapes control characters."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..printable import printable, shortened
from ..verdicts import Verdict

if TYPE_CHECKING:
    from .result import CaseOutcome, JudgeCheck

SHOWN = 10
"""The default for the maximum number of disagreements, and of undecided cases, that are shown."""

_WORDS = {Verdict.HOLDS: "judged true", Verdict.BREAKS: "judged false", Verdict.UNKNOWN: "no verdict"}


def check_lines(check: "JudgeCheck", show: int) -> Iterator[str]:
    """Yields the lines of a check: warnings, figures, and the first ``show`` disagreements and the first
    ``show`` undecided cases. No line ends in a space."""
    yield from (line.rstrip() for line in _lines(check, show))


def _lines(check: "JudgeCheck", show: int) -> Iterator[str]:
    for warning in check.warnings:
        yield _line(f"WARNING: {warning}")
    yield _line(f"condition: {check.condition}")
    yield _summary(check)
    if check.stop_reason:
        yield _line(f"stopped: {check.stop_reason}")
    yield from _table(check)
    yield f"precision            {check.precision}"
    yield f"recall               {check.recall}"
    yield f"false positive rate  {check.false_positive_rate}"
    if check.unknown:
        stated = f"{check.unknown:,} of {check.cases:,} have no verdict, and are in none of these figures"
        yield f"UNKNOWN              {stated}"
    yield from _listed("disagreements", check.disagreements, show)
    yield from _listed("without a verdict", check.undecided, show)


def _summary(check: "JudgeCheck") -> str:
    asked = f"{check.judge_requests:,} request{'s' * (check.judge_requests != 1)} to the judge"
    stated = [f"{check.cases:,} labelled answers", f"{check.distinct:,} distinct", asked]
    if check.tokens:
        spent = check.tokens.get("input_tokens", 0) + check.tokens.get("output_tokens", 0)
        stated.append(f"{max(spent, check.tokens.get('total_tokens', 0)):,} tokens")
    if check.cost is not None:
        stated.append(f"cost {check.cost:g}")
    return ", ".join(stated)


def _table(check: "JudgeCheck") -> Iterator[str]:
    unknown = {label: sum(each.label is label for each in check.undecided) for label in (True, False)}
    columns = ["judged true", "judged false", "no verdict"]
    rows = (("labelled true", check.tp, check.fn, unknown[True]),)
    rows += (("labelled false", check.fp, check.tn, unknown[False]),)
    yield _row("", columns)
    for name, *counts in rows:
        yield _row(name, [f"{count:,}" for count in counts])


def _row(name: str, cells: list[str]) -> str:
    return f"{name:<19}" + "".join(f"{cell:>14}" for cell in cells)


def _listed(title: str, outcomes: "tuple[CaseOutcome, ...]", show: int) -> Iterator[str]:
    if not outcomes:
        return
    shown = outcomes[:show]
    some = f", {len(shown):,} of them here" if len(shown) < len(outcomes) else ""
    yield f"{title}: {len(outcomes):,}{some}"
    for each in shown:
        labelled = f"labelled {'true' if each.label else 'false'}, {_WORDS[each.verdict]}"
        reason = f" ({each.reason})" if each.reason else ""
        yield f"  {_line(f'{each.id}: {labelled}: {shortened(each.answer, 200)!r}{reason}')}"


def _line(text: str) -> str:
    return shortened(printable(text), 1200)
