"""All shapes of agents, and the table of the documentation that says what is true of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from plain_rag_rule_explainer import RuleExplainer as OfPlain

from tests.agents.zoo import of_langchain, of_openai
from tests.agents.zoo.shapes import Shape

EXPLAINERS: Mapping[str, Callable[..., Any]] = {"LangChain": OfLangChain, "plain Python": OfPlain}
SHAPES: Mapping[str, Sequence[Shape]] = {
    "LangChain": of_langchain.SHAPES,
    "plain Python": of_openai.SHAPES,
}
