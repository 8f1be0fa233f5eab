"""A LangChain chat model as a judge of answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableParallel, RunnableSequence

from rag_rule_explainer import InvalidInput, JudgeReply, JudgeRequest
from rag_rule_explainer.instrumentation.engine import ANY
from rag_rule_explainer.instrumentation.run_context import no_opinions
from rag_rule_explainer.predicates.judge import judge_name_of

from .reading import tokens
from .watching import Watch, watching

# Given as a schema and not as a class, so that what does not fit it still comes back, to be read here.
_SCHEMA: dict[str, Any] = {
    "title": "opinions",
    "description": "One opinion for each candidate.",
    "type": "object",
    "properties": {
        "opinions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "reason": {"type": "string"},
                    "verdict": {"type": "string", "enum": ["yes", "no", "unsure"]},
                },
                "required": ["id", "reason", "verdict"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["opinions"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, eq=False)
class ChatModelJudge:
    """Asks the model for structured output, in the thread it is called in. Equal for the same model."""

    model: BaseChatModel
    judge_name: str | None
    model_name: str | None
    """What it is called in a table of prices."""
    _asked: Runnable[Any, Any] = field(repr=False)

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        """Returns what the model said, as it said it. Raises what the model raises, and UnusableReply for
        a reply that is not whole."""
        watch = Watch(accepts=(ANY,))
        # Its own watch, so that what the judge spends is counted once, whoever else is watching.
        token = watching.set(watch)
        try:
            raw = _raw(
                self._asked.invoke([SystemMessage(request.instructions), HumanMessage(request.content)])
            )
        finally:
            watching.reset(token)
        if watch.fault:
            raise no_opinions(watch.fault, watch.models, _usage(raw))
        return JudgeReply(_content(raw), _usage(raw), watch.models)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChatModelJudge) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[int, str | None]:
        return id(self.model), self.judge_name


def judge_of(model: BaseChatModel, name: str | None = None, **structured: Any) -> ChatModelJudge:
    """Returns the model as a judge for ``judged``, ``consistent_with`` and ``same_answer``.

    ``name``: says which judge it is, and what it says is stored under it: change it with the judge. By
    default it is made of the model's own name, the host that is asked, the temperature, the seed and
    what else decides what it says, and never of a key; a model without a name has none. ``structured``:
    what else ``with_structured_output`` is to be told, such as ``method="function_calling"`` or
    ``strict=True``; a model that knows no structured output is asked for JSON in words. It is asked
    through ``invoke`` in worker threads, so any event loop will do. Raises InvalidInput for what is no
    chat model.
    """
    if not hasattr(model, "with_structured_output"):
        raise InvalidInput(f"the judge is {type(model).__name__}; give a LangChain chat model")
    named = (getattr(model, each, None) for each in ("model_name", "model", "model_id"))
    told = next((each for each in named if isinstance(each, str) and each), None)
    try:
        asked: Runnable[Any, Any] = model.with_structured_output(_SCHEMA, include_raw=True, **structured)
    except NotImplementedError:
        asked = model
    plain = (each for each in sorted(structured.items()) if isinstance(each[1], (str, int)))
    said = [f"{option} {value}" for option, value in plain]
    return ChatModelJudge(model, name or judge_name_of(model, told, *said), told, _unparsed(asked))


def _unparsed(asked: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Returns the model without the parser behind it, as what it said is read here.

    The parser wants the model in a thread of a pool, and Python waits for such threads when it ends: for
    ever where an endpoint hangs.
    """
    first = asked.first if isinstance(asked, RunnableSequence) else None
    if isinstance(first, RunnableParallel) and list(first.steps__) == ["raw"]:
        return first.steps__["raw"]
    return asked


def _raw(said: Any) -> Any:
    return cast("Mapping[str, Any]", said).get("raw") if isinstance(said, Mapping) else said


def _content(raw: Any) -> object:
    if not isinstance(raw, AIMessage):
        return raw
    # Where structured output is a call of a tool; of several nobody knows which one counts.
    if raw.tool_calls or raw.invalid_tool_calls:
        single = len(raw.tool_calls) == 1 and not raw.invalid_tool_calls
        return raw.tool_calls[0]["args"] if single else None
    return raw.text


def _usage(raw: Any) -> dict[str, int] | None:
    usage = raw.usage_metadata if isinstance(raw, AIMessage) else None
    return tokens([usage]) if usage else None
