"""A chat model as something to explain: question and sources in one prompt, the answer back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.language_models.chat_models import BaseChatModel

from rag_rule_explainer import Answer, Settings, Source
from rag_rule_explainer.instrumentation.run_context import (
    failed_reply,
    failing,
    fault_in,
    unusable,
    with_spent,
)
from rag_rule_explainer.testing.prompts import qa_prompt

from .reading import answer_in
from .watching import Watch, watched_by


@dataclass(frozen=True, slots=True)
class ChatReplay:
    """A ChatReplay asks a chat model. ``accept_finish_reasons``: of what counts beside whole replies."""

    model: BaseChatModel
    accept_finish_reasons: tuple[str, ...] = ()

    def __call__(self, question: str, sources: Sequence[Source]) -> Answer:
        """Returns the model's answer. Raises UnusableReply for a reply that is none."""
        watch = Watch(accepts=self.accept_finish_reasons)
        with failing(watch), watched_by(watch):
            reply = self.model.invoke(qa_prompt(question, [source.passage for source in sources]))
        if watch.fault:
            raise failed_reply(watch.fault, watch)
        answer = with_spent(answer_in(reply), watch)
        fault = fault_in(answer, watch)
        if fault:
            raise unusable(fault, watch, passing=True)
        return answer


def chat_replay(
    model: BaseChatModel, *, allow_length: bool = False, accept_finish_reasons: tuple[str, ...] = ()
) -> Callable[[str, Sequence[Source]], Answer]:
    """Returns a replay for ``rag_rule_explainer.Explainer`` that asks the model with the package's own
    prompt.

    The prompt asks for the final answer alone, inferred from the sources, and "N/A" where it cannot be.
    A reply that is empty, half, refused, filtered or cut off at its length limit is none;
    ``allow_length`` takes the last. ``accept_finish_reasons``: see ``Settings``.
    """
    accepted = Settings(accept_finish_reasons=accept_finish_reasons).accepting(length=allow_length)
    return ChatReplay(model, accepted.accept_finish_reasons)
