"""This module reads the tool calls in messages, and the results with which tools answered them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from rag_rule_explainer import ToolCall
from rag_rule_explainer.instrumentation.clients.fields import mapping_in
from rag_rule_explainer.instrumentation.requests.built_in_calls import BuiltInCall, BuiltInTypes
from rag_rule_explainer.instrumentation.requests.unrecorded_tools import note_answers, note_remote
from rag_rule_explainer.instrumentation.run_context import participation

Entries = Mapping[str, Any]
_FORMAT = "ls_structured_output_format"
"""The option of a request by which ``with_structured_output`` says that a call in the reply is an answer
in a structured form."""
_BUILT_IN = BuiltInTypes(
    # Types of content blocks: first those of Anthropic and of LangChain's standard content.
    named=frozenset({"server_tool_use", "server_tool_call"}),
    over_mcp=frozenset({"mcp_tool_use", "mcp_call"}),
    # Types of content blocks in messages of OpenAI's models.
    by_provider=frozenset(
        {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    ),
    by_application=frozenset({"computer_call", "local_shell_call", "shell_call", "apply_patch_call"}),
    told=("action", "operation", "query", "queries", "code"),
    untold=frozenset({"sources"}),
)
_CODE = "executable_code"
"""The type of a content block with code that Gemini runs."""


@dataclass(slots=True, eq=False)
class CallsOfModels:
    """A ``CallsOfModels`` records on the current run which tools models call, and with which results."""

    _forms: dict[object, Entries] = field(default_factory=dict[object, Entries])

    def note_request(self, messages: Sequence[BaseMessage], event: Entries) -> None:
        """Records the results of earlier tool calls, which the messages of a request to a model contain.
        ``event``: the keywords of LangChain's event at the start of the request."""
        form = mapping_in(mapping_in(event.get("options")).get(_FORMAT))
        if form:
            self._forms[event.get("run_id")] = form
        run = participation()
        if run is not None:
            note_answers(run, _results_in(messages))

    def note_reply(self, message: BaseMessage | None, run_id: object) -> None:
        """Records the calls in a model's reply for which the application is to run tools. ``message``:
        the reply, or the part of it that has arrived. ``run_id``: LangChain's id of the request."""
        run = participation()
        if run is None or not isinstance(message, AIMessage):
            return
        structured = self.structured(message, run_id)
        made = [each for each in _identified(message) if each[1] not in structured]
        run.calls.note_reply(run_id, made)
        note_remote(run, {each.call.name for each in _built_in(message) if each.over_mcp})

    @staticmethod
    def note_step(name: object, metadata: Entries) -> None:
        """Records that a step of a graph begins, if the run that begins is a node of a graph.

        ``name``: the name of the run. ``metadata``: the metadata of LangChain's event. The run is a node
        iff ``name`` is the name of the node in ``metadata``.
        """
        run = participation()
        if run is not None and name is not None and name == metadata.get("langgraph_node"):
            run.calls.note_step()

    def structured(self, message: BaseMessage | None, run_id: object) -> tuple[ToolCall, ...]:
        """Returns the tool calls in a model's reply that are no real calls, but the model's answer in a
        structured form. No tool is run for them.

        Returns an empty tuple if there are none, or if ``message`` is no reply of a model. ``run_id``:
        LangChain's id of the request.
        """
        form = self._forms.get(run_id)
        if form is None or not isinstance(message, AIMessage):
            return ()
        by_call = mapping_in(form.get("kwargs")).get("method") == "function_calling"
        title = mapping_in(form.get("schema")).get("title")
        return tuple(each for _, each in _identified(message) if by_call or each.name == title)


def _results_in(messages: Sequence[BaseMessage]) -> Iterator[tuple[str, str]]:
    for each in messages:
        if isinstance(each, ToolMessage):
            yield each.tool_call_id, str(each.text)


def _identified(message: AIMessage) -> Iterator[tuple[str, ToolCall]]:
    """Yields each tool call of a message, together with its id, which is empty if the call has none.
    Calls of tools that the provider itself has run are left out. If LangChain has found no call, yields
    the call under OpenAI's old key ``function_call``."""
    calls: list[Entries] = [*message.tool_calls, *message.invalid_tool_calls]
    former = mapping_in(message.additional_kwargs.get("function_call"))
    if not calls and former:
        calls = [{"name": former.get("name"), "args": former.get("arguments")}]
    for each in calls:
        yield str(each.get("id") or ""), ToolCall.written(each.get("name"), each.get("args"))
    for each in _built_in(message):
        if not each.by_provider:
            yield each.identity, each.call


def called_in(message: AIMessage) -> tuple[ToolCall, ...]:
    """Returns the tool calls of a message: first those of tools that the provider of the model has run
    itself, then the others."""
    return (*run_by_the_provider(message), *(call for _, call in _identified(message)))


def run_by_the_provider(message: AIMessage) -> tuple[ToolCall, ...]:
    """Returns the tool calls in a message of tools that the provider of the model has run itself."""
    return tuple(each.call for each in _built_in(message) if each.by_provider)


def _built_in(message: AIMessage) -> Iterator[BuiltInCall]:
    content: Any = cast("Any", message).content
    others: Any = message.additional_kwargs.get("tool_outputs")
    for given in (content, others):
        for each in cast("list[Any]", given if isinstance(given, list) else []):
            part = mapping_in(each)
            found = _code_in(part) if part.get("type") == _CODE else _BUILT_IN.call_in(part)
            if found is not None:
                yield found


def _code_in(part: Entries) -> BuiltInCall:
    code = part.get(_CODE) or part.get("code")
    identity = str(part.get("call_id") or part.get("id") or "")
    return BuiltInCall(identity, ToolCall.written("code_execution", {"code": code}))
