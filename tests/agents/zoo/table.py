"""All shapes of agents, and the table of the documentation that says what is true of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain

from tests.agents.zoo import of_deepagents, of_langchain, of_langgraph, of_llama_index, of_openai
from tests.agents.zoo.shapes import Shape
from tests.integrations.tables import table

EXPLAINERS: Mapping[str, Callable[..., Any]] = {
    "LangChain": OfLangChain,
    "LlamaIndex": OfLlamaIndex,
    "plain Python": OfPlain,
}
SHAPES: Mapping[str, Sequence[Shape]] = {
    "LangChain": (*of_langchain.SHAPES, *of_langgraph.SHAPES),
    "LlamaIndex": of_llama_index.SHAPES,
    "plain Python": of_openai.SHAPES,
}


def outcome_table() -> str:
    """A row for each shape: its kinds of sources, and what comes of either way to replay."""
    shapes = [*(each for several in SHAPES.values() for each in several), *of_deepagents.SHAPES]
    rows = [
        (each.name, [", ".join(each.kinds), outcome(each, "whole_run"), outcome(each, "next_action")])
        for each in shapes
    ]
    return table(["sources", "whole run", "next action"], rows)


def outcome(shape: Shape, way: Any) -> str:
    """The rules, or the named refusal."""
    refusal = shape.refused.get(way)
    return f"`{refusal[0].__name__}`" if refusal is not None else "✓" if way in shape.ways else ""
