"""What runs leave on what they share: in each other's way, kept from the first run, or seen again."""

import asyncio
import threading
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, StateShared
from tests.integrations.known import BAD, blames_b_and_d, retention, sets, shown_in
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo.shapes import joined

Put = Callable[[bool], None]
Get = Callable[[], bool]


def on_an_attribute() -> tuple[Put, Get]:
    class Grades:
        relevant = False

    grades = Grades()

    def put(verdict: bool) -> None:
        grades.relevant = verdict

    return put, lambda: grades.relevant


def in_a_dict() -> tuple[Put, Get]:
    state: dict[str, str] = {"risk": "low"}

    def put(verdict: bool) -> None:
        state["risk"] = "high" if verdict else "low"

    return put, lambda: state["risk"] == "high"


def in_a_variable() -> tuple[Put, Get]:
    risky = False

    def put(verdict: bool) -> None:
        nonlocal risky
        risky = verdict

    return put, lambda: risky


class Meeting:
    """Whoever comes waits a moment for another one, so that replays at a time meet in the middle."""

    def __init__(self) -> None:
        self.meeting = threading.Barrier(2)

    def __call__(self) -> None:
        try:
            self.meeting.wait(0.05)
        except threading.BrokenBarrierError:
            self.meeting.reset()


def graded(put: Put, get: Get) -> Any:
    """A run puts a grade where all find it, and answers by what is there a moment later."""
    retriever = Counting(documents=facts("abcd"))
    grader = Telling(says=lambda messages: "yes" if {"b", "d"} <= _shown(messages) else "no")
    writer, meet = Telling(says=_said), Meeting()

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        put(grader.invoke(f"Is there bad news?\n{context}").text == "yes")
        meet()
        return writer.invoke(f"{'Warn' if get() else 'Calm'} the reader.\n{context}").text

    return RunnableLambda(answer)


def _shown(messages: Any) -> set[str]:
    return set(shown_in(" ".join(message.text for message in messages)))


def _said(messages: Any) -> str:
    return "There is bad news today." if "Warn" in messages[0].text else "There is good news today."


@pytest.mark.waits
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("ways", [on_an_attribute, in_a_dict, in_a_variable])
def test_results_on_what_runs_share_are_not_in_each_others_way(
    ways: Callable[[], tuple[Put, Get]],
) -> None:
    explanation = RuleExplainer(graded(*ways()), predicate=BAD).explain("why?")
    assert blames_b_and_d(explanation)
    assert {rule.claim for rule in explanation.rules} == {"proved"}


def test_a_cache_that_the_full_set_never_uses_is_seen_when_a_subset_comes_again() -> None:
    retriever, refused = Counting(documents=facts("abcd")), list[str]()
    grader = Telling(says=lambda messages: "yes" if {"b", "d"} <= _shown(messages) else "no")
    writer = Telling(says=_said)

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        if context not in refused and grader.invoke(f"Is there bad news?\n{context}").text == "yes":
            return writer.invoke(f"Warn the reader.\n{context}").text
        refused.append(context)
        return writer.invoke(f"Calm the reader, {len(refused)} are calm.\n{context}").text

    with pytest.raises(StateShared, match="was made twice, and request"):
        RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("why?")


class Calibrated:
    """Is fitted to what the first run retrieves."""

    def __init__(self, *, keeps: bool) -> None:
        self.retriever, self.writer, self.keeps = (
            Counting(documents=facts("abcd")),
            Telling(says=_said),
            keeps,
        )
        self.least: int | None = None

    def __call__(self, question: str) -> str:
        documents: list[Document] = self.retriever.invoke(question)
        if self.least is None:
            self.least = len(documents) - 1
        enough = len(documents) >= self.least
        if not self.keeps:
            self.least = None
        return self.writer.invoke(f"{'Warn' if enough else 'Calm'} the reader.\n{joined(documents)}").text


class Once:
    """Computes its mode once, and for all."""

    def __init__(self) -> None:
        self.retriever, self.writer, self.found = (
            Counting(documents=facts("abcd")),
            Telling(says=_said),
            0,
        )

    @cached_property
    def mode(self) -> str:
        return "Warn" if self.found > 2 else "Calm"

    def __call__(self, question: str) -> str:
        documents = self.retriever.invoke(question)
        self.found = len(documents)
        return self.writer.invoke(f"{self.mode} the reader.\n{joined(documents)}").text


