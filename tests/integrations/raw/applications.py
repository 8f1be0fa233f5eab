"""Applications that ask a raw client, and show a model what it returns, in both frameworks."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer as ChainExplainer
from langchain_rag_rule_explainer import gate as gate_chain
from llama_index_rag_rule_explainer import RuleExplainer as EngineExplainer
from llama_index_rag_rule_explainer import gate as gate_engine

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD
from tests.integrations.langchain.models import Telling as ChatModel
from tests.integrations.llama_index.models import Telling as Llm

Shown = Callable[[Any], list[str]]
"""The texts in a response, read as an application reads it."""


def _shown(texts: list[str]) -> str:
    return "\n\n".join(texts) or "nothing"


def explained(
    framework: str,
    search: Callable[[str], Any],
    shown: Shown,
    explain: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Explanation:
    """The rules of an application that searches, and shows a model all that was found.

    ``explain``: what is explained beside the question.
    """
    if framework == "langchain":
        chat = ChatModel()
        chain: Any = RunnableLambda(
            lambda question: chat.invoke(_shown(shown(search(str(question))))).text
        )
        return ChainExplainer(chain, predicate=BAD, **parameters).explain("why?", **(explain or {}))
    llm = Llm()
    return EngineExplainer(
        lambda question: str(llm.complete(_shown(shown(search(question))))), predicate=BAD, **parameters
    ).explain("why?", **(explain or {}))


async def aexplained(
    framework: str, search: Callable[[str], Awaitable[Any]], shown: Shown, **parameters: Any
) -> Explanation:
    """The same of one whose client is async."""
    if framework == "langchain":
        chat = ChatModel()

        async def ask(question: str) -> str:
            return (await chat.ainvoke(_shown(shown(await search(question))))).text

        return await ChainExplainer(ask, predicate=BAD, **parameters).aexplain("why?")
    llm = Llm()

    async def complete(question: str) -> str:
        return str(await llm.acomplete(_shown(shown(await search(question)))))

    return await EngineExplainer(complete, predicate=BAD, **parameters).aexplain("why?")


GATES: dict[str, Callable[..., Any]] = {"langchain": gate_chain, "llama_index": gate_engine}
FRAMEWORKS = tuple(GATES)
