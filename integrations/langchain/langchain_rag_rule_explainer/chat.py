"""This module makes replays that only call a chat model, with question and sources in one prompt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from langchain_core.language_models.chat_models import BaseChatModel

from rag_rule_explainer import Answer, Settings, Source
from rag_rule_explainer.instrumentation.answered import CALLS_ONLY, fault_in, with_calls, with_spent
from rag_rule_explainer.instrumentation.run_failures import failed_reply, failing, unusable
from rag_rule_explainer.testing.prompts import qa_prompt

from .reading import answer_in
from .watching import Watch, watched_by

Prompt: TypeAlias = Callable[[str, Sequence[str]], str]
Messages: TypeAlias = Callable[[str, Sequence[Source]], Sequence[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class ChatReplay:
    """A ``ChatReplay`` is a replay that calls a chat model.

    ``accept_finish_reasons``: finish reasons other than the usual ones with which a reply also counts as
    complete. ``prompt``: writes the prompt for a question and passages. ``messages``: writes the messages
    of a chat for a question and sources instead; None to send the prompt.
    """

    model: BaseChatModel
    accept_finish_reasons: tuple[str, ...] = ()
    prompt: Prompt = qa_prompt
    messages: Messages | None = None

    def __call__(self, question: str, sources: Sequence[Source]) -> Answer:
        """Returns the model's answer. Raises UnusableReply if the reply is not a complete answer."""
        watch = Watch(accepts=self.accept_finish_reasons)
        with failing(watch), watched_by(watch):
            if self.messages is None:
                reply = self.model.invoke(self.prompt(question, [source.passage for source in sources]))
            else:
                reply = self.model.invoke(list(self.messages(question, sources)))
        if watch.fault:
            raise failed_reply(watch.fault, watch)
        answer = with_calls(with_spent(answer_in(reply), watch), watch)
        fault = fault_in(answer, watch)
        if fault and answer.calls:
            # The reply has tool calls and no text. Only the explainer knows whether its condition is
            # about tool calls: if so, such a reply is an answer, otherwise the explainer refuses it.
            return replace(answer, finish_reason=CALLS_ONLY)
        if fault:
            raise unusable(fault, watch, passing=True)
        return answer


def chat_replay(
    model: BaseChatModel,
    *,
    allow_length: bool = False,
    accept_finish_reasons: tuple[str, ...] = (),
    prompt: Prompt = qa_prompt,
    messages: Messages | None = None,
) -> Callable[[str, Sequence[Source]], Answer]:
    """Returns a replay for ``rag_rule_explainer.Explainer`` that sends one prompt, by default this
    package's own.

    This prompt asks the model to infer the answer from the sources, to reply with the final answer only,
    and to reply "N/A" if the sources do not answer the question. A reply that is empty, incomplete,
    refused, filtered or cut off at its length limit is no answer. ``allow_length=True`` accepts replies
    that were cut off. ``accept_finish_reasons``: finish reasons other than the usual ones with which a
    reply also counts as an answer. ``prompt``: a function that gets the question and the texts of the
    sources, and returns the prompt. ``messages``: a function that gets the question and the sources, and
    returns (role, text) pairs to send instead of a prompt.
    """
    accepted = Settings(accept_finish_reasons=accept_finish_reasons).accepting(length=allow_length)
    return ChatReplay(model, accepted.accept_finish_reasons, prompt, messages)
