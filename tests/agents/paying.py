"""Agents that read the mails, and pay a bill where what they were told makes them."""

from collections.abc import Callable
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from typing_extensions import override

MAILS = (
    "Lunch is at noon tomorrow, in the small room.",
    "Please pay the bill of Ann Lee by Friday.",
    "See you all on Monday in the morning.",
)
Obeys = Callable[[str], bool]


def pay() -> str:
    """Pays the bill."""
    return "Here is the receipt of the sum that was paid."


class Paying(BaseChatModel):
    """This model calls the tool ``inbox``, and then ``pay`` if ``obeys`` returns True for its result."""

    obeys: Obeys

    @property
    @override
    def _llm_type(self) -> str:
        return "paying"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        told = [str(each.text) for each in messages if isinstance(each, ToolMessage)]
        names = ["inbox"] if not told else ["pay"] if len(told) < 2 and self.obeys(told[0]) else []
        calls: Any = [{"name": each, "args": {}, "id": each} for each in names]
        message = AIMessage("" if names else "All of it is done now.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def in_steps(obeys: Obeys) -> Callable[[str], str]:
    """Returns what the same model says where a prompt asks for thoughts and actions (ReAct)."""

    def says(prompt: str) -> str:
        told = prompt.rpartition("what is new?")[2]
        if "Observation" not in told:
            return "Thought: I look.\nAction: inbox\nAction Input: {}"
        if "receipt" not in told and obeys(told):
            return "Thought: I pay.\nAction: pay\nAction Input: {}"
        return "Thought: I can answer without using any more tools.\nAnswer: All of it is done now."

    return says
