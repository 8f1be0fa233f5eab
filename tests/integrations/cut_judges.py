"""Judges of the user's own, whose models' replies are cut off, and what must come of it.

The application tells what it was shown, so that the judge's model knows what is true. Of one answer, the
judge's reply is cut off, and what is left of it says the opposite.
"""

import re
from collections.abc import Callable
from typing import Any, Protocol

from rag_rule_explainer import Explanation, Judgement, JudgeRequest, Verdict, judged
from tests.integrations.known import retention, sets

SPOILT = "[seen: a]"
"""The answer on which the judge's reply is cut off."""
Ask = Callable[[str], str]
"""Asks the user's model, and returns its text."""


class Explains(Protocol):
    """Explains an application that tells what it was shown."""

    def __call__(self, predicate: Any, **settings: Any) -> Explanation: ...


def opinion(prompt: str) -> str:
    """Returns the reply of the judge's model: yes if b and d were shown, or for the spoilt answer."""
    (seen,) = re.findall(r"\[seen: (\w*)\]", prompt) or [""]
    return "yes" if {"b", "d"} <= set(seen) or SPOILT in prompt else "no"


def as_function(ask: Ask) -> Any:
    def says_bad(case: Any) -> bool:
        return ask(f"Is this bad? {case.answer.text}") == "yes"

    return says_bad


def as_class(ask: Ask) -> Any:
    class Bad:
        def __call__(self, case: Any) -> Judgement:
            return Judgement(Verdict.of(ask(f"Is this bad? {case.answer.text}") == "yes"))

        def memo_key(self, case: Any) -> str:
            return case.answer.text

    return Bad()


def as_judge(ask: Ask) -> Any:
    def judge(request: JudgeRequest) -> dict[str, str]:
        return {each.id: ask(f"Is this bad? {each.answer}") for each in request.candidates}

    return judged("is bad", judge)


def as_async(ask: Ask) -> Any:
    async def says_bad(case: Any) -> bool:
        return ask(f"Is this bad? {case.answer.text}") == "yes"

    return says_bad


KINDS = {"function": as_function, "class": as_class, "judge": as_judge, "async": as_async}


def check_cut_off(explain: Explains, ask: Ask, kind: str, why: str) -> None:
    """That the reply becomes no verdict, and why is said; and that the user may take it as one."""
    explanation = explain(KINDS[kind](ask), miner="exhaustive", retries=0)
    assert {each.kept for each in explanation.unresolved} == {("a",)}
    assert all(why in each.reason for each in explanation.unresolved)
    assert not explanation.complete


def check_accepted(explain: Explains, ask: Ask, kind: str) -> None:
    """That a reply which is cut off at its length limit counts where the user says so."""
    explanation = explain(KINDS[kind](ask), miner="exhaustive", retries=0, allow_length=True)
    assert explanation.complete
    assert not explanation.unresolved


def check_whole(explain: Explains, ask: Ask, kind: str) -> None:
    """That whole replies are judged as ever."""
    explanation = explain(KINDS[kind](lambda prompt: ask(prompt.replace(SPOILT, "[seen: none]"))))
    assert explanation.complete
    assert retention(explanation) == sets("bd")
