"""Applications that ask something else before the next action if an earlier turn is omitted."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, contains
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
        (["a < b"], ["a > b"]),
        (["One?", "Two?"], ["Two?", "One?"]),
        (["One?", "Two?"], ["One?", "One?", "Two?"]),
        (["One?", "Two?"], ["Two?"]),
    ],
    ids=["a sign", "an operator", "another order", "one twice", "one less"],
)
def test_other_requests_get_no_recorded_reply(first: Sequence[str], without: Sequence[str]) -> None:
    explanation = explained(first, without)
    undecided = {frozenset(each.kept) for each in explanation.probes if not each.answers}
    assert undecided == {frozenset(), frozenset({"turn 1"})}
    assert retention(explanation) == sets(["turn 2"])
    assert omission(explanation) == set()


@pytest.mark.parametrize("asked", [["One?", "Two?"], ["-1"], []])
def test_the_same_requests_get_theirs(asked: Sequence[str]) -> None:
    explanation = explained(asked, [f" {each}\n" for each in asked] if len(asked) == 1 else asked)
    assert all(each.answers for each in explanation.probes)
    assert {each.claim for each in explanation.rules} == {"proved"}
