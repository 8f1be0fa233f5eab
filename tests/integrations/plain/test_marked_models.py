"""Functions that ``model`` marks: what they are sent is checked like what a client is sent."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from plain_rag_rule_explainer import RuleExplainer, model

from rag_rule_explainer import InvalidInput, SourceLeak, StateShared
from rag_rule_explainer.errors import BaselineFailed
from tests.integrations.known import BAD, TEXTS
from tests.integrations.plain.zoo.marked import local
from tests.integrations.plain.zoo.shapes import Index, shown


def explained(ask: Callable[[str], Any], before: Callable[[], str] = str, **parameters: Any) -> Any:
    index = Index("abd")

    def answer(question: str) -> Any:
        return ask(f"{before()}\n{shown(index.search(question), question)}")

    return RuleExplainer(answer, predicate=BAD, retries=0, **parameters).explain("why?")


def test_without_the_mark_nothing_is_proved_and_the_warning_names_it() -> None:
    explanation = explained(local)
    assert explanation.rules
    assert not any(rule.proved for rule in explanation.rules)
    assert "ask = model(ask)" in explanation.warnings[0]
    assert all(rule.proved for rule in explained(model(local)).rules)


def test_a_document_that_reaches_a_marked_function_by_another_way_is_a_leak() -> None:
    with pytest.raises(SourceLeak):
        explained(model(local), lambda: TEXTS["b"])


def test_what_earlier_runs_were_told_is_no_part_of_a_request() -> None:
    told: list[str] = []

    @model
    def ask(prompt: str) -> str:
        told.append(local(prompt))
        return told[-1]

    with pytest.raises(StateShared):
        explained(ask, lambda: "\n".join(told))


def test_an_error_of_a_marked_function_is_one_of_its_model() -> None:
    @model
    def ask(_: str) -> str:
        raise ConnectionError("no model is there")

    def apologising(prompt: str) -> str:
        try:
            return ask(prompt)
        except ConnectionError:
            return "Sorry, there is bad weather."

    with pytest.raises(BaselineFailed, match="no model is there"):
        explained(apologising)


def test_a_stream_that_nobody_has_read_is_told() -> None:
    def ask(prompt: str) -> Iterator[str]:
        return iter(local(prompt).split())

    with pytest.raises(InvalidInput, match="make it yield texts"):
        explained(model(ask))
    with pytest.raises(InvalidInput, match=r"model is 'a name'; give a function"):
        model("a name")  # type: ignore[type-var] -- what is wrong with it
    assert model(local)("nothing") == local("nothing")


def test_instructions_are_no_sources_of_what_a_marked_function_is_sent() -> None:
    with pytest.raises(InvalidInput, match="source_kinds= without these"):
        explained(model(local), source_kinds=("documents", "instructions"))
