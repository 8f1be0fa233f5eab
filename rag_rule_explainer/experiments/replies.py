"""What one answer is: right, wrong or none, and whether it is worded as the model was told. Pure.

*Right*: consistent with the truth, by near-exact match, else as the judge says.
*Abstains*: it is N/A, or opens with it, or says in other words that it does not know (``refuses()``), and
is not right.
*Unsettled*: neither, and nobody says that it is wrong: the judge was unsure, or there is none and the
answer has the truth in it.
*Wrong*: everything else.

*Has the truth in it*: the truth's words stand in it, in a row, in the form in which near-exact match
compares them; a truth of "yes" or "no" has to be its first word, as "no" is in too many sentences.
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
    """What an answer is."""

    RIGHT = "right"
    ABSTAINS = "abstains"
    UNSETTLED = "unsettled"
    WRONG = "wrong"


class TruthIn(str, Enum):
    """Where the words of the truth stand among the sources shown: in a necessary one, else in another
    one, else in none of them; a truth of yes or no stands in none."""

    NECESSARY = "necessary"
    DISTRACTOR = "distractor"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class LabelledReply:
    """What a model said about some sources of a question.

    ``kept``: their ids. ``has_all``: all necessary ones are among them. ``says_more``: it has the truth
    in it and so many other words that it is more than the answer. ``cut_off``: it reached its limit of
    tokens. ``reworded``: it abstains, and not by N/A alone.
    """

    kept: tuple[str, ...]
    has_all: bool
    kind: ReplyKind
    truth_in: TruthIn
    says_more: bool
    cut_off: bool
    reworded: bool
    answer: Answer

    @property
    def abstains(self) -> bool:
        """Returns whether it gives no answer."""
        return self.kind is ReplyKind.ABSTAINS

    @property
    def deviates(self) -> bool:
        """Returns whether the model did not do as it was told: answer where it can, N/A where it cannot,
        and nothing but that."""
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
    """Returns what an answer on these sources is.

    ``verdict``: whether it is consistent with the truth; ``judged``: whether there was a judge to ask.
    ``besides``: words beside the truth's, articles aside, from which on it is more than the answer.
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
    """Returns whether it says that there is no answer."""
    if equivalent(text, NO_ANSWER) or refusal_in(text):
        return True
    opening, rest = text.strip()[: len(NO_ANSWER)], text.strip()[len(NO_ANSWER) :]
    # "N/Affirmative" does not open with N/A, and "N/A; perhaps Lima" goes on to answer.
    opens = opening.casefold() == NO_ANSWER.casefold() and not rest[:1].isalnum()
    return opens and not has_truth(text, truth)


def has_truth(text: str, truth: str) -> bool:
    """Returns whether the words of the truth stand in the text."""
    wanted, found = near_exact(truth), near_exact(text)
    if wanted in _TWO_WORDS:
        return found.split(" ", 1)[0] == wanted
    return bool(wanted) and f" {wanted} " in f" {found} "


def _truth_in(example: Example, kept: Sequence[Source]) -> TruthIn:
    if near_exact(example.answer) in _TWO_WORDS:
        return TruthIn.NOWHERE
    holding = {source.id for source in kept if has_truth(source.passage, example.answer)}
    if not holding:
        return TruthIn.NOWHERE
    return TruthIn.NECESSARY if holding & set(example.necessary) else TruthIn.DISTRACTOR


def _words(text: str) -> list[str]:
    return [word for word in near_exact(text).split() if word not in _ARTICLES]
