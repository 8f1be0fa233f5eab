"""This module classifies answers as right, wrong, abstaining or unsettled. It also checks whether they
follow the instructions, which are to answer if the sources allow it, else to say N/A, and to say nothing
more.

*Right*: the answer is consistent with the truth (the known right answer), by near-exact match or by the
judge.

*Abstains*: the answer is not right, and it is N/A, begins with N/A, or says in other words that the
answer is not known (``refuses()``).

*Unsettled*: the answer neither is right nor abstains, but may be right: the judge was unsure, or there is
no judge and the answer contains the truth.

*Wrong*: every other answer.

*Contains the truth*: the words of the truth occur next to each other in the answer, compared as by
near-exact match. A "yes" or "no" must be the first word, because "no" occurs in too many sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ..predicates.refusing import refusal_in
from ..predicates.wording import equivalent, near_exact
from ..probing.wholeness import Ending, ending_of
from ..sources import Source
from ..testing.reader import NO_ANSWER
from ..verdicts import Answer, Verdict
from .examples import Example

_ARTICLES = frozenset({"a", "an", "the"})
_TWO_WORDS = frozenset({"yes", "no"})


class ReplyKind(str, Enum):
    """A ``ReplyKind`` says whether an answer is right, wrong, unsettled (perhaps right), or abstains."""

    RIGHT = "right"
    ABSTAINS = "abstains"
    UNSETTLED = "unsettled"
    WRONG = "wrong"


class TruthIn(str, Enum):
    """A ``TruthIn`` says where the words of the truth occur among the shown sources: in a necessary
    source; if not, in a distractor (any other source); if not, nowhere. If the truth is "yes" or "no", it
    says nowhere."""

    NECESSARY = "necessary"
    DISTRACTOR = "distractor"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class LabelledReply:
    """A ``LabelledReply`` is a model's reply to a question from some of its sources.

    ``kept``: the ids of these sources. ``has_all``: True iff all necessary sources are among them, so
    that the model should answer. ``truth_in``: the kind of source in which the truth's words occur.
    ``says_more``: True iff the reply contains the truth and too many other words. ``cut_off``: True iff
    the reply reached the maximum number of tokens. ``reworded``: True iff it abstains in other words than
    N/A. ``not_in_sources``: True iff none of these sources contains the reply's words.
    """

    kept: tuple[str, ...]
    has_all: bool
    kind: ReplyKind
    truth_in: TruthIn
    says_more: bool
    cut_off: bool
    reworded: bool
    answer: Answer
    not_in_sources: bool = False

    @property
    def abstains(self) -> bool:
        """Returns True iff the reply says that there is no answer."""
        return self.kind is ReplyKind.ABSTAINS

    @property
    def is_yes_or_no(self) -> bool:
        """Returns True iff the reply is "yes" or "no". Such a reply is never a quotation of a source."""
        return near_exact(self.answer.text) in _TWO_WORDS

    @property
    def deviates(self) -> bool:
        """Returns True iff the reply is not what the instructions demand: an answer if all necessary
        sources were shown, else N/A, and nothing more."""
        return self.abstains is self.has_all or self.says_more or self.cut_off or self.reworded


def reply(
    example: Example,
    kept: Sequence[Source],
    answer: Answer,
    verdict: Verdict,
    *,
    judged: bool,
    besides: int,
) -> LabelledReply:
    """Returns the classified reply for an answer from the sources ``kept``.

    ``verdict``: whether the answer is consistent with the truth. ``judged``: True if a judge decided this
    where near-exact match could not. ``besides``: the answer says too much if it has at least this number
    of words (without articles) besides those of the truth.
    """
    ids = tuple([source.id for source in kept])
    kind = _kind(answer.text, example.answer, verdict, judged=judged)
    return LabelledReply(
        kept=ids,
        has_all=set(example.necessary) <= set(ids),
        kind=kind,
        truth_in=_truth_in(example, kept),
        says_more=kind is not ReplyKind.ABSTAINS
        and has_truth(answer.text, example.answer)
        and len(_words(answer.text)) - len(_words(example.answer)) >= besides,
        cut_off=ending_of(answer.finish_reason) is Ending.LENGTH,
        reworded=kind is ReplyKind.ABSTAINS and not equivalent(answer.text, NO_ANSWER),
        answer=answer,
        not_in_sources=not any(_stands_in(answer.text, source) for source in kept),
    )


def _kind(text: str, truth: str, verdict: Verdict, *, judged: bool) -> ReplyKind:
    if verdict is Verdict.HOLDS:
        return ReplyKind.RIGHT
    if abstains(text, truth):
        return ReplyKind.ABSTAINS
    if verdict is Verdict.UNKNOWN or (not judged and has_truth(text, truth)):
        return ReplyKind.UNSETTLED
    return ReplyKind.WRONG


def abstains(text: str, truth: str) -> bool:
    """Returns True iff the text says that there is no answer. A text that begins with N/A and then
    contains the truth does not abstain."""
    if equivalent(text, NO_ANSWER) or refusal_in(text):
        return True
    opening, rest = text.strip()[: len(NO_ANSWER)], text.strip()[len(NO_ANSWER) :]
    # For example, "N/Affirmative" does not begin with the word N/A. "N/A; perhaps Lima" begins with it,
    # but does not abstain if the truth is Lima.
    opens = opening.casefold() == NO_ANSWER.casefold() and not rest[:1].isalnum()
    return opens and not has_truth(text, truth)


def has_truth(text: str, truth: str) -> bool:
    """Returns True iff the words of the truth occur next to each other in the text, compared as by
    near-exact match. A truth that is "yes" or "no" must be the first word of the text."""
    wanted, found = near_exact(truth), near_exact(text)
    if wanted in _TWO_WORDS:
        return found.split(" ", 1)[0] == wanted
    return bool(wanted) and f" {wanted} " in f" {found} "


def _stands_in(text: str, source: Source) -> bool:
    words = near_exact(text)
    return bool(words) and f" {words} " in f" {near_exact(source.passage)} "


def _truth_in(example: Example, kept: Sequence[Source]) -> TruthIn:
    if near_exact(example.answer) in _TWO_WORDS:
        return TruthIn.NOWHERE
    holding = {source.id for source in kept if has_truth(source.passage, example.answer)}
    if not holding:
        return TruthIn.NOWHERE
    return TruthIn.NECESSARY if holding & set(example.necessary) else TruthIn.DISTRACTOR


def _words(text: str) -> list[str]:
    return [word for word in near_exact(text).split() if word not in _ARTICLES]
