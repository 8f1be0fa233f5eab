"""Predicates on whether an answer says the same: by its wording and, where that differs, by a judge."""

from collections.abc import Hashable
from dataclasses import dataclass

from ..errors import InvalidInput
from ..verdicts import Case, Judgement, Verdict
from .combine import both, either, no_truth, opposite
from .judge.judged import SAME, same_as, stored_name
from .judge.jury import ALONE, Jury, jury_of
from .protocol import Judged, answer_key
from .text import text_given
from .wording import equivalent, overlap, same_wording


@dataclass(frozen=True, slots=True)
class SameAnswer:
    """Holds iff the answer is still the baseline's, but for what ``same_wording`` leaves out.

    Stricter than the near-exact match with a ground truth: accents and all inner punctuation count,
    because here nobody has said what the answer should be. With ``overlap``, holds iff the two share at
    least so much of their words; see ``wording.overlap``. Where they do not, the ``jury`` is asked, if
    there is one.
    """

    overlap: float | None = None
    jury: Jury | None = None

    def __post_init__(self) -> None:
        given = self.overlap
        # Users pass more than is declared, and True is a number.
        if given is not None and (type(given) not in (int, float) or not 0 < given <= 1):
            raise InvalidInput(
                f"overlap is {given!r}; give the share of words, more than 0 and at most 1, e.g. 0.8"
            )

    def __call__(self, case: Case) -> Judged:
        """HOLDS or BREAKS; with ``overlap``, how much they share is the reason; or what the jury says."""
        worded = self._by_wording(case.answer.text, case.baseline.text)
        if self.jury is None or worded.verdict is Verdict.HOLDS:
            return worded
        key = self.memo_key(case)
        return same_as(case.baseline.text, case, self.jury, self.remembered_as, key)

    def _by_wording(self, answer: str, baseline: str) -> Judgement:
        if self.overlap is None:
            return Judgement(
                Verdict.of(answer == baseline or same_wording(answer) == same_wording(baseline))
            )
        shared = overlap(answer, baseline)
        return Judgement(Verdict.of(shared >= self.overlap), f"word overlap {shared:.2f}")

    @property
    def remembered_as(self) -> str | None:
        """Returns a name for the jury, in any process; None without one."""
        return None if self.jury is None else stored_name(self.jury, SAME, str(self.overlap))

    def __str__(self) -> str:
        return f"the answer stays the same{self._limit('at least')}"

    @property
    def negation(self) -> str:
        """Returns the clause of its negation."""
        return f"the answer changes{self._limit('below')}"

    def _limit(self, side: str) -> str:
        limits = [] if self.overlap is None else [f"word overlap {side} {self.overlap:g}"]
        limits += [] if self.jury is None else [str(self.jury)]
        return f" ({', '.join(limits)})" if limits else ""

    memo_key = answer_key
    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class ConsistentWith:
    """Holds iff the answer is the ``truth``, by the paper's near-exact match; where it is not so exact,
    iff the ``jury`` says so, if there is one."""

    truth: str
    jury: Jury | None = None

    def __call__(self, case: Case) -> Judged:
        """HOLDS or BREAKS; UNKNOWN where the jury is unsure."""
        exact = equivalent(case.answer.text, self.truth)
        if exact or self.jury is None:
            return Judgement(Verdict.of(exact))
        return same_as(self.truth, case, self.jury, self.remembered_as, self.memo_key(case))

    def memo_key(self, case: Case) -> Hashable:
        """Returns the usual one; a jury is not shown the baseline."""
        said = answer_key(self, case)
        return said if self.jury is None else (said[0], said[2])

    @property
    def remembered_as(self) -> str | None:
        """Returns a name for the truth and the jury, in any process; None without one."""
        return None if self.jury is None else stored_name(self.jury, SAME, self.truth)

    def __str__(self) -> str:
        return f"the answer is consistent with {self._truth}"

    @property
    def negation(self) -> str:
        """Returns the clause of its negation."""
        return f"the answer is inconsistent with {self._truth}"

    @property
    def _truth(self) -> str:
        return repr(self.truth) if self.jury is None else f"{self.truth!r} ({self.jury})"

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


def same_answer(
    *,
    overlap: float | None = None,
    judge: object = None,
    judge_name: str | None = None,
    judge_samples: int = 1,
    batch: int = ALONE,
) -> SameAnswer:
    """The answer stays the baseline's, but for case, white space and marks around it. The default.

    ``overlap``: it is enough that they share this much of their words (token-level F1, e.g. 0.8): for
    prose that is never worded twice alike. A number or a "not" that differs is one word among others.
    ``judge``: is asked where the wording differs whether both give the same final answer; for it and what
    follows see ``judged``.

    Raises InvalidInput unless ``overlap`` is more than 0 and at most 1, and for what cannot judge.
    """
    return SameAnswer(overlap, _jury(judge, judge_name, judge_samples, batch))


def consistent_with(
    truth: str,
    *,
    judge: object = None,
    judge_name: str | None = None,
    judge_samples: int = 1,
    batch: int = ALONE,
) -> ConsistentWith:
    """The answer is the ``truth``, by the paper's near-exact match (see ``near_exact``).

    ``judge``: where that fails, is asked whether the answer is equivalent to the final answer that the
    truth expresses (paper, *LLM-as-a-judge*); for it and what follows see ``judged``.

    Raises InvalidInput for an empty truth, and for what cannot judge.
    """
    if not text_given(truth).strip():
        raise InvalidInput("the truth is empty; give the answer that is known to be right")
    return ConsistentWith(truth, _jury(judge, judge_name, judge_samples, batch))


def _jury(judge: object, name: str | None, samples: int, batch: int) -> Jury | None:
    if judge is not None:
        return jury_of(judge, name, samples, batch)
    if name is not None or samples != 1 or batch != ALONE:
        raise InvalidInput("judge_name, judge_samples and batch are about a judge; give judge= as well")
    return None
