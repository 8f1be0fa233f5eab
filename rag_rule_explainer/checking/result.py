"""This module defines the result of a check. It uses pydantic, because the result is serialised."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..explanation.in_notebooks import InNotebooks
from ..printable import shortened
from ..verdicts import Verdict
from .figures import Share
from .text import SHOWN, check_lines


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """A ``CaseOutcome`` is one case with its label, its verdict and the judge's reason."""

    id: str
    label: bool
    verdict: Verdict
    reason: str
    question: str
    answer: str


class JudgeCheck(InNotebooks, BaseModel):
    """A ``JudgeCheck`` states how well a judge's verdicts agree with labels (paper, *LLM-as-a-judge*).

    ``tp``: the number of cases that are labelled true and have the verdict HOLDS. ``fp``: labelled false,
    with HOLDS. ``tn``: labelled false, with BREAKS. ``fn``: labelled true, with BREAKS. ``unknown``:
    cases without a verdict. They are in none of the other figures, and ``undecided`` lists them.

    ``precision``: the share of cases labelled true among those with HOLDS. ``recall``: the share of cases
    with HOLDS among those labelled true. ``false_positive_rate``: the share of cases with HOLDS among
    those labelled false. If there are no such cases, the ``value`` of the share is None.
    ``disagreements``: the cases counted as fp and fn, in their order.

    ``condition``: the predicate as text. ``cases``: the number of cases. ``distinct``: the number of
    different cases. ``judge_requests``, ``tokens``, ``cost``: the requests, the tokens and the
    money that the judge used; ``cost`` is None without prices. ``stop_reason``: the reason why not all
    cases were judged; empty if all were judged. ``warnings``: sentences to read before the figures.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    schema_version: Literal[1] = 1
    condition: str
    cases: int
    distinct: int
    tp: int
    fp: int
    tn: int
    fn: int
    unknown: int
    precision: Share
    recall: Share
    false_positive_rate: Share
    disagreements: tuple[CaseOutcome, ...] = ()
    undecided: tuple[CaseOutcome, ...] = ()
    judge_requests: int = 0
    tokens: dict[str, int] = {}
    cost: float | None = None
    stop_reason: str = ""
    warnings: tuple[str, ...] = ()

    def lines(self, show: int = SHOWN) -> Iterator[str]:
        """Returns the check as lines of text. ``show``: the maximum number of disagreements, and of
        undecided cases, that are shown."""
        return check_lines(self, show)

    def __repr__(self) -> str:
        figures = f"{self.tp} tp, {self.fp} fp, {self.tn} tn, {self.fn} fn, {self.unknown} unknown"
        return f"<JudgeCheck of {shortened(self.condition, 60)!r}: {figures}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())
