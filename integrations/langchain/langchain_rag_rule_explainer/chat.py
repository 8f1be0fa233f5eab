"""This module makes a chat model a replay: it sends question and sources in one prompt."""

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
    """A ``ChatReplay`` is a replay that calls a chat model.

    ``accept_finish_reasons``: the finish reasons that count as those of whole replies, beside the usual.
    """

    model: BaseChatModel
    accept_finish_reasons: tuple[str, ...] = ()

    def __call__(self, question: str, sources: Sequence[Source]) -> Answer:
        """Returns the model's answer. Raises UnusableReply for a reply that is no whole answer."""
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
    """Returns a replay for ``rag_rule_explainer.Explainer`` that sends the package's own prompt.

    The prompt asks for the final answer alone, inferred from the sources, or else "N/A". A reply that is
    empty, incomplete, refused, filtered or cut off at its length limit is no answer;
    ``allow_length=True`` accepts a reply that was cut off. ``accept_finish_reasons``: see ``Settings``.
    """
    accepted = Settings(accept_finish_reasons=accept_finish_reasons).accepting(length=allow_length)
    return ChatReplay(model, accepted.accept_finish_reasons)
