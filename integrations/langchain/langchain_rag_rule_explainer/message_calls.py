"""This module reads the tool calls in messages, and which of them were answered by results of tools."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from rag_rule_explainer import ToolCall
from rag_rule_explainer.instrumentation.requests.unrecorded_tools import note_answered_calls
from rag_rule_explainer.instrumentation.run_context import participation

_STRUCTURED = re.compile(
    r"Returning structured response: .*|Error: .*\n Please fix your mistakes\.", re.DOTALL
)
"""This pattern matches LangChain's whole reply to a call by which a model gives its structured answer. No
tool runs for such a call. A retrieved text that only contains these words must not match."""


@dataclass(slots=True, eq=False)
class CallsOfRun:
    """A ``CallsOfRun`` holds the ids of the tool calls that the models of a run made."""

    _ids: set[str] = field(default_factory=set[str])

    def note_made(self, message: BaseMessage | None) -> None:
        """Records the calls in a model's reply."""
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        self._ids.update(each["id"] for each in calls if each["id"])

    def note_answers(self, messages: Sequence[BaseMessage]) -> None:
        """Records on the current run which of the calls are answered in a request; see
        ``note_answered_calls``."""
        run = participation()
        if run is not None and self._ids:
            note_answered_calls(run, list(self._answered(messages)))

    def _answered(self, messages: Sequence[BaseMessage]) -> Iterator[tuple[str, str]]:
        """Yields the name of the tool and the text of each result. A message with the status "error" is
        none: nothing ran, or the tool says that it failed."""
        calls = [call for each in messages if isinstance(each, AIMessage) for call in each.tool_calls]
        names = {call["id"]: call["name"] for call in calls if call["id"] in self._ids}
        for each in messages:
            if isinstance(each, ToolMessage) and each.tool_call_id in names and each.status != "error":
                text = str(each.text)
                if not _STRUCTURED.fullmatch(text):
                    yield names[each.tool_call_id], text


def called_in(message: AIMessage) -> tuple[ToolCall, ...]:
    """Returns the tool calls of a message, as LangChain normalises them; else the call in the old format
    of OpenAI. Calls whose arguments are no JSON come last, because LangChain keeps them apart."""
    named = [(each.get("name"), each.get("args")) for each in message.tool_calls]
    named += [(each.get("name"), each.get("args")) for each in message.invalid_tool_calls]
    former: Any = message.additional_kwargs.get("function_call")
    if not named and isinstance(former, Mapping):
        entries = cast("Mapping[str, Any]", former)
        named = [(entries.get("name"), entries.get("arguments"))]
    return tuple(ToolCall.written(*each) for each in named)
