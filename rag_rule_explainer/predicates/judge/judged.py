"""Conditions in words, which a judge decides (paper, *LLM-as-a-judge*)."""

import hashlib
import re
from collections.abc import Hashable
from dataclasses import dataclass

from ...errors import InvalidInput
from ...printable import printable, shortened
from ...verdicts import Case
from ..combine import NOT_SO, both, either, no_truth, opposite
from ..protocol import Judged
from .jury import ALONE, JudgeQuestion, Jury, judgement_of, jury_of
from .protocol import Matter
from .request import EDITION, INSTRUCTIONS, LONGEST

SAME = "is equivalent to the truth: it gives the same final answer as the truth expresses"
"""The criterion of those that are asked whether two answers say the same."""
MOST_REFERENCE = 200_000
"""Characters that may go with every request."""
_SUBJECT = re.compile(r"(?:the|this|an?) (?:candidate|answer)\s+|it\s+", re.IGNORECASE)


def stored_name(jury: Jury, *parts: str) -> str | None:
    """Returns what judgements on these terms are stored under; None where the judge has no name.

    Another judge, another number of opinions, another text or another prompt is another name.
    """
    if jury.name is None:
        return None
    terms = [str(EDITION), INSTRUCTIONS, str(LONGEST), jury.name, str(jury.samples), *parts]
    content = "".join(f"{len(term)}:{term}" for term in terms)
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"judge {jury.name}: {shortened(parts[0], 80)} [{digest}]"


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """Holds iff the jury says of the answer what the criterion says."""

    criterion: str
    jury: Jury
    reference: str | None = None

    def __call__(self, case: Case) -> Judged:
        """HOLDS or BREAKS with the judge's reason; UNKNOWN where it is unsure."""
        matter = Matter(f"The answer {self.criterion}", case.question, reference=self.reference)
        key = self.memo_key(case)
        return judgement_of(JudgeQuestion(self.jury, matter, case.answer.text, self.remembered_as, key))

    def memo_key(self, case: Case) -> Hashable:
        """Returns what the question and the answer say: nothing else is shown to the judge."""
        return case.question, case.answer.text

    @property
    def remembered_as(self) -> str | None:
        """Returns a name for the criterion, the reference and the judge, in any process."""
        if self.reference is None:
            return stored_name(self.jury, self.criterion)
        return stored_name(self.jury, self.criterion, self.reference)

    def __str__(self) -> str:
        return f"the answer {self._told}"

    @property
    def negation(self) -> str:
        """Returns the clause of its negation."""
        return f"{NOT_SO} the answer {self._told}"

    @property
    def _told(self) -> str:
        size = (
            ""
            if self.reference is None
            else f" against a reference of {len(self.reference):,} characters"
        )
        return f"{printable(self.criterion)} ({self.jury}{size})"

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


def judged(
    criterion: str,
    judge: object,
    reference: str | None = None,
    *,
    judge_name: str | None = None,
    judge_samples: int = 1,
    batch: int = ALONE,
) -> JudgedBy:
    """The answer is what the criterion says, in a judge's opinion (paper, *LLM-as-a-judge*).

    ``criterion``: what follows "the answer", such as "contradicts the guideline" or "recommends a
    treatment that is not in this list". ``reference``: the guideline, the list. ``judge``: a LangChain
    chat model, a LlamaIndex LLM, or a function of a ``JudgeRequest``, sync (it runs in a worker thread)
    or async, that returns ``{id: True, False or "unsure"}`` for the candidates. An opinion that is unsure
    makes the probe UNKNOWN, and so does a judge that fails or whose replies stay malformed. Its reason is
    kept on the probe.

    Identical answers to a question are judged once, or ``judge_samples`` times, and the majority counts.
    Each is judged in a request of its own, so that no answer is read beside another one. ``judge_name``:
    names a judge that is a function, so that what it says can be stored; change it with the function.

    What remains: an answer can still persuade the judge about *itself*, and a baseline with which
    ``same_answer(judge=...)`` compares about all of them. They are shown as data (see
    ``predicates.judge.request``), and whether the model obeys what it reads is up to the model: measure
    it with ``check_judge`` on answers that try.

    ``batch``: up to so many answers that wait at the same moment are judged in one request; nobody waits
    for more. So are the samples of a vote, as many as it takes at the least to decide it, then those that
    it takes after these; and the answers that a store has already, beforehand. That is fewer requests,
    and an answer can then tell the judge what to say of the others: where a verdict of a search came out
    of such a request, the explanation has a warning, and none of the search's rules is *proved*.

    Raises InvalidInput for an empty criterion or reference, one that is too long, and what cannot judge.
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
    """Returns what is to be said after "the answer"; empty where it is nothing."""
    if not isinstance(criterion, str):
        return ""
    said = criterion.strip().rstrip(".").rstrip()
    begun = _SUBJECT.match(f"{said} ")
    return said[begun.end() :].strip() if begun else said


def same_as(truth: str, case: Case, jury: Jury, remembered_as: str | None, key: Hashable) -> Judged:
    """Returns the jury's judgement whether the answer is equivalent to the truth."""
    matter = Matter(f"The answer {SAME}.", case.question, truth=truth)
    return judgement_of(JudgeQuestion(jury, matter, case.answer.text, remembered_as, key))
