"""gate(): searches that cannot be intercepted, as they are outside of an explanation and inside."""

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool
from llama_index_rag_rule_explainer import GatedRetriever, RuleExplainer, gate

from rag_rule_explainer import InvalidInput, condition
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, ids, retention
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.agents import texts_of

pytestmark = pytest.mark.filterwarnings("ignore")
NOTHING = condition(lambda case: "nothing" not in case.answer.text, "something was found")


@pytest.mark.parametrize(
    ("result", "shown", "empty"),
    [
        (TEXTS["a"], lambda found: found or "nothing", ""),
        ({"id": "a", "text": TEXTS["a"]}, lambda found: found["text"] if found else "nothing", None),
        (nodes("a")[0], lambda found: found.get_content() if found else "nothing", None),
        (NodeWithScore(node=nodes("a")[0]), lambda found: found.text if found else "nothing", None),
        ([TEXTS["a"]], lambda found: found[0] if found else "nothing", []),
        ((nodes("a")[0],), lambda found: found[0].text if found else "nothing", ()),
    ],
    ids=["text", "dict", "node", "scored node", "list", "tuple"],
)
def test_a_replay_is_given_what_has_the_form_of_the_real_result(
    result: Any, shown: Any, empty: Any
) -> None:
    given: list[Any] = []

    @gate
    def search(question: str) -> Any:
        return result

    def answer(question: str) -> str:
        given.append(search(question))
        return str(Telling(says=lambda prompt: prompt).complete(shown(given[-1])))

    explanation = RuleExplainer(answer, predicate=NOTHING).explain("why?")
    assert explanation.complete
    assert len(explanation.retention_rules) == 1
    assert {type(each) for each in given if each} == {type(result)}
    # A probe, the last comparison, and one where the list is as it was before the baseline.
    assert [each for each in given if not each] == [empty, empty, empty]


def test_a_tool_that_returns_one_text_found_one_source() -> None:
    def search(query: str) -> str:
        """Finds documents."""
        return "\n\n".join(TEXTS.values())

    prompts: list[str] = []

    def says(prompt: str) -> str:
        prompts.append(prompt)
        return "bad news" if TEXTS["a"] in prompt else "good news"

    agent = FunctionAgent(tools=[gate(FunctionTool.from_defaults(search))], llm=Telling(says=says))
    explanation = RuleExplainer(agent, predicate=BAD).explain("why?")
    assert len(explanation.sources) == len(explanation.retention_rules) == 1
    assert not any("['" in prompt for prompt in prompts)


def test_a_gated_tool_is_the_same_tool_outside_of_an_explanation() -> None:
    def search(query: str) -> str:
        """Finds documents."""
        return query

    tool = FunctionTool.from_defaults(
        search, callback=lambda found: f"called back with {found}", partial_params={"query": "x"}
    )
    gated = gate(tool)
    assert gated is not tool
    assert gated.metadata == tool.metadata
    assert gated.call().content == tool.call().content == "called back with x"
    assert asyncio.run(gated.acall()).content == asyncio.run(tool.acall()).content


def test_a_gate_outside_of_an_explanation_is_the_search_itself() -> None:
    retriever = retriever_of()
    gated = gate(retriever)
    assert isinstance(gated, GatedRetriever)
    assert gate(gated) is gated
    assert [each.node_id for each in gated.retrieve("?")] == list("abd")
    assert [each.node_id for each in asyncio.run(gated.aretrieve("?"))] == list("abd")
    search = gate(retriever.retrieve)
    assert len(search("?")) == 3
    assert search.__name__ == "retrieve"


class Hit:
    """A result of somebody else's."""

    def __init__(self, name: str) -> None:
        self.name = name


def test_items_of_any_kind_are_read_and_made_by_functions_of_the_users() -> None:
    def search(question: str) -> list[Hit]:
        return [Hit(name) for name in "abcd"]

    def item_of(node: Any) -> Hit:
        return Hit(node.node_id)

    found = gate(search, text_of=lambda hit: TEXTS[hit.name], item_of=item_of)

    def answer(question: str) -> str:
        shown = "\n\n".join(TEXTS[hit.name] for hit in found(question))
        return str(Telling().complete(shown or "nothing"))

    explanation = RuleExplainer(answer, predicate=BAD).explain("why?")
    texts = {source.id: source.text for source in explanation.sources}
    assert {frozenset(texts[each] for each in rule) for rule in retention(explanation)} == {
        frozenset({TEXTS["b"], TEXTS["d"]})
    }
    brought = RuleExplainer(answer, predicate=BAD).explain("why?", documents=nodes("abd"))
    assert blames_b_and_d(brought)


def test_what_cannot_be_read_is_told_although_an_agent_swallows_it() -> None:
    def search(query: str) -> list[Hit]:
        """Finds documents."""
        return [Hit("a")]

    agent = FunctionAgent(tools=[gate(FunctionTool.from_defaults(search))], llm=Telling())
    with pytest.raises(InvalidInput, match="text_of="):
        RuleExplainer(agent, predicate=BAD).explain("why?")


def test_texts_without_ids_are_named_by_what_they_say() -> None:
    found = gate(lambda question: [TextNode(text=text) for text in TEXTS.values()])

    def answer(question: str) -> str:
        return str(Telling().complete("\n\n".join(n.text for n in found(question)) or "nothing"))

    explanation = RuleExplainer(answer, predicate=BAD).explain("why?")
    assert len(set(ids(explanation))) == 4
    assert len(explanation.retention_rules[0].sources) == 2
    assert texts_of([]) == ""
