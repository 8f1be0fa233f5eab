"""Tests of applications whose answer is made of what a tool wrote, and not of what a model said."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.store.memory import InMemoryStore

from rag_rule_explainer import UntrueReplay, calls_tool, contains
from tests.agents.reading import ASKED, MAILS, Omitted, Scripted, calls_in, cut, false_rules
from tests.agents.reading_notes import agent_with_notes

SPACE = ("notes",)


def cart_in_a_list(omitted: Omitted = ()) -> Any:
    cart = list[str]()

    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    @tool
    def remember() -> str:
        """Remember."""
        cart.append("account 4711")
        return "noted"

    agent: Any = create_agent(Scripted(order=("inbox",), noting=True), [inbox, remember])

    def ask(question: Any) -> str:
        cart.clear()
        agent.invoke(question)
        return f"{len(cart)} notes: {cart}"

    return ask


def cart_that_a_tool_views(omitted: Omitted = ()) -> Any:
    cart = list[str]()
    agent = agent_with_notes(omitted, cart.append, lambda: list(cart))

    def ask(question: Any) -> Any:
        cart[:] = ["milk"]
        return agent.invoke(question)

    return ask


def notes_in_a_store(omitted: Omitted = ()) -> Any:
    store = InMemoryStore()

    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    @tool
    def remember(runtime: ToolRuntime[Any, Any]) -> str:
        """Remember."""
        memory: Any = runtime.store
        memory.put(SPACE, "first", {"text": "account 4711"})
        return "noted"

    model = Scripted(order=("inbox",), noting=True)
    agent: Any = create_agent(model, [inbox, remember], store=store)

    def ask(question: Any) -> str:
        agent.invoke(question)
        return f"notes: {[each.value for each in store.search(SPACE)]}"

    return ask


SHAPES = [cart_in_a_list, notes_in_a_store]


def explained(make: Any, **options: Any) -> Any:
    return RuleExplainer(make(), contains("4711"), source_kinds=["tools"], **options).explain(ASKED)


@pytest.mark.parametrize("make", SHAPES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("noise", [None, 9], ids=["once", "voted"])
def test_an_answer_that_lacks_what_a_tool_wrote_is_refused_with_its_name(make: Any, noise: Any) -> None:
    with pytest.raises(UntrueReplay, match=r"safe_tools=\['remember'\]"):
        explained(make, **({} if noise is None else {"noise": noise}))


@pytest.mark.parametrize("make", SHAPES, ids=lambda make: make.__name__)
def test_the_way_out_gives_the_rules(make: Any) -> None:
    explanation = explained(make, safe_tools=["remember"])

    assert explanation.complete, str(explanation)
    assert not explanation.doubted
    assert {rule.kind.value: rule.sources for rule in explanation.rules} == {
        "retention": ("inbox #1, item 3",),
        "omission": ("inbox #1, item 3",),
    }
    assert "4711" in make()(ASKED)
    assert "4711" not in make(["inbox #1, item 3"])(ASKED)


@pytest.mark.parametrize("safe", [["policy"], ["remember"], ["policy", "remember"]], ids="+".join)
def test_a_tool_that_runs_again_never_misses_what_another_one_wrote(safe: list[str]) -> None:
    explainer = RuleExplainer(
        cart_that_a_tool_views(), calls_tool("block"), source_kinds=["tools"], safe_tools=safe
    )
    explanation = explainer.explain(ASKED)

    def truth(omitted: Omitted) -> bool:
        return "block" in calls_in(cart_that_a_tool_views(omitted)(ASKED))

    assert not explanation.doubted
    assert explanation.complete == (len(safe) == 2)
    assert false_rules(explanation, truth) == []
    assert explanation.complete or "safe_tools=['policy', 'remember']" in str(explanation)
