"""These tests check that only those changes are ignored that no replay can read."""

from collections.abc import Iterable
from typing import Any

import pytest
from langchain_core.tools import StructuredTool

from rag_rule_explainer.instrumentation.requests.volatile import Steady
from rag_rule_explainer.instrumentation.rewinding import changes
from rag_rule_explainer.instrumentation.rewinding.reachable import Reachable
from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding


def tool_over(name: str, *held: list[Any]) -> StructuredTool:
    def run(query: str) -> str:
        """Finds something."""
        for each in held:
            each.append(query)
        return str(held)

    return StructuredTool.from_function(run, name=name)


OF_ONE: list[Any] = ["of one"]
OF_BOTH: list[Any] = ["of both"]
OF_THE_OTHER: list[Any] = ["of the other", OF_BOTH]
OF_CODE: list[Any] = ["of code"]
TOOLS = [tool_over("acts", OF_ONE, OF_BOTH, OF_CODE), tool_over("reads", OF_THE_OTHER)]


def answer(question: str) -> str:
    return f"{question} {OF_CODE}"


def lists_in(things: Iterable[Any]) -> set[int]:
    kind: Any = list
    return {id(each) for each in things if type(each) is kind}


def test_what_else_is_reached_by_tools_at_rest_is_what_two_searches_differ_in() -> None:
    running = frozenset({"reads"})
    every, others = Reachable([*TOOLS, answer]), Reachable([*TOOLS, answer], running)
    found = lists_in(Reachable([*TOOLS, answer], running).beyond_resting())
    assert found == {id(OF_ONE)}
    of_others = lists_in(node.thing for node in others.nodes)
    assert found <= lists_in(node.thing for node in every.nodes) - of_others


def test_changes_of_tools_at_rest_alone_do_not_matter() -> None:
    rewinding = Rewinding([*TOOLS, answer], Steady().is_ignored, tuple)
    for held, at_rest in ((OF_ONE, True), (OF_BOTH, False), (OF_THE_OTHER, False), (OF_CODE, False)):
        rewinding.limit_to(None)
        held.append("left")
        assert rewinding.is_useful()
        rewinding.was_useful = False
        rewinding.limit_to(frozenset({"reads"}))
        assert rewinding.is_useful() is not at_rest
        rewinding.was_useful = False
        held.pop()
        assert not rewinding.is_useful()


def test_no_search_is_made_for_a_change_that_other_code_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    rewinding = Rewinding([*TOOLS, answer], Steady().is_ignored, tuple)
    rewinding.limit_to(frozenset({"reads"}))
    monkeypatch.setattr(changes, "Reachable", None)
    OF_CODE.append("left")
    try:
        assert rewinding.is_useful()
    finally:
        OF_CODE.pop()
