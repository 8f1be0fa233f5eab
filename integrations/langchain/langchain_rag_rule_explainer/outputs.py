"""This module joins the chunks of an output, and attaches rules to outputs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables.utils import AddableDict, Output
from typing_extensions import override

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.outputs import KEY, Explained, Unexplained, rules_in

from .reading import is_graph_output


class _NotKnownYet(InvalidInput, AttributeError):
    """This error is raised if the explanation of a chunk is read. It is an AttributeError, so that
    ``hasattr`` returns False."""


class AnswerChunk(Explained[Output]):
    """An ``AnswerChunk`` is one chunk of an output that is being streamed. ``+`` adds two chunks.

    A chunk has no ``explanation``; only the last item of the stream has one. Reading the attribute
    raises an error that is both an InvalidInput and an AttributeError.
    """

    __slots__ = ()

    def __init__(self, output: Output) -> None:
        object.__setattr__(self, "output", output)

    @override
    def __getattribute__(self, name: str) -> Any:
        if name == "explanation":
            raise _NotKnownYet("the explanation is not known yet; it comes with the stream's last chunk")
        return super().__getattribute__(name)

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AnswerChunk):
            return NotImplemented
        return bool(self.output == cast("AnswerChunk[Any]", other).output)

    @override
    def __hash__(self) -> int:
        return hash((AnswerChunk, self.output))

    @override
    def __reduce__(self) -> tuple[type, tuple[Output]]:
        return AnswerChunk, (self.output,)

    @override
    def __repr__(self) -> str:
        return f"AnswerChunk(output={self.output!r})"

    def __add__(self, other: Explained[Output]) -> Explained[Output]:
        if isinstance(other, AnswerChunk):
            return AnswerChunk(added(self.output, other.output))
        # ``other`` is the last item of a stream and holds the whole output, so it is returned alone.
        return other


def added(total: Any, chunk: Any) -> Any:
    """Returns the sum of two chunks. If they cannot be added, returns ``chunk``, as LangChain does."""
    if isinstance(total, dict) and isinstance(chunk, dict) and not isinstance(total, AddableDict):
        total = AddableDict(cast("dict[str, Any]", total))
    try:
        return cast("Any", total) + chunk
    except TypeError:
        return cast("Any", chunk)


def whole(chunks: Iterable[Any]) -> Any:
    """Returns the sum of all chunks; None if there are none."""
    total: Any = None
    for place, chunk in enumerate(chunks):
        total = added(total, chunk) if place else chunk
    return total


class ExplainedStr(str):
    """An ``ExplainedStr`` is the text of an answer with the attribute ``rag_rules``, which has the
    rules as JSON."""

    rag_rules: dict[str, Any]

    def __new__(cls, text: str, rag_rules: dict[str, Any]) -> "ExplainedStr":
        """Returns a str with this text and the attribute ``rag_rules``."""
        made = super().__new__(cls, text)
        made.rag_rules = rag_rules
        return made

    def __radd__(self, before: str) -> "ExplainedStr":
        """Returns the text ``before`` followed by this text, with this text's rules."""
        return ExplainedStr(str.__add__(before, self), self.rag_rules)

    @override
    def __reduce__(self) -> Any:
        return ExplainedStr, (str(self), self.rag_rules)


def attached(done: Explained[Any] | Unexplained[Any]) -> Any:
    """Returns a copy of an output with its rules attached, as JSON-like data with the name ``rag_rules``.

    An AIMessage has the rules in its ``response_metadata``. A dict or a graph's state has them under the
    key ``rag_rules`` and on its last AIMessage. A str becomes an ``ExplainedStr``. LangGraph's
    ``GraphOutput`` has them in its value. If the output has another type, ``done`` itself is returned.
    """
    output, rules = done.output, rules_in(done)
    if isinstance(output, AIMessage):
        return _on_message(output, rules)
    if isinstance(output, str):
        return ExplainedStr(output, rules)
    if isinstance(output, Mapping):
        state = dict(cast("Mapping[str, Any]", output))
        if isinstance(state.get("messages"), list):
            state["messages"] = _on_last(cast("list[Any]", state["messages"]), rules)
        return {**state, KEY: rules}
    if is_graph_output(output):
        value = attached(replace(done, output=output.value))
        return done if isinstance(value, (Explained, Unexplained)) else replace(output, value=value)
    return done


def last_chunk(output: Any, done: Explained[Any] | Unexplained[Any], *, typed: bool = False) -> Any:
    """Returns a chunk that has only the rules, to be streamed after the last chunk of the output.

    ``output``: the last chunk of the output, or the output itself. If the returned chunk is added to the
    sum of all other chunks, the result is ``attached(done)``. ``typed``: True if each chunk is a dict of
    type, namespace and data, as LangGraph streams with ``version="v2"``.
    """
    rules = rules_in(done)
    if typed:
        return {"type": "custom", "ns": (), "data": {KEY: rules}}
    if isinstance(output, AIMessageChunk):
        return AIMessageChunk(content="", id=output.id, response_metadata={KEY: rules})
    if isinstance(output, str):
        return ExplainedStr("", rules)
    if isinstance(output, Mapping):
        return AddableDict({KEY: rules})
    if isinstance(output, tuple):
        return _last_part(cast("tuple[Any, ...]", output), rules)
    return attached(replace(done, output=output))


def _last_part(part: tuple[Any, ...], rules: dict[str, Any]) -> tuple[Any, ...]:
    """Returns the last chunk of a graph, with the rules added to its data.

    ``part``: this chunk, as a tuple of a stream mode and data, of a message and its metadata, or of data
    alone. The tuple may begin with the namespace of a subgraph.
    """
    place: tuple[Any, ...] = ((),) if isinstance(part[0], tuple) else ()
    if isinstance(part[len(place)], BaseMessage):
        return (*place, AIMessageChunk(content="", response_metadata={KEY: rules}), {})
    return (*place, "custom", {KEY: rules}) if len(part) - len(place) > 1 else (*place, {KEY: rules})


def _on_message(message: AIMessage, rules: dict[str, Any]) -> AIMessage:
    return message.model_copy(update={"response_metadata": {**message.response_metadata, KEY: rules}})


def _on_last(messages: list[Any], rules: dict[str, Any]) -> list[BaseMessage]:
    places = [place for place, message in enumerate(messages) if isinstance(message, AIMessage)]
    if not places:
        return messages
    copy = list(messages)
    copy[places[-1]] = _on_message(copy[places[-1]], rules)
    return copy
