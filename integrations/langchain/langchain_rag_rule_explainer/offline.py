"""This module defines a LangChain chat model that needs no API key, for demos and tests."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from typing_extensions import override

from rag_rule_explainer.instrumentation.offline import offline_answer


class OfflineChatModel(BaseChatModel):
    """This chat model answers a question with words from the passages in its prompt, or with "N/A".

    It calls no language model. It finds the question and the passages in the messages by ``parse_prompt``
    of ``rag_rule_explainer.testing.prompts``. The same messages always get the same answer. Raises
    ValueError for a prompt without a question.
    """

    @property
    @override
    def _llm_type(self) -> str:
        return "rag-rule-offline-reader"

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = AIMessage(
            content=offline_answer("\n\n".join(message.text for message in messages)),
            response_metadata={"finish_reason": "stop", "model_name": self._llm_type},
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])
