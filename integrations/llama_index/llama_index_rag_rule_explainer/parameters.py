"""This module reads the parameters of requests to models from LlamaIndex's events."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from llama_index.core.instrumentation.events.llm import LLMChatStartEvent, LLMCompletionStartEvent

from rag_rule_explainer.instrumentation.copies.copying import described

_OF_A_MODEL = frozenset(
    {
        *("class_name", "model", "model_name", "deployment_name", "engine", "temperature", "max_tokens"),
        *("top_p", "seed", "reasoning_effort", "additional_kwargs", "system_prompt"),
    }
)
_OF_TRANSPORT = frozenset({"timeout", "extra_headers", "api_key", "http_client", "messages", "prompt"})


def parameters_in(event: LLMChatStartEvent | LLMCompletionStartEvent) -> str:
    """Returns the model and the parameters of a request, such as temperature and tools, as one text."""
    model = {key: each for key, each in event.model_dict.items() if key in _OF_A_MODEL}
    given = {key: each for key, each in event.additional_kwargs.items() if key not in _OF_TRANSPORT}
    plain = {key: each for key, each in {**model, **given}.items() if is_plain_parameter(each)}
    tools = [getattr(getattr(each, "metadata", None), "name", "") for each in given.get("tools") or ()]
    return described({**plain, "tools": tools} if any(tools) else plain)


def is_plain_parameter(value: Any) -> bool:
    """Returns True for JSON-like values. Only these are compared between requests.

    The text of any other object may differ in each run, although the object is equivalent.
    """
    if isinstance(value, Mapping):
        return all(map(is_plain_parameter, cast("Mapping[str, Any]", value).values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_plain_parameter, cast("Sequence[Any]", value)))
    return value is None or isinstance(value, (str, int, float))