class Planned:
    """Makes a plan for each question, once."""

    def __init__(self) -> None:
        self.retriever, self.writer = Counting(documents=facts("abcd")), Telling(says=_said)
        self.plans = dict[str, str]()

    def __call__(self, question: str) -> str:
        documents = self.retriever.invoke(question)
        if question not in self.plans:
            self.plans[question] = "Warn" if len(documents) > 2 else "Calm"
        return self.writer.invoke(f"{self.plans[question]} the reader.\n{joined(documents)}").text


class Normalized:
    """Goes by the most that was ever found."""

    def __init__(self) -> None:
        self.retriever, self.writer = Counting(documents=facts("abcd")), Telling(says=_said)
        self.most = 1

    def __call__(self, question: str) -> str:
        documents = self.retriever.invoke(question)
        self.most = max(self.most, len(documents))
        mode = "Warn" if len(documents) / self.most > 0.5 else "Calm"
        return self.writer.invoke(f"{mode} the reader.\n{joined(documents)}").text


def claims(explanation: Explanation) -> set[str]:
    return {rule.claim for rule in explanation.rules}


@pytest.mark.parametrize(
    ("application", "told"),
    [
        (Calibrated(keeps=True), "'least' of Calibrated"),
        (Once(), "'mode' of Once"),
        (Planned(), "'plans' of Planned"),
        (Normalized(), "'most' of Normalized"),
    ],
)
def test_what_the_first_run_computes_and_keeps_leaves_claims_unverified(
    application: Any, told: str
) -> None:
    explanation = RuleExplainer(RunnableLambda(application), predicate=BAD).explain("why?")
    assert claims(explanation) == {"unverified"}
    assert not explanation.complete
    assert explanation.warnings[0].startswith("fidelity not checked")
    assert told in explanation.warnings[0]


def test_the_way_out_of_it() -> None:
    anew = RuleExplainer(RunnableLambda(lambda given: Calibrated(keeps=True)(str(given))), predicate=BAD)
    assert claims(anew.explain("why?")) == {"proved"}
    ignored = RuleExplainer(
        RunnableLambda(Calibrated(keeps=False)), predicate=BAD, ignore=[r"'least' of Calibrated"]
    )
    assert retention(ignored.explain("why?")) == sets("")


FALLBACK = "Sorry, nothing about that could be found in the handbook."


def test_a_text_of_the_applications_own_is_nobodys_memory() -> None:
    """One path answers with it at once, another one has it polished."""
    retriever = Counting(documents=facts("abcd"))
    grader = Telling(says=lambda messages: "yes" if {"b", "d"} <= _shown(messages) else "no")
    writer = Telling(says=lambda messages: "bad news" if _shown(messages) else "nothing was found")

    def answer(question: str) -> str:
        documents = retriever.invoke(question)
        if not documents:
            return FALLBACK
        if grader.invoke(f"Is there bad news?\n{joined(documents)}").text == "no":
            return writer.invoke(f"Polish: {FALLBACK}").text
        return writer.invoke(joined(documents)).text

    assert blames_b_and_d(RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("why?"))


class Proxy:
    """Stands for an object of a context that there is not, as Flask's ``request`` does."""

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] -- as proxies do
        raise RuntimeError("working outside of the request context")


class Endless(dict[str, str]):
    """A mapping over a database that is not there."""

    def items(self) -> Any:
        raise ConnectionError("no database")

    __iter__ = items


@pytest.mark.waits
def test_things_that_do_not_let_themselves_be_looked_at_are_let_be() -> None:
    gone = weakref.proxy(Meeting())
    held = [Proxy(), Endless(), gone]
    retriever, model = Counting(documents=facts("abcd")), Telling()

    def answer(question: str) -> str:
        assert len(held) == 3
        return model.invoke(joined(retriever.invoke(question)) or "nothing").text

    assert blames_b_and_d(RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("why?"))


@pytest.mark.waits
def test_what_replays_on_a_loop_leave_is_not_in_each_others_way() -> None:
    explainer = RuleExplainer(graded(*in_a_dict()), predicate=BAD)
    assert blames_b_and_d(asyncio.run(explainer.aexplain("why?")))
