"""Applications that ask or make something else if an earlier turn is omitted."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, Verdict, calls_tool, contains
from tests.agents.one_name import NOTHING, ORDER, Model, Numbered, of_client, of_list
from tests.integrations.known import omission, retention, sets
from tests.integrations.langchain.models import Telling

pytestmark = pytest.mark.filterwarnings("ignore")
TURNS = [
    ("user", "Where is the key?"),
    ("assistant", "In room 4711, by ten."),
    ("user", "Who has it?"),
    ("assistant", "Ann of Bonn."),
    ("user", "What is new?"),
]
SAYS = {"One?": "A", "Two?": "B", "-1": "A", "a < b": "A", "I know: A": "Paid.", "I know: A, B": "Paid."}


def says(messages: Sequence[BaseMessage]) -> str:
    return SAYS.get(str(messages[-1].text), "C")


def explained(first: Sequence[str], without: Sequence[str]) -> Explanation:
    """Explains an application that asks these questions, and goes by the replies. ``without``: the
    questions if the second turn is not there."""
    model = Telling(says=says)

    def run(messages: list[Any]) -> str:
        model.invoke(messages)
        asked = first if "Bonn" in str(messages) else without
        said = {each: str(model.invoke(each).text) for each in asked}
        known = ", ".join(said[each] for each in sorted(said))
        return str(model.invoke([*messages[:-1], ("user", f"I know: {known}")]).text)

    explainer = RuleExplainer(
        RunnableLambda(run),
        contains("Paid"),
        source_kinds=["turns"],
        miner="exact",
        replay_of="next_action",
    )
    return explainer.explain(TURNS)


@pytest.mark.parametrize(
    ("first", "without"),
    [
        (["-1"], ["1"]),
        (["-1"], [" -1\n"]),
        (["a < b"], ["a > b"]),
        (["One?", "Two?"], ["Two?", "One?"]),
        (["One?", "Two?"], ["One?", "One?", "Two?"]),
        (["One?", "Two?"], ["Two?"]),
    ],
    ids=["a sign", "white space", "an operator", "another order", "one twice", "one less"],
)
def test_other_requests_get_no_recorded_reply(first: Sequence[str], without: Sequence[str]) -> None:
    explanation = explained(first, without)
    undecided = {frozenset(each.kept) for each in explanation.probes if not each.answers}
    assert undecided == {frozenset(), frozenset({"turn 1"})}
    assert retention(explanation) == sets(["turn 2"])
    assert omission(explanation) == set()


@pytest.mark.parametrize("asked", [["One?", "Two?"], ["-1"], []])
def test_the_same_requests_get_theirs(asked: Sequence[str]) -> None:
    explanation = explained(asked, asked)
    assert all(each.answers for each in explanation.probes)
    assert {each.claim for each in explanation.rules} == {"proved"}


def of_tools(made: Callable[[str], Callable[[], str]]) -> Explanation:
    """Explains an application that makes its tools first of all. ``made``: makes the tool that looks of
    the conversation."""

    def run(messages: list[Any]) -> str:
        sent, look = list[str](), made(ORDER if "Bonn" in str(messages) else NOTHING)

        def looking() -> str:
            sent.append("look")
            return look()

        def pay() -> str:
            sent.append("pay")
            return "A receipt was printed for the whole sum."

        named = {"look": looking, "pay": pay}
        tools = [
            StructuredTool.from_function(each, name=name, description="Does it.")
            for name, each in named.items()
        ]
        agent: Any = create_agent(Model(tools=tuple(named)), tools)
        found = agent.invoke({"messages": messages})["messages"]
        return " ".join(call["name"] for each in found for call in getattr(each, "tool_calls", ()))

    explainer = RuleExplainer(
        RunnableLambda(run), calls_tool("pay"), source_kinds=["turns"], miner="exact", replay_bound=None
    )
    return explainer.explain(TURNS)


def of_numbered(text: str) -> Callable[[], str]:
    return of_client(text, Numbered)


def of_numbered_order(_: str) -> Callable[[], str]:
    return of_numbered(ORDER)


def of_order(_: str) -> Callable[[], str]:
    return of_client(ORDER)


@pytest.mark.parametrize(
    ("made", "undecided", "claim"),
    [
        (of_client, 2, "proved"),
        (of_list, 2, "proved"),
        (of_numbered, 2, "unverified"),
        (of_order, 0, "proved"),
        (of_numbered_order, 0, "unverified"),
    ],
    ids=["client", "list", "numbered client", "the same client", "the same, numbered"],
)
def test_tools_made_of_the_conversation_are_others(
    made: Callable[[str], Callable[[], str]], undecided: int, claim: str
) -> None:
    explanation = of_tools(made)
    verdicts = [each.verdicts.values() for each in explanation.probes]
    assert sum(any(each.verdict is Verdict.UNKNOWN for each in some) for some in verdicts) == undecided
    assert {each.claim for each in explanation.rules} == {claim}
    assert retention(explanation) == (sets(["turn 2"]) if undecided else sets([]))
    assert omission(explanation) == set()
