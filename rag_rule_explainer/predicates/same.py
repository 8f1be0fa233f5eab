"""This module contains predicates that compare an answer with another text, by wording or by a judge."""

from collections.abc import Hashable
from dataclasses import dataclass

from ..allowed import called_as
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
    """This predicate holds iff the answer equals the baseline after the normalisation of
    ``same_wording``.

    Unlike the near-exact match with a ground truth, accents and inner punctuation count, because the
    right answer is not known here. With ``overlap``, it holds iff the answers share at least this share
    of their words; see ``wording.overlap``. If the wording differs, the ``jury``, if any, decides.
    """

    overlap: float | None = None
    jury: Jury | None = None

    def __post_init__(self) -> None:
        given = self.overlap
        # Python counts True as a number, so the exact type is checked.
        if given is not None and (type(given) not in (int, float) or not 0 < given <= 1):
            raise InvalidInput(
                f"overlap is {given!r}; give the share of words, more than 0 and at most 1, e.g. 0.8"
            )

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS or BREAKS, with ``overlap`` the shared part as the reason; or the jury's
        judgement."""
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
        """Returns the name of the jury for a store; None without a jury."""
        return None if self.jury is None else stored_name(self.jury, SAME, str(self.overlap))

    def __str__(self) -> str:
        return f"the answer stays the same{self._limit('at least')}"

    @property
    def negation(self) -> str:
        """Returns the words of a rule that say that the condition does not hold."""
        return f"the answer changes{self._limit('below')}"

    def _limit(self, side: str) -> str:
        limits = [] if self.overlap is None else [f"word overlap {side} {self.overlap:g}"]
        limits += [] if self.jury is None else [str(self.jury)]
        return f" ({', '.join(limits)})" if limits else ""

    memo_key = answer_key
    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class ConsistentWith:
    """This predicate holds iff the answer is the ``truth`` by the paper's near-exact match. If the
    texts do not match, the ``jury``, if any, decides."""

    truth: str
    jury: Jury | None = None

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS or BREAKS; with a jury also UNKNOWN."""
        exact = equivalent(case.answer.text, self.truth)
        if exact or self.jury is None:
            return Judgement(Verdict.of(exact))
        return same_as(self.truth, case, self.jury, self.remembered_as, self.memo_key(case))

    def memo_key(self, case: Case) -> Hashable:
        """Returns the usual memo key; with a jury without the baseline, which a jury does not see."""
        said = answer_key(self, case)
        return said if self.jury is None else (said[0], said[2])

    @property
    def remembered_as(self) -> str | None:
        """Returns the name of the truth and the jury for a store; None without a jury."""
        return None if self.jury is None else stored_name(self.jury, SAME, self.truth)

    def __str__(self) -> str:
        return f"the answer is consistent with {self._truth}"

    @property
    def negation(self) -> str:
        """Returns the words of a rule that say that the condition does not hold."""
        return f"the answer is inconsistent with {self._truth}"

    @property
    def _truth(self) -> str:
        return repr(self.truth) if self.jury is None else f"{self.truth!r} ({self.jury})"

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@called_as("same_answer")
def same_answer(
    *,
    overlap: float | None = None,
    judge: object = None,
    judge_name: str | None = None,
    judge_samples: int = 1,
    batch: int = ALONE,
) -> SameAnswer:
    """Returns the default predicate: the answer stays the baseline's, up to case, white space and marks
    around it.

    ``overlap``: it is enough that the answers share this share of their words (token-level F1, such as
    0.8). It suits prose that is never worded the same twice; note that a different number or a "not" is
    only one word. ``judge``: if the wording differs, decides whether both answers give the same final
    answer. For ``judge`` and the other parameters see ``judged``.

    Raises InvalidInput unless ``overlap`` is above 0 and at most 1, and for an object that cannot be a
    judge.
    """
    return SameAnswer(overlap, _jury(judge, judge_name, judge_samples, batch))


@called_as("consistent_with")
def consistent_with(
    truth: str,
    *,
    judge: object = None,
    judge_name: str | None = None,
    judge_samples: int = 1,
    batch: int = ALONE,
) -> ConsistentWith:
    """Returns a predicate that holds iff the answer is the ``truth``, by the paper's near-exact match.

    See ``near_exact``. ``judge``: if the texts do not match, decides whether the answer is equivalent to
    the final answer that the truth expresses (paper, *LLM-as-a-judge*). For ``judge`` and the other
    parameters see ``judged``.

    Raises InvalidInput for an empty truth, and for an object that cannot be a judge.
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
