"""This module contains predicates that compare an answer with another text, by its wording or by a
judge."""

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
    """This predicate holds iff the answer equals the baseline's answer after ``same_wording`` normalised
    both.

    Accents and inner punctuation count, unlike in the near-exact match with a known right answer, because
    the right answer is not known. If ``overlap`` is set, the predicate holds iff the answers have at
    least this share of their words in common; see ``wording.overlap``. If the wording differs and there
    is a ``jury``, the jury decides.
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
        """Returns HOLDS or BREAKS, or the judgement of the jury. With ``overlap``, the reason states
        the share of common words."""
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
        """Returns the name under which a store keeps the jury's judgements; None without a jury."""
        return None if self.jury is None else stored_name(self.jury, SAME, str(self.overlap))

    def __str__(self) -> str:
        return f"the answer stays the same{self._limit('at least')}"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
        return f"the answer changes{self._limit('below')}"

    def _limit(self, side: str) -> str:
        limits = [] if self.overlap is None else [f"word overlap {side} {self.overlap:g}"]
        limits += [] if self.jury is None else [str(self.jury)]
        return f" ({', '.join(limits)})" if limits else ""

    memo_key = answer_key
    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class ConsistentWith:
    """This predicate holds iff the answer equals ``truth`` by the paper's near-exact match. If the
    texts do not match and there is a ``jury``, the jury decides."""

    truth: str
    jury: Jury | None = None

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS or BREAKS. With a jury, the result may also be UNKNOWN."""
        exact = equivalent(case.answer.text, self.truth)
        if exact or self.jury is None:
            return Judgement(Verdict.of(exact))
        return same_as(self.truth, case, self.jury, self.remembered_as, self.memo_key(case))

    def memo_key(self, case: Case) -> Hashable:
        """Returns the usual memo key. With a jury, the baseline is left out of it, because a jury does
        not see the baseline."""
        said = answer_key(self, case)
        return said if self.jury is None else (said[0], said[2])

    @property
    def remembered_as(self) -> str | None:
        """Returns the name under which a store keeps the jury's judgements for this truth; None
        without a jury."""
        return None if self.jury is None else stored_name(self.jury, SAME, self.truth)

    def __str__(self) -> str:
        return f"the answer is consistent with {self._truth}"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
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
    """Returns the default predicate: the answer equals the baseline's answer, up to case, white space and
    punctuation around it.

    ``overlap``: it is enough that the answers have this share of their words in common (token-level F1,
    such as 0.8). It suits prose that is never worded in the same way twice. Note that a different number
    or a "not" is only one word. ``judge``: if the wording differs, decides whether both answers give the
    same final answer. For ``judge`` and the other parameters see ``judged``.

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
    """Returns a predicate that holds iff the answer equals ``truth`` by the paper's near-exact match.

    See ``near_exact``. ``judge``: if the texts do not match, decides whether the answer is equivalent to
    the final answer that the truth expresses (paper, *LLM-as-a-judge*). For ``judge`` and the other
    parameters see ``judged``. Raises InvalidInput for an empty truth, and for an object that cannot be a
    judge.
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
