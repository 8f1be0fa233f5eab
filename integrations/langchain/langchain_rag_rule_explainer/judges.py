"""This module makes judges of answers from LangChain chat models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableParallel, RunnableSequence

from rag_rule_explainer import InvalidInput, JudgeReply, JudgeRequest
from rag_rule_explainer.instrumentation.engine import ANY
from rag_rule_explainer.instrumentation.judges import no_opinions
from rag_rule_explainer.predicates.judge import judge_name_of

from .reading import tokens
from .watching import Watch, watching

# If the wanted form of a reply is given as a class, LangChain raises an error for a reply of another
# form. If it is given as a schema, LangChain returns such a reply, so that this module can read it.
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
_ENDPOINTS = (
    "root_client.base_url",  # first, because this is the URL that an OpenAI client really uses
    "base_url",
    "openai_api_base",
    "azure_endpoint",
    "anthropic_api_url",
    "groq_api_base",
    "endpoint_url",
    "endpoint",
    "region_name",
)
"""The attributes in which chat models keep the URL of their endpoint. The first one with a URL is
used."""


@dataclass(frozen=True, slots=True, eq=False)
class ChatModelJudge:
    """This class is a judge that asks a chat model for structured output.

    It calls the model in the thread that calls the judge. Two judges are equal if they have the same
    model object and the same name.
    """

    model: BaseChatModel
    judge_name: str | None
    model_name: str | None
    """The name by which tables of prices list the model; None if the model has no name."""
    _structured: Runnable[Any, Any] = field(repr=False)

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        """Returns the model's reply, which is not parsed yet.

        Raises the errors of the model, and UnusableReply for an incomplete reply.
        """
        watch = Watch(accepts=(ANY,))
        # The judge has a ``Watch`` of its own, so that its tokens are not counted as tokens of the
        # application.
        token = watching.set(watch)
        try:
            raw = _raw(
                self._structured.invoke(
                    [SystemMessage(request.instructions), HumanMessage(request.content)]
                )
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

    ``name``: identifies the judge in stored judgements, so change it whenever the judge changes. By
    default it consists of the model's name, host, temperature, seed and other settings, but never of an
    API key. A judge whose model has no name has no default name. ``structured``: arguments of
    ``with_structured_output`` besides the schema, such as ``method="function_calling"`` or
    ``strict=True``. If a model has no structured output, the prompt asks it for JSON. The model is called
    by ``invoke`` in worker threads, so it works with any event loop. Raises InvalidInput if ``model`` is
    not a chat model.
    """
    if not hasattr(model, "with_structured_output"):
        raise InvalidInput(f"the judge is {type(model).__name__}; give a LangChain chat model")
    named = (getattr(model, each, None) for each in ("model_name", "model", "model_id"))
    model_name = next((each for each in named if isinstance(each, str) and each), None)
    try:
        runnable: Runnable[Any, Any] = model.with_structured_output(
            _SCHEMA, include_raw=True, **structured
        )
    except NotImplementedError:
        runnable = model
    plain = (each for each in sorted(structured.items()) if isinstance(each[1], (str, int)))
    options = [f"{option} {value}" for option, value in plain]
    judge_name = name or judge_name_of(model, model_name, *options, endpoints=_ENDPOINTS)
    return ChatModelJudge(model, judge_name, model_name, _unparsed(runnable))


def _unparsed(runnable: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Returns the model without its output parser, because this module reads the reply itself.

    With a parser, LangChain runs the model in a thread pool. When Python exits, it waits for the threads
    of the pool, so a model that never responds would keep Python from exiting.
    """
    first = runnable.first if isinstance(runnable, RunnableSequence) else None
    if isinstance(first, RunnableParallel) and list(first.steps__) == ["raw"]:
        return first.steps__["raw"]
    return runnable


def _raw(reply: Any) -> Any:
    return cast("Mapping[str, Any]", reply).get("raw") if isinstance(reply, Mapping) else reply


def _content(raw: Any) -> object:
    if not isinstance(raw, AIMessage):
        return raw
    # Structured output may be a tool call. If there are several calls, none is used, because nothing
    # shows which one is right.
    if raw.tool_calls or raw.invalid_tool_calls:
        single = len(raw.tool_calls) == 1 and not raw.invalid_tool_calls
        return raw.tool_calls[0]["args"] if single else None
    return raw.text


def _usage(raw: Any) -> dict[str, int] | None:
    usage = raw.usage_metadata if isinstance(raw, AIMessage) else None
    return tokens([usage]) if usage else None
