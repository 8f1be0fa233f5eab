"""Models of the user's own class that keep something from one request to the next."""

import ctypes
import functools
import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from pydantic import Field, PrivateAttr
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, omission, retention, sets, shown_in
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.shapes import joined


def said(prompt: str) -> str:
    return "bad news" if {"b", "d"} <= set(shown_in(prompt)) else "good news"


class Model(BaseChatModel):
    """Replies what ``reply`` makes of the text of its request."""

    @property
    @override
    def _llm_type(self) -> str:
        return "own"

    def reply(self, prompt: str) -> str:
        return said(prompt)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = AIMessage(self.reply(messages[-1].text))
        return ChatResult(generations=[ChatGeneration(message=reply)])


class ByQuestion(Model):
    """Its cache forgets what it was shown."""

    known: dict[str, str] = Field(default_factory=dict[str, str])

    @override
    def reply(self, prompt: str) -> str:
        question = prompt.splitlines()[-1]
        if question not in self.known:
            self.known[question] = said(prompt)
        return self.known[question]


class ByLength(Model):
    known: dict[int, str] = Field(default_factory=dict[int, str])

    @override
    def reply(self, prompt: str) -> str:
        return self.known.setdefault(len(prompt) // 100, said(prompt))


class ByMethod(Model):
    """The cache is that of a static method."""

    @staticmethod
    @functools.lru_cache
    def of(question: str) -> list[str]:
        return [question]

    @override
    def reply(self, prompt: str) -> str:
        known = self.of(prompt.splitlines()[-1])
        if len(known) == 1:
            known.append(said(prompt))
        return known[1]


class InTurn(Model):
    _turns: Any = PrivateAttr(default_factory=lambda: itertools.cycle([0, 0, 0, 1]))

    @override
    def reply(self, prompt: str) -> str:
        return "bad news" if next(self._turns) else said(prompt)


class ByChance(Model):
    _chance: Any = PrivateAttr(default_factory=lambda: random.Random(5))

    @override
    def reply(self, prompt: str) -> str:
        return said(prompt) if self._chance.random() < 0.8 else "bad news"


class Moody(Model):
    """Goes by what it was asked first, under a name that no code writes."""

    mood: dict[str, str] = Field(default_factory=dict[str, str])

    @override
    def reply(self, prompt: str) -> str:
        self.mood.setdefault("first", said(prompt))
        return self.mood["first"] if "d" in shown_in(prompt) else "good news"


class OnItsClass(Model):
    @override
    def reply(self, prompt: str) -> str:
        before = vars(type(self)).get("before", "")
        setattr(type(self), "before", prompt)  # noqa: B010 -- pydantic forbids it otherwise
        return said(prompt + before)


class Remembered(Model):
    """Its cache goes by the whole request."""

    known: dict[str, str] = Field(default_factory=dict[str, str])

    @override
    def reply(self, prompt: str) -> str:
        if prompt not in self.known:
            self.known[prompt] = said(prompt)
        return self.known[prompt]


class Counted(Model):
    calls: int = 0
    log: list[str] = Field(default_factory=list[str])

    @override
    def reply(self, prompt: str) -> str:
        self.calls += 1
        self.log.append(prompt)
        if self.calls > 1000:
            raise RuntimeError("too many calls")
        return said(prompt)


def explained(model: BaseChatModel) -> Explanation:
    retriever = Counting(documents=facts("abd"))
    answer: Callable[[str], str] = lambda question: (  # noqa: E731 -- the shortest of applications
        model.invoke(f"{joined(retriever.invoke(question))}\n{question}").text
    )
    return RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact").explain("why?")


@pytest.mark.parametrize("kind", [ByQuestion, ByLength, ByMethod, InTurn, ByChance, Moody, OnItsClass])
def test_what_a_model_keeps_and_goes_by_leaves_nothing_proved(kind: type[Model]) -> None:
    explanation = explained(kind())
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert not explanation.complete
    assert explanation.warnings[0].startswith("fidelity not checked")


@pytest.mark.parametrize("kind", [Model, Remembered, Counted])
def test_a_good_cache_and_a_log_of_a_model_change_nothing(kind: type[Model]) -> None:
    explanation = explained(kind())
    assert (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))
    assert {rule.claim for rule in explanation.rules} == {"proved"}
    assert explanation.warnings == ()


def test_an_answer_that_is_judged_otherwise_when_it_is_asked_again_is_told() -> None:
    # What the server of a model remembers shows in no object: here it is hidden behind a method of C.
    asked: Callable[[str], object] = _Server().asked

    class Elsewhere(Model):
        @override
        def reply(self, prompt: str) -> str:
            return str(asked(prompt))

    explanation = explained(Elsewhere())
    assert not [rule for rule in explanation.rules if rule.claim == "proved"]
    assert "after the search, the application was judged otherwise" in explanation.warnings[0]


class _Server:
    """Says the same as ever for as long as it was asked little."""

    def __init__(self) -> None:
        self._counts = (ctypes.c_int * 1)()

    def asked(self, prompt: str) -> str:
        self._counts[0] += 1
        return said(prompt) if self._counts[0] < 10 else "bad news"
