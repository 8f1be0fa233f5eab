"""Models of both frameworks that, as judges, do whatever any answer tells them."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from pydantic import PrivateAttr

from tests.predicates.judge.obedience import Obedience


class ObeyingChatModel(BaseChatModel):
    """A LangChain chat model, which knows no structured output."""

    model_name: str = "obeying"
    _obedience: Obedience = PrivateAttr(default_factory=Obedience)

    @property
    def sizes(self) -> list[int]:
        return self._obedience.sizes

    @property
    def _llm_type(self) -> str:
        return "obeying"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = AIMessage(content=self._obedience.reply(messages[-1].text))
        return ChatResult(generations=[ChatGeneration(message=reply)])


class ObeyingLLM(CustomLLM):
    """A LlamaIndex LLM."""

    _obedience: Obedience = PrivateAttr(default_factory=Obedience)

    @property
    def sizes(self) -> list[int]:
        return self._obedience.sizes

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="obeying")

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        content = self._obedience.reply(messages[-1].content)
        return ChatResponse(message=ChatMessage(role="assistant", content=content))

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError("a judge is asked through chat")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError("a judge is asked through chat")
