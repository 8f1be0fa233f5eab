"""This module reads the tool calls in models' replies, and the results with which they were answered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, MessageRole
from pydantic import BaseModel

from rag_rule_explainer import ToolCall
from rag_rule_explainer.instrumentation.clients.fields import mapping_in
from rag_rule_explainer.instrumentation.requests.unrecorded_tools import note_answers
from rag_rule_explainer.instrumentation.run_context import participation

from .responses import called_in

_RESULTS = (MessageRole.TOOL, MessageRole.FUNCTION)
_NOT_FOUND = "Tool {name} not found. Please select a tool that is available."
"""The text that an agent of LlamaIndex gives its model for a call of a tool that it does not have."""
_IDS = ("id", "call_id", "tool_id", "tool_call_id")


@dataclass(slots=True, eq=False)
class CallsOfModels:
    """A ``CallsOfModels`` records on the current run which tools models call, and with which results.

    ``structured``: the names of the classes of structured answers. A model may give such an answer as a
    tool call that has the name of the class; no tool runs for this call.
    """

    structured: set[str] = field(default_factory=set[str])

    def note_reply(
        self, response: ChatResponse | CompletionResponse | None, span: str | None
    ) -> tuple[ToolCall, ...]:
        """Records the calls in a model's reply for which the application is to run tools. Returns the
        other calls, which are structured answers. ``response``: the reply, or the part of it that has
        arrived. ``span``: the id of the request's span."""
        run = participation()
        if run is None or not isinstance(response, ChatResponse):
            return ()
        calls = called_in(response)
        ids = [*_ids_in(response.message), *("" for _ in calls)]
        made = [
            # Some models give calls no ids. The name of the tool is then used, because the result has it
            # in place of an id.
            (identity or call.name, call)
            for identity, call in zip(ids, calls, strict=False)
            if call.name not in self.structured
        ]
        run.calls.note_reply(object() if span is None else span, made)
        return tuple(each for each in calls if each.name in self.structured)

    @staticmethod
    def note_result(result: ToolCallResult) -> None:
        """Records that an agent of LlamaIndex ran nothing for a call, if the result says that the agent
        has no such tool."""
        run, output = participation(), result.tool_output
        is_unknown = output.is_error and output.content == _NOT_FOUND.format(name=result.tool_name)
        if run is not None and is_unknown and output.raw_output is None:
            run.calls.note_settled(result.tool_id)

    @staticmethod
    def note_request(messages: Sequence[ChatMessage]) -> None:
        """Records the results of tool calls that the messages of a request contain. Such a result shows
        that a tool ran, even if it was not recorded."""
        run = participation()
        if run is not None:
            note_answers(run, _results_in(messages))


def _results_in(messages: Sequence[ChatMessage]) -> Iterator[tuple[str, str]]:
    for each in messages:
        if each.role in _RESULTS:
            beside = each.additional_kwargs
            identity = next((beside[key] for key in _IDS if beside.get(key)), beside.get("name"))
            yield str(identity or ""), str(each.content)


def _ids_in(message: ChatMessage) -> Iterator[str]:
    """Yields the id of each tool call of a message, in the order of ``called_in``; an empty text for a
    call that has none."""
    blocks: list[Any] = [each for each in message.blocks if each.block_type == "tool_call"]
    beside: Any = message.additional_kwargs.get("tool_calls") or ()
    for each in blocks or cast("Sequence[Any]", beside):
        entries: Any = each.model_dump(warnings=False) if isinstance(each, BaseModel) else each
        known = mapping_in(entries)
        # A call of OpenAI's Responses API has two ids. The result of the call names its ``call_id``, so
        # this id is looked for first.
        keys = ("call_id", *_IDS)
        yield next((str(known[key]) for key in keys if known.get(key)), "")
