"""What a judge came to. Pydantic, because it leaves the process."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..printable import shortened
from ..verdicts import Verdict
from .figures import Share
from .text import SHOWN, check_lines


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One case: what its label says and what the judge says, with the judge's reason."""

    id: str
    label: bool
    verdict: Verdict
    reason: str
    question: str
    answer: str


class JudgeCheck(BaseModel):
    """How a judge's verdicts agree with labels (paper, *LLM-as-a-judge*).

    ``tp``, ``fp``, ``tn``, ``fn``: cases that are labelled true and hold, labelled false and hold,
    labelled false and break, labelled true and break. ``unknown``: cases without a verdict, in none of
    these and in none of the figures; they are the ``undecided``. ``precision``: of those that hold, the
    share labelled true; ``recall``: of those labelled true, the share that holds;
    ``false_positive_rate``: of those labelled false, the share that holds. ``disagreements``: the fp and
    fn, in the order of the cases.

    ``condition``: what was judged. ``cases``: how many there are, ``distinct``: how many of these had to
    be judged, because the others repeat them. ``judge_requests``, ``tokens``, ``cost``: what the judge
    took; no cost without prices. ``stop_reason``: why not all were judged; empty where all were.
    ``warnings``: what is to be read first.
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
        """It as text; ``show``: how many disagreements are shown, and how many undecided cases."""
        return check_lines(self, show)

    def __repr__(self) -> str:
        told = f"{self.tp} tp, {self.fp} fp, {self.tn} tn, {self.fn} fn, {self.unknown} unknown"
        return f"<JudgeCheck of {shortened(self.condition, 60)!r}: {told}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())
