"""This module defines predicates that a judge, usually a model, decides. The paper on which this package
is based calls this *LLM-as-a-judge*."""

import hashlib
import re
from collections.abc import Hashable
from dataclasses import dataclass

from ...allowed import called_as
from ...errors import InvalidInput
from ...printable import printable, shortened
from ...verdicts import Case
from ..combine import NOT_SO, Combinable
from ..protocol import ALONE, Judged
from .jury import JudgeQuestion, Jury, judgement_of, jury_of
from .protocol import Matter
from .request import EDITION, INSTRUCTIONS, LONGEST

SAME = "is equivalent to the truth: it gives the same final answer as the truth expresses"
"""The criterion by which judges compare an answer with the known right answer, the "truth"."""
MOST_REFERENCE = 200_000
"""The maximum number of characters of a reference (a text to which the criterion refers, such as a
guideline). It is limited because every request to the judge contains the reference."""
_SUBJECT = re.compile(r"(?:the|this|an?) (?:candidate|answer)\s+|it\s+", re.IGNORECASE)


def stored_name(jury: Jury, *parts: str) -> str | None:
    """Returns the name under which a store keeps the judgements of a jury (a judge and how it is used);
    None if the judge has no name, so that nothing is stored.

    The name is different if anything is different that can change the judgements: the judge, the number
    of opinions, the prompt, and ``parts`` (the criterion, and texts such as the reference).
    """
    if jury.name is None:
        return None
    terms = [str(EDITION), INSTRUCTIONS, str(LONGEST), jury.name, str(jury.samples), *parts]
    content = "".join(f"{len(term)}:{term}" for term in terms)
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"judge {jury.name}: {shortened(parts[0], 80)} [{digest}]"


@dataclass(frozen=True, slots=True)
class JudgedBy(Combinable):
    """This predicate holds iff the jury (a judge and how it is used) says that the answer meets the
    criterion. ``reference``: a text to which the criterion refers; None if there is none."""

    criterion: str
    jury: Jury
    reference: str | None = None

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS or BREAKS with the judge's reason; UNKNOWN if the judge is unsure. Raises
        JudgeFailed if the judge gives no judgement."""
        matter = Matter(f"The answer {self.criterion}", case.question, reference=self.reference)
        key = self.memo_key(case)
        return judgement_of(JudgeQuestion(self.jury, matter, case.answer.text, self.remembered_as, key))

    def memo_key(self, case: Case) -> Hashable:
        """Returns the cache key of the judgement: the question and the answer. All else that the judge
        sees is the same in every request of this predicate."""
        return case.question, case.answer.text

    @property
    def remembered_as(self) -> str | None:
        """Returns the name under which a store keeps these judgements; None if the judge has no name."""
        if self.reference is None:
            return stored_name(self.jury, self.criterion)
        return stored_name(self.jury, self.criterion, self.reference)

    def __str__(self) -> str:
        return f"the answer {self._clause}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "it is not so that the answer names a
        drug"."""
        return f"{NOT_SO} the answer {self._clause}"

    @property
    def _clause(self) -> str:
        size = (
            ""
            if self.reference is None
            else f" against a reference of {len(self.reference):,} characters"
        )
        return f"{printable(self.criterion)} ({self.jury}{size})"


@called_as("judged")
def judged(
    criterion: str,
    judge: object,
    reference: str | None = None,
    *,
    judge_name: str | None = None,
    judge_samples: int = 1,
    batch: int = ALONE,
) -> JudgedBy:
    """Returns a predicate that holds iff, in a judge's opinion, the answer meets the criterion.

    See *LLM-as-a-judge* in the paper on which this package is based. ``criterion``: the words after "the
    answer", such as "contradicts the guideline" or "recommends a treatment that is not in this list".
    ``reference``: the text of the guideline or the list. ``judge``: a LangChain chat model, a LlamaIndex
    LLM, or a function of a ``JudgeRequest``, sync (in a worker thread) or async, which returns ``{id:
    True, False or "unsure"}``. If the judge is unsure, fails, or keeps sending malformed replies, the
    probe is UNKNOWN. The judge's reason is kept with the probe.

    Equal answers to a question are judged once. ``judge_samples``: the number of opinions on each answer;
    the majority counts. ``judge_name``: a name for a function, under which a store keeps its judgements.
    Change this name when you change the function. Most models have a name without this setting.

    ``batch``: the maximum number of answers in one request. By default it is 1, so that no answer
    influences the judgement of another. A larger number saves requests, but if a search uses a verdict
    from a request with several answers, the explanation has a warning, and no rule of the search is
    *proved*. An answer can still persuade the judge to judge this answer wrongly. In
    ``same_answer(judge=...)``, the baseline can persuade the judge to judge all answers wrongly. Requests
    mark texts as data, but the model may follow orders in them. Measure this with ``check_judge``.

    Raises InvalidInput for an empty criterion or reference, a reference that is too long, and an object
    that cannot be a judge.
    """
    said = _said(criterion)
    if not said:
        raise InvalidInput(
            f"the criterion is {criterion!r}; say what the answer is to do, such as 'names a drug'"
        )
    _check_reference(reference)
    jury = jury_of(judge, judge_name, judge_samples, batch)
    return JudgedBy(said, jury, reference)


def _check_reference(reference: object) -> None:
    if reference is None:
        return
    if not isinstance(reference, str) or not reference.strip():
        raise InvalidInput(f"the reference is {reference!r}; give its text, or leave it out")
    if len(reference) > MOST_REFERENCE:
        raise InvalidInput(
            f"the reference has {len(reference):,} characters, and goes with every request; give the "
            f"part that matters, at most {MOST_REFERENCE:,}"
        )


def _said(criterion: object) -> str:
    """Returns the criterion without words such as "the answer" at its beginning; an empty text if the
    criterion is blank or no str."""
    if not isinstance(criterion, str):
        return ""
    said = criterion.strip().rstrip(".").rstrip()
    begun = _SUBJECT.match(f"{said} ")
    return said[begun.end() :].strip() if begun else said


def same_as(truth: str, case: Case, jury: Jury, remembered_as: str | None, key: Hashable) -> Judged:
    """Returns the jury's judgement on whether the answer of ``case`` is equivalent to ``truth``.
    ``remembered_as``, ``key``: the name and the key under which a store keeps the judgement."""
    matter = Matter(f"The answer {SAME}.", case.question, truth=truth)
    return judgement_of(JudgeQuestion(jury, matter, case.answer.text, remembered_as, key))
