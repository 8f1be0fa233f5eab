"""A chat model as something to explain: question and sources in one prompt, the answer back."""

from collections.abc import Callable, Sequence

from langchain_core.language_models.chat_models import BaseChatModel

from rag_rule_explainer import Answer, Source
from rag_rule_explainer.reader import qa_prompt
from rag_rule_explainer.wrapping.participation import failed_reply, failing, with_spent

from .reading import answer_in
from .watching import Watch, watched_by


def chat_replay(
    model: BaseChatModel, *, allow_length: bool = False
) -> Callable[[str, Sequence[Source]], Answer]:
    """A replay for ``rag_rule_explainer.Explainer`` that asks the model with the package's own prompt.

    The prompt asks for the final answer alone, inferred from the sources, and "N/A" where it cannot be.
    A reply that is empty, half, or cut off at its length limit is none; ``allow_length`` takes the last.
    """

    def replay(question: str, sources: Sequence[Source]) -> Answer:
        watch = Watch(allow_length=allow_length)
        with failing(watch), watched_by(watch):
            reply = model.invoke(qa_prompt(question, [source.passage for source in sources]))
        if watch.fault:
            raise failed_reply(watch.fault, watch)
        return with_spent(answer_in(reply), watch)

    return replay
