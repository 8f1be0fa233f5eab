"""This module defines predicates that compare an answer with a second text, by their wording or by a
judge. This text is the baseline or a known right answer."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..allowed import called_as
from ..errors import InvalidInput
from ..verdicts import Case, Judgement, Verdict
from .combine import Combinable
from .protocol import ALONE, Judged, answer_key
from .wording import equivalent, overlap, papers_form, same_wording

if TYPE_CHECKING:
    from .judge.jury import Jury


@dataclass(frozen=True, slots=True)
class SameAnswer(Combinable):
    """This predicate holds iff the answer is the same as the baseline's answer.

    Both answers are first normalised by ``same_wording``, which ignores case, white space, and
    punctuation around the text. Answers that differ in an accent, or in punctuation between words, are
    different. (``ConsistentWith`` ignores such differences: it compares the answer with a right answer
    that the user knows.)

    ``overlap``: if not None, it is enough that the answers have at least this share of their words in
    common. ``jury``: a judge (with its settings), which decides if the answers are different by these
    rules; None for no judge.
    """

    overlap: float | None = None
    jury: "Jury | None" = None

    def __post_init__(self) -> None:
        given = self.overlap
        # The exact type is checked, because isinstance would accept True as a number.
        if given is not None and (type(given) not in (int, float) or not 0 < given <= 1):
            raise InvalidInput(
                f"overlap is {given!r}; give the share of words, more than 0 and at most 1, e.g. 0.8"
            )

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS if the answer is the same, else BREAKS. With a jury, returns UNKNOWN if the
        judge is unsure. With ``overlap``, the reason states the share of common words."""
        worded = self._by_wording(case.answer.text, case.baseline.text)
        if self.jury is None or worded.verdict is Verdict.HOLDS:
            return worded
        from .judge.judged import same_as  # imported late: few conditions have a judge

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
        """Returns the name under which a store keeps the jury's judgements; None without a jury, or if
        the judge has no name."""
        return _stored_as(self.jury, str(self.overlap))

    def __str__(self) -> str:
        return f"the answer stays the same{self._limit('at least')}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words: "the answer changes"."""
        return f"the answer changes{self._limit('below')}"

    def _limit(self, side: str) -> str:
        limits = [] if self.overlap is None else [f"word overlap {side} {self.overlap:g}"]
        limits += [] if self.jury is None else [str(self.jury)]
        return f" ({', '.join(limits)})" if limits else ""

    memo_key = answer_key


@dataclass(frozen=True, slots=True)
class ConsistentWith(Combinable):
    """This predicate holds iff the answer equals ``truth``, a known right answer, by near-exact match.
    This match ignores capitals, most accents and punctuation; it is stricter than the match in the paper
    on which this package is based.
    ``jury``: a judge (with its settings), which decides if the texts do not match; None for no judge.
    ``as_written``: True to compare exactly as the paper writes it."""

    truth: str
    jury: "Jury | None" = None
    as_written: bool = False

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS if the answer is consistent with the truth, else BREAKS. With a jury, returns
        UNKNOWN if the judge is unsure."""
        text = case.answer.text
        exact = (
            papers_form(text) == papers_form(self.truth)
            if self.as_written
            else equivalent(text, self.truth)
        )
        if exact or self.jury is None:
            return Judgement(Verdict.of(exact))
        from .judge.judged import same_as

        return same_as(self.truth, case, self.jury, self.remembered_as, self.memo_key(case))

    def memo_key(self, case: Case) -> Hashable:
        """Returns the cache key of the judgement: the question, the baseline and the answer. With a
        jury, the key does not contain the baseline, because a jury does not see the baseline. A stored
        judgement can then be used again with any baseline."""
        said = answer_key(self, case)
        return said if self.jury is None else (said[0], said[2])

    @property
    def remembered_as(self) -> str | None:
        """Returns the name under which a store keeps the jury's judgements of whether answers agree with
        ``truth``; None without a jury, or if the judge has no name."""
        return _stored_as(self.jury, self.truth)

    def __str__(self) -> str:
        return f"the answer is consistent with {self._truth}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the answer is inconsistent with
        'Lima'"."""
        return f"the answer is inconsistent with {self._truth}"

    @property
    def _truth(self) -> str:
        notes = ["compared as the paper writes it"] if self.as_written else []
        notes += [] if self.jury is None else [str(self.jury)]
        return f"{self.truth!r} ({', '.join(notes)})" if notes else repr(self.truth)


@called_as("same_answer")
def same_answer(
    *,
    overlap: float | None = None,
    judge: object = None,
    judge_name: str | None = None,
    judge_samples: int = 1,
    batch: int = ALONE,
) -> SameAnswer:
    """Returns the default predicate. It holds iff the answer equals the baseline's answer, apart from
    case, white space, and punctuation around the text.

    ``overlap``: if set, it is enough that the answers have this share of their words in common
    (token-level F1, such as 0.8). This suits prose, because a model words the same content differently
    each time. But if only a number or a "not" differs, only one word differs, and the difference may go
    unnoticed. ``judge``: a model, or a function of a ``JudgeRequest``. If the answers differ in this way,
    the judge decides whether they give the same final answer. The other parameters are those of
    ``judged``: the name of the judge, its opinions on each answer, and its answers in one request.

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
    as_written: bool = False,
) -> ConsistentWith:
    """Returns a predicate that holds iff the answer equals ``truth``, a known right answer, by a
    near-exact match.

    ``near_exact`` says which differences this match ignores, and where it is stricter than the match in
    the paper on which this package is based. ``as_written=True`` compares exactly as the paper writes it,
    by ``papers_form``. ``judge``: a model, or a function of a ``JudgeRequest``. If the texts do not
    match, the judge decides whether the answer is equivalent to the final answer that the truth expresses
    (paper, *LLM-as-a-judge*). The other parameters are those of ``judged``: the name of the judge, its
    opinions on each answer, and its answers in one request. Raises InvalidInput for an empty truth, and
    for an object that cannot be a judge.
    """
    from .text import text_given  # imported late: the default condition needs none of these

    if not text_given(truth).strip():
        raise InvalidInput("the truth is empty; give the answer that is known to be right")
    return ConsistentWith(truth, _jury(judge, judge_name, judge_samples, batch), as_written)


def _jury(judge: object, name: str | None, samples: int, batch: int) -> "Jury | None":
    if judge is not None:
        from .judge.jury import jury_of

        return jury_of(judge, name, samples, batch)
    if name is not None or samples != 1 or batch != ALONE:
        raise InvalidInput("judge_name, judge_samples and batch are about a judge; give judge= as well")
    return None


def _stored_as(jury: "Jury | None", compared: str) -> str | None:
    if jury is None:
        return None
    from .judge.judged import SAME, stored_name

    return stored_name(jury, SAME, compared)
