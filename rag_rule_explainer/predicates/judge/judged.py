"""This module contains the predicates that a judge decides (paper, *LLM-as-a-judge*)."""

import hashlib
import re
from collections.abc import Hashable
from dataclasses import dataclass

from ...allowed import called_as
from ...errors import InvalidInput
from ...printable import printable, shortened
from ...verdicts import Case
from ..combine import NOT_SO, both, either, no_truth, opposite
from ..protocol import Judged
from .jury import ALONE, JudgeQuestion, Jury, judgement_of, jury_of
from .protocol import Matter
from .request import EDITION, INSTRUCTIONS, LONGEST

SAME = "is equivalent to the truth: it gives the same final answer as the truth expresses"
"""The criterion that judges use to compare an answer with a known answer."""
MOST_REFERENCE = 200_000
"""The maximum number of characters of a reference. A reference is part of every request."""
_SUBJECT = re.compile(r"(?:the|this|an?) (?:candidate|answer)\s+|it\s+", re.IGNORECASE)


def stored_name(jury: Jury, *parts: str) -> str | None:
    """Returns the name under which a store keeps judgements; None if the judge has no name. Another
    judge, number of opinions, criterion or prompt gives another name. ``parts``: the criterion, and
    texts on which the judgements depend."""
    if jury.name is None:
        return None
    terms = [str(EDITION), INSTRUCTIONS, str(LONGEST), jury.name, str(jury.samples), *parts]
    content = "".join(f"{len(term)}:{term}" for term in terms)
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"judge {jury.name}: {shortened(parts[0], 80)} [{digest}]"


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """This predicate holds iff the jury says that the answer meets the criterion."""

    criterion: str
    jury: Jury
    reference: str | None = None

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS or BREAKS with the judge's reason; UNKNOWN if the judge is unsure."""
        matter = Matter(f"The answer {self.criterion}", case.question, reference=self.reference)
        key = self.memo_key(case)
        return judgement_of(JudgeQuestion(self.jury, matter, case.answer.text, self.remembered_as, key))

    def memo_key(self, case: Case) -> Hashable:
        """Returns the question and the answer. The judge sees nothing else that differs between cases."""
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
        """Returns the words by which a rule says that the condition does not hold."""
        return f"{NOT_SO} the answer {self._clause}"

    @property
    def _clause(self) -> str:
        size = (
            ""
            if self.reference is None
            else f" against a reference of {len(self.reference):,} characters"
        )
        return f"{printable(self.criterion)} ({self.jury}{size})"

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


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

    See the paper, *LLM-as-a-judge*. ``criterion``: the words after "the answer", such as "contradicts the
    guideline" or "recommends a treatment that is not in this list". ``reference``: the text of the
    guideline or the list. ``judge``: a LangChain chat model, a LlamaIndex LLM, or a function of a
    ``JudgeRequest``. The function may be sync (it then runs in a worker thread) or async. It returns
    ``{id: True, False or "unsure"}`` for the candidates. A probe is UNKNOWN if the judge is unsure,
    fails, or keeps sending malformed replies. The judge's reason is kept with the probe.

    Identical answers to a question are judged once. ``judge_samples``: the number of opinions on each
    answer; the majority counts. Each answer is judged in its own request, so that no answer influences
    the judgement of another. ``judge_name``: a name for a function, under which its judgements can be
    stored. Change the name when you change the function.

    An answer can still persuade the judge about *itself*, and the baseline in ``same_answer(judge=...)``
    about all answers. The request marks texts as data (see ``predicates.judge.request``), but the model
    may follow orders in them. Measure this with ``check_judge`` on answers that try to persuade.

    ``batch``: the maximum number of answers in one request. Only answers that wait for the judge at the
    same moment share a request. The opinions of a vote also share requests: first the fewest that can
    decide the vote, then the fewest that are still needed. Stored answers are judged in batches
    beforehand. Batches save requests, but an answer could then influence the judgement of the others. If
    a search uses a verdict from such a request, the explanation has a warning, and no rule of the search
    is *proved*.

    Raises InvalidInput for an empty criterion or reference, a reference that is too long, and an object
    that cannot be a judge.
    """
    said = _said(criterion)
    if not said:
        raise InvalidInput(
            f"the criterion is {criterion!r}; say what the answer is to do, such as 'names a drug'"
        )
    if reference is not None:
        if not isinstance(reference, str) or not reference.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(f"the reference is {reference!r}; give its text, or leave it out")
        if len(reference) > MOST_REFERENCE:
            raise InvalidInput(
                f"the reference has {len(reference):,} characters, and goes with every request; give the "
                f"part that matters, at most {MOST_REFERENCE:,}"
            )
    jury = jury_of(judge, judge_name, judge_samples, batch)
    return JudgedBy(said, jury, reference)


def _said(criterion: object) -> str:
    """Returns the criterion without "the answer" at its beginning; an empty text if it is no str or
    blank."""
    if not isinstance(criterion, str):
        return ""
    said = criterion.strip().rstrip(".").rstrip()
    begun = _SUBJECT.match(f"{said} ")
    return said[begun.end() :].strip() if begun else said


def same_as(truth: str, case: Case, jury: Jury, remembered_as: str | None, key: Hashable) -> Judged:
    """Returns the jury's judgement on whether the answer is equivalent to ``truth``."""
    matter = Matter(f"The answer {SAME}.", case.question, truth=truth)
    return judgement_of(JudgeQuestion(jury, matter, case.answer.text, remembered_as, key))
