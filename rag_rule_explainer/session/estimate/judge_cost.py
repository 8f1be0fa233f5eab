"""This module estimates how many requests to a judge an explanation needs at least and at most. The
module sends no requests."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from sys import float_info
from typing import Any

from ...predicates import Predicate
from ...predicates.inside import judged_in
from ...predicates.judge.judged import SAME, JudgedBy
from ...predicates.judge.jury import ALONE
from ...predicates.judge.majority import soonest
from ...predicates.judge.request import INSTRUCTIONS
from ...printable import amount
from ...probing.prices import Prices, price_of

OPINION_TOKENS = 60
"""The assumed number of tokens of a judge's opinion on one answer. An opinion has an id, a reason of one
sentence, and the verdict."""


@dataclass(frozen=True, slots=True)
class JudgeOutlay:
    """A ``JudgeOutlay`` holds the number and the cost of a judge's opinions that an explanation may need.

    ``fewest``: the number of opinions if all answers are equal. ``most``: the number of opinions if all
    answers differ and every subset is replayed. ``opinions``: the number of opinions on one answer, for
    all conditions together. Each opinion is one request; if ``may_batch`` is True, a request may cover
    several answers. Answers in logs and in the store are not counted. ``input_tokens``,
    ``output_tokens``: upper bounds, for ``most`` requests with one answer each. ``cost``: the price of
    these tokens; None if a judge has no price. ``unpriced``: the judges without a price.
    """

    fewest: int
    most: int
    opinions: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    unpriced: tuple[str, ...] = ()
    may_batch: bool = False

    def __str__(self) -> str:
        each = "one judgement" if self.opinions == 1 else f"{self.opinions} opinions"
        requests = "in as many requests or fewer" if self.may_batch else "each in a request of its own"
        tokens = f"{amount(self.input_tokens)} tokens in and {amount(self.output_tokens)} out"
        if self.cost is not None:
            price = f"cost at most {amount(self.cost, 4)}, not in the table"
        else:
            price = f"cost not known, as there is no price for {', '.join(self.unpriced)}"
        return (
            f"the judge: at most {each} for each distinct answer, so between {self.fewest:,} and "
            f"{amount(self.most)}, {requests}; at most {tokens}; {price}"
        )


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """A ``JudgePlan`` holds the conditions that need a judge, and what is known about their requests
    before there is an answer.

    ``sure``: those conditions that are certainly judged for every answer. ``prompt_tokens``: for each
    condition, the tokens of a request without the answer to be judged. ``answer_tokens``: the assumed
    tokens of that answer. ``stored``: True if there is a store, whose judgements may make requests
    unnecessary.
    """

    conditions: tuple[Any, ...]
    sure: tuple[Any, ...]
    prompt_tokens: tuple[int, ...]
    answer_tokens: int
    stored: bool

    def outlay(self, answers: int, prices: Prices | None) -> JudgeOutlay | None:
        """Returns the cost of judging at most ``answers`` answers; None if no condition needs a judge.
        ``prices``: the prices of tokens, by model; None if no prices are known."""
        if not self.conditions:
            return None
        juries = [condition.jury for condition in self.conditions]
        asked = [jury.samples * answers for jury in juries]
        read = [
            times * (prompt + self.answer_tokens)
            for times, prompt in zip(asked, self.prompt_tokens, strict=True)
        ]
        names = [jury.priced_as for jury in juries]
        found = [price_of(name, prices or {}) for name in names]
        cost = 0.0
        for price, tokens, times in zip(found, read, asked, strict=True):
            said = {"input_tokens": tokens, "output_tokens": times * OPINION_TOKENS}
            cost += 0.0 if price is None else price.of(said)
        unpriced = {
            name or "a judge without a name"
            for name, price in zip(names, found, strict=True)
            if price is None
        }
        return JudgeOutlay(
            fewest=sum(
                0 if self.stored and condition.jury.name else soonest([], condition.jury.samples)
                for condition in self.sure
            ),
            most=sum(asked),
            opinions=sum(jury.samples for jury in juries),
            input_tokens=sum(read),
            output_tokens=sum(asked) * OPINION_TOKENS,
            cost=None if unpriced else min(cost, float_info.max),
            unpriced=tuple(sorted(unpriced)),
            may_batch=any(jury.batch > ALONE for jury in juries),
        )


def judge_plan(
    bases: Iterable[Predicate],
    question: str,
    *,
    count_tokens: Callable[[str], int],
    answer_tokens: int,
    stored: bool,
) -> JudgePlan:
    """Returns the plan for judging the conditions ``bases``, which are without negation. No judge is
    called. ``stored``: True if there is a store for judgements. ``count_tokens``: a function that counts
    the tokens of a text. ``answer_tokens``: the assumed tokens of an answer."""
    bases = tuple(bases)
    conditions = tuple(dict.fromkeys(each for base in bases for each in judged_in(base)))
    always = count_tokens(INSTRUCTIONS) + count_tokens(question)

    def prompt(condition: Any) -> int:
        texts_given = (getattr(condition, name, None) for name in ("truth", "reference"))
        texts = [getattr(condition, "criterion", SAME), *(text for text in texts_given if text)]
        # A condition without a criterion and without a known right answer compares answers with the
        # baseline's answer. The baseline's answer is not known yet, so the assumed number of tokens is
        # used for it.
        compared = 0 if hasattr(condition, "criterion") or hasattr(condition, "truth") else answer_tokens
        return always + compared + sum(map(count_tokens, texts))

    first = dict.fromkeys(map(_first, bases))
    sure = tuple(each for each in first if isinstance(each, JudgedBy))
    return JudgePlan(conditions, sure, tuple(map(prompt, conditions)), answer_tokens, stored)


def _first(predicate: Any) -> Any:
    """Returns the part of a combined predicate that is evaluated for every answer. This is the first
    part, because its verdict may make the other parts unnecessary. A predicate that is not combined is
    returned unchanged."""
    if getattr(predicate, "inner", None) is not None:
        return _first(predicate.inner)
    parts = getattr(predicate, "parts", ())
    return _first(parts[0]) if parts else predicate
