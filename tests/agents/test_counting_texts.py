"""Texts of tools that count and number their items, against what the tool writes about fewer items."""

import json
import re
from collections.abc import Callable, Collection
from itertools import chain, combinations
from typing import Any, Literal

import pytest

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from langchain.agents import create_agent
from langchain_core.tools import tool as langchain_tool
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain
from plain_rag_rule_explainer import offline_client
from plain_rag_rule_explainer import tool as plain_tool

from rag_rule_explainer import Explanation, calls_tool
from tests.agents.paying import MAILS, Obeys, Paying, in_steps, pay
from tests.integrations.known import omission, retention
from tests.integrations.llama_index.models import Telling

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
HEADING = "heading"
Write = Callable[[Collection[str]], str]


def headed(kept: Collection[str]) -> str:
    mails = [each for each in MAILS if each in kept]
    heading = f"Found {len(mails)} new mails in the inbox:\n" if HEADING in kept else ""
    return heading + "\n".join(f"{number}. {each}" for number, each in enumerate(mails, start=1))


def closed(kept: Collection[str]) -> str:
    mails = [each for each in MAILS if each in kept]
    return "\n".join(f"- {each}" for each in mails) + f"\n\n{len(mails)} results"


def labelled(kept: Collection[str]) -> str:
    mails = [each for each in MAILS if each in kept]
    return "\n\n".join(f"Result {number}: {each}" for number, each in enumerate(mails, start=1))


def counts_two(text: str) -> bool:
    """Returns True iff the text says that there are two or more mails, and has the bill."""
    found = re.search(r"Found (\d+)|(\d+) results", text)
    return found is not None and int(found[1] or found[2]) >= 2 and "bill of Ann Lee" in text


def is_second(text: str) -> bool:
    """Returns True iff the bill is the mail with the number 2."""
    return re.search(r"(?:2\.|Result 2:) Please pay the bill", text) is not None


def inbox_of(text: str) -> tuple[Callable[[], str], Callable[[], str]]:
    def inbox() -> str:
        """Reads the mails."""
        return text

    return inbox, pay


def of_langchain(text: str, obeys: Obeys, **options: Any) -> Explanation:
    agent: Any = create_agent(Paying(obeys=obeys), [langchain_tool(each) for each in inbox_of(text)])
    explainer = OfLangChain(agent, calls_tool("pay"), source_kinds=["tools"], **options)
    return explainer.explain({"messages": [("user", "what is new?")]})


def of_llama_index(text: str, obeys: Obeys, **options: Any) -> Explanation:
    agent = ReActAgent(
        tools=list(map(FunctionTool.from_defaults, inbox_of(text))), llm=Telling(says=in_steps(obeys))
    )
    explainer = OfLlamaIndex(agent, calls_tool("pay"), source_kinds=["tools"], **options)
    return explainer.explain("what is new?")


def of_plain(text: str, obeys: Obeys, **options: Any) -> Explanation:
    tools = {each.__name__: plain_tool(each) for each in inbox_of(text)}

    def says(body: Any) -> Any:
        told = [str(each["content"]) for each in body["messages"] if each["role"] == "tool"]
        name = "inbox" if not told else "pay" if len(told) < 2 and obeys(told[0]) else ""
        if not name:
            return "All of it is done now."
        call = {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps({})}}
        return {"tool_calls": [call]}

    client = offline_client(says)

    def application(question: str) -> str:
        messages: list[Any] = [{"role": "user", "content": question}]
        while True:
            message: Any = client.chat.completions.create(model="m", messages=messages).choices[0].message
            if not message.tool_calls:
                return str(message.content)
            messages.append(message.model_dump(exclude_none=True))
            for each in message.tool_calls:
                content = tools[each.function.name]()
                messages.append({"role": "tool", "tool_call_id": each.id, "content": content})

    return OfPlain(application, calls_tool("pay"), source_kinds=["tools"], **options).explain(
        "what is new?"
    )


FRAMEWORKS = {"langchain": of_langchain, "llama_index": of_llama_index, "plain": of_plain}
Way = Literal["next_action", "whole_run"]


def truth(write: Write, obeys: Obeys, named: dict[str, str]) -> tuple[Any, Any]:
    """The smallest rules, by asking the tool itself for every part of its text. ``named``: the id of each
    part."""
    subsets = [*chain.from_iterable(combinations(named, size) for size in range(len(named) + 1))]
    holds = {frozenset(named[part] for part in each): obeys(write(each)) for each in subsets}
    keeping = {one for one in holds if all(holds[other] for other in holds if one <= other)}
    lacking = {one for one in holds if not any(holds[other] for other in holds if not one & other)}
    smallest = [
        {one for one in several if not any(o < one for o in several)} for several in (keeping, lacking)
    ]
    return smallest[0], smallest[1]


