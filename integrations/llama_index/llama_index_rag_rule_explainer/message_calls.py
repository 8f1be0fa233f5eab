"""This module reads the tool calls in models' replies, and what became of them: which were answered by
results of tools, and which the application may have carried out itself, as plain functions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, MessageRole
from pydantic import BaseModel

from rag_rule_explainer.instrumentation.engine import Said
from rag_rule_explainer.instrumentation.requests.exchanges import moment
from rag_rule_explainer.instrumentation.requests.unrecorded_tools import note_answered_calls
from rag_rule_explainer.instrumentation.run_context import Participation, UnrecordedTool, participation

_RESULTS = (MessageRole.TOOL, MessageRole.FUNCTION)
_NOT_FOUND = "Tool {name} not found. Please select a tool that is available."
"""The text that an agent of LlamaIndex gives its model for a call of a tool that it does not have."""
_IDS = ("id", "call_id", "tool_id", "tool_call_id")


class _Calling(NamedTuple):
    """A ``_Calling`` is a reply of a model with the tools that it calls. ``number``: the number of the
    replies up to it; ``calls``: the ids (empty if there is none) and the names."""

    number: int
    at: int
    within: tuple[str, ...]
    calls: Sequence[tuple[str, str]]


@dataclass(slots=True, eq=False)
class CallsOfRun:
    """A ``CallsOfRun`` holds the tool calls in the replies of the models of one run.

    ``structured``: the names of classes of which models give objects, which they may do by a tool call;
    no tool runs for it.
    """

    structured: set[str] = field(default_factory=set[str])
    _replies: list[_Calling] = field(default_factory=list[_Calling])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _not_run: set[str] = field(default_factory=set[str])

    def note_made(
        self, response: ChatResponse | CompletionResponse | None, said: Said, number: int
    ) -> None:
        """Records the calls in a model's reply. ``number``: the number of the replies up to it."""
        ids = list(_ids_in(response.message)) if isinstance(response, ChatResponse) else []
        names = [each.name for each in said.called]
        ids += [""] * (len(names) - len(ids))
        calls = list(zip(ids, names, strict=False))
        self._names.update({identity: name for identity, name in calls if identity})
        self._names.update({name: name for identity, name in calls if not identity})
        self._replies.append(_Calling(number, moment(), said.within, calls))

    def note_not_run(self, result: ToolCallResult) -> None:
        """Records that an agent of LlamaIndex answered a call without running anything, as it has no such
        tool."""
        output = result.tool_output
        is_unknown = output.is_error and output.content == _NOT_FOUND.format(name=result.tool_name)
        if is_unknown and output.raw_output is None:
            self._not_run.add(result.tool_id)

    def note_answers(self, messages: Sequence[ChatMessage]) -> None:
        """Records on the current run which of the calls are answered in a request; see
        ``note_answered_calls``."""
        run = participation()
        if run is not None and self._names:
            own = {*run.own_tools, *self.structured}
            answered = [each for each in self._answered(messages) if each[0] not in own]
            note_answered_calls(run, answered)

    def _answered(self, messages: Sequence[ChatMessage]) -> Iterator[tuple[str, str]]:
        """Yields the name of the tool and the text of each result."""
        for each in messages:
            if each.role in _RESULTS:
                beside = each.additional_kwargs
                identity = str(next((beside[key] for key in _IDS if beside.get(key)), beside.get("name")))
                if identity in self._names and identity not in self._not_run:
                    yield self._names[identity], str(each.content)

    def note_open(self, run: Participation, output: Any) -> None:
        """Records the tools that the models of a first run called, and of which nothing shows what the
        application did: no tool of the name ran, or none ran after the last reply, and no later request
        has its result. A plain function may have run then. This is not so for calls that the application
        returns. ``output``: that of the run."""
        ran = {each.call.name for each in run.executed} | run.own_tools | self.structured
        last = {each.within: each for each in self._replies}
        for each in self._replies:
            is_last = last[each.within] is each
            kept = _returned_in(output, each.calls) if is_last else set[str]()
            after = Counter(one.call.name for one in run.executed if one.before >= each.number)
            for identity, name in each.calls:
                is_run = name in ran and (not is_last or name in run.own_tools | self.structured)
                if is_last and after[name]:
                    after[name] -= 1
                    is_run = True
                if not is_run and identity not in self._not_run and name not in kept:
                    run.unmarked.add(UnrecordedTool(name, each.within, each.at, is_seen=False))


def _ids_in(message: ChatMessage) -> Iterator[str]:
    """Yields the id of each tool call of a message, in the order of ``called_in``; an empty text for a
    call that has none."""
    blocks: list[Any] = [each for each in message.blocks if each.block_type == "tool_call"]
    beside: Any = message.additional_kwargs.get("tool_calls") or ()
    for each in blocks or cast("Sequence[Any]", beside):
        entries: Any = each.model_dump(warnings=False) if isinstance(each, BaseModel) else each
        known = cast("Mapping[str, Any]", entries) if isinstance(entries, Mapping) else {}
        # A call of OpenAI's Responses API has two ids, and its result names this one.
        keys = ("call_id", *_IDS)
        yield next((str(known[key]) for key in keys if known.get(key)), "")


def _returned_in(output: Any, calls: Sequence[tuple[str, str]]) -> set[str]:
    """Returns the names of those calls that the application returns as they are, as a reply of the model
    or as what was selected of it."""
    output = getattr(output, "result", output)
    if isinstance(output, ChatResponse):
        output = output.message
    if isinstance(output, ChatMessage):
        ids = set(_ids_in(output))
        return {name for identity, name in calls if identity in ids}
    selected = cast("Sequence[Any]", output) if isinstance(output, (list, tuple)) else ()
    names = {getattr(each, "tool_name", None) for each in selected}
    return {name for _, name in calls if name in names}
