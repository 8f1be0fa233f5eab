"""A chat model as something to explain: question and sources in one prompt, the answer back."""

from collections.abc import Callable, Sequence

from langchain_core.language_models.chat_models import BaseChatModel

from rag_rule_explainer import Answer, Source
from rag_rule_explainer.reader import qa_prompt

from .reading import answer_in


def chat_replay(model: BaseChatModel) -> Callable[[str, Sequence[Source]], Answer]:
    """A replay for ``rag_rule_explainer.Explainer`` that asks the model with the package's own prompt.

    The prompt asks for the final answer alone, inferred from the sources, and "N/A" where it cannot be.
    """

    def replay(question: str, sources: Sequence[Source]) -> Answer:
        return answer_in(model.invoke(qa_prompt(question, [source.passage for source in sources])))

    return replay