@pytest.mark.parametrize(
    ("framework", "way"),
    [
        ("langchain", "next_action"),
        ("plain", "next_action"),
        ("llama_index", "whole_run"),
        pytest.param("langchain", "whole_run", marks=pytest.mark.slow),
        pytest.param("plain", "whole_run", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    ("write", "obeys"),
    [(headed, counts_two), (headed, is_second), (closed, counts_two), (labelled, is_second)],
)
def test_rules_by_numbers_are_those_of_the_tool(
    framework: str, write: Write, obeys: Obeys, way: Way
) -> None:
    parts = (HEADING, *MAILS)
    named = {each: f"inbox #1, item {number}" for number, each in enumerate(MAILS, start=1)}
    if write is headed:
        named[HEADING] = "inbox #1, heading"
    explanation = FRAMEWORKS[framework](write(parts), obeys, replay_of=way, miner="exact")
    assert (retention(explanation), omission(explanation)) == truth(write, obeys, named)
    assert not explanation.warnings
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert not any("did not reach the model" in str(each) for each in explanation.notes)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_blanked_keeps_the_numbers(framework: str) -> None:
    text = headed((HEADING, *MAILS))
    explanation = FRAMEWORKS[framework](text, counts_two, omit="blank", miner="exact")
    both = {"inbox #1, heading", "inbox #1, item 2"}
    assert retention(explanation) == {frozenset(both)}
    assert omission(explanation) == {frozenset({each}) for each in both}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_nothing_is_proved_where_a_number_is_in_doubt(framework: str) -> None:
    text = headed((HEADING, *MAILS)).replace("Found 3 new mails in the inbox", "Top 3 of Friday")

    def obeys(told: str) -> bool:
        return "3 of Friday" in told and "bill of Ann Lee" in told

    explain = FRAMEWORKS[framework]
    explanation = explain(text, obeys)
    assert "inbox #1, heading ('Top 3 of Friday:') may count the items" in explanation.warnings[0]
    assert {each.claim for each in explanation.rules} == {"unverified"}
    assert not explain(text, obeys, ignore=[r"Top 3 of Friday:"]).warnings


@pytest.mark.parametrize("heading", ["Room 3", "Mails of the last 3 days", "Mails of March 3"])
def test_a_number_that_means_another_thing_is_no_doubt(heading: str) -> None:
    text = headed((HEADING, *MAILS)).replace("Found 3 new mails in the inbox", heading)
    explanation = of_langchain(text, lambda told: f"{heading}:" in told and "bill of" in told)
    assert retention(explanation) == {frozenset({"inbox #1, heading", "inbox #1, item 2"})}
    assert not explanation.warnings


def sums_up(told: str) -> bool:
    return '"total": 350' in told and "bill of Ann Lee" in told


@pytest.mark.parametrize("way", ["next_action", pytest.param("whole_run", marks=pytest.mark.slow)])
@pytest.mark.parametrize("framework", ["langchain", "plain"])
def test_nothing_is_proved_where_a_field_may_be_made_of_items(framework: str, way: Way) -> None:
    text, explain = json.dumps({"total": 350, "mails": MAILS}), FRAMEWORKS[framework]
    explanation = explain(text, sums_up, replay_of=way)
    assert "'total' in the result of the tool 'inbox'" in explanation.warnings[0]
    assert {each.claim for each in explanation.rules} == {"unverified"}
    named = explain(text, sums_up, replay_of=way, ignore=[r"inbox\.total"])
    assert retention(named) == {frozenset({"inbox #1, item 2"})}
    assert not named.warnings


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_nothing_is_proved_where_each_item_says_how_many_there_are(framework: str) -> None:
    text = "\n".join(f"Mail {number} of 3: {each}" for number, each in enumerate(MAILS, start=1))

    def obeys(told: str) -> bool:
        return "of 3" in told and "bill of Ann Lee" in told

    explain = FRAMEWORKS[framework]
    explanation = explain(text, obeys)
    assert "'of' in the result of the tool 'inbox'" in explanation.warnings[0]
    assert {each.claim for each in explanation.rules} == {"unverified"}
    named = explain(text, obeys, ignore=[r"inbox\.of"])
    assert retention(named) == {frozenset({"inbox #1, item 2"})}
    assert not named.warnings


def test_llama_index_has_the_same_doubts() -> None:
    text = headed((HEADING, *MAILS)).replace("Found 3 new mails in the inbox", "Status: RED")

    def obeys(told: str) -> bool:
        return "RED" in told and "bill of Ann Lee" in told

    explanation = of_llama_index(text, obeys)
    assert "'heading' in the result of the tool 'inbox'" in explanation.warnings[0]
    assert not of_llama_index(text, obeys, ignore=[r"inbox\.heading"]).warnings
