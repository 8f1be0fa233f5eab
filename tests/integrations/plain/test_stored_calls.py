"""Tests the advice where a store has answers without tool calls and the condition is about calls."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from plain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Answer, Explainer, Explanation, Source, Store, ToolCall, calls_tool
from rag_rule_explainer.storing.opened import close_all
from tests.integrations.known import blames_b_and_d
from tests.integrations.plain.zoo.shapes import QUESTION, Index

PAYS = calls_tool("pay")
NAMESPACE = "give the store another namespace (Store(url, namespace), --namespace), or prune this one"
RETURN = "return Answer(text, calls=(ToolCall(name, arguments), ...))"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "answers.db"), "tests")


def of_a_run(store: Store | None, *, recorded: bool) -> Explanation:
    index = Index()

    def application(question: str) -> Answer:
        found = {each["id"] for each in index.search(question)}
        calls = (ToolCall("pay"),) if {"b", "d"} <= found else ()
        return Answer("Done.", calls=calls if recorded else None)

    return RuleExplainer(application, PAYS, store=store).explain(QUESTION)


def of_sources(store: Store | None, *, recorded: bool) -> Explanation:
    def replay(_: str, shown: Sequence[Source]) -> Answer:
        calls = (ToolCall("pay"),) if shown else ()
        return Answer("Done.", calls=calls if recorded else None)

    return Explainer(replay, PAYS, store=store).explain(QUESTION, [Source("A", "The bill.")])


def advice_in(explanation: Explanation) -> str:
    assert not explanation.rules
    (found,) = [each for each in explanation.warnings if "the condition is about tool calls" in each]
    return found


def test_what_is_stored_without_calls_needs_another_namespace(store: Store) -> None:
    of_a_run(store, recorded=False)
    advice = advice_in(of_a_run(store, recorded=True))
    assert NAMESPACE in advice
    assert RETURN not in advice
    assert blames_b_and_d(of_a_run(Store(store.url, "other"), recorded=True))


def test_calls_that_are_still_not_recorded_have_to_be_recorded_first(store: Store) -> None:
    of_a_run(store, recorded=False)
    advice = advice_in(of_a_run(store, recorded=False))
    assert advice.index(RETURN) < advice.index(NAMESPACE)


def test_where_only_the_store_answered_both_are_advised(store: Store) -> None:
    of_sources(store, recorded=False)
    advice = advice_in(of_sources(store, recorded=True))
    assert advice.index(RETURN) < advice.index(NAMESPACE)
    assert of_sources(Store(store.url, "other"), recorded=True).rules


@pytest.mark.parametrize("explained", [of_a_run, of_sources])
def test_without_a_stored_answer_no_store_is_named(
    explained: Callable[..., Explanation], store: Store
) -> None:
    for given in (None, store):
        advice = advice_in(explained(given, recorded=False))
        assert RETURN in advice
        assert "namespace" not in advice
