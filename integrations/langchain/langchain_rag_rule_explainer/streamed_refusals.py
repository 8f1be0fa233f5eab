"""This module records the refusals in streamed chat completions of OpenAI.

LangChain makes each chunk of a stream into a message, and leaves out the model's refusal. Without this
module, a refusal would therefore count as a whole reply.
"""

import re
from collections.abc import Mapping
from functools import wraps
from typing import Any, cast

from rag_rule_explainer.instrumentation.copies.patching import Interception

from .watching import watching


def _noting(_: str, method: Any) -> Any:
    """Returns the replacement of the method that makes a chunk into a message. If the chunk is a refusal,
    the replacement also records this for the current run."""

    @wraps(method)
    def convert(self: Any, chunk: Any, *args: Any, **kwargs: Any) -> Any:
        made, watch = method(self, chunk, *args, **kwargs), watching.get()
        if watch is not None and made is not None and _refuses(chunk):
            watch.note_refusal(made)
        return made

    return convert


def _refuses(chunk: Any) -> bool:
    choices: Any = _entry(chunk, "choices")
    several = cast("list[Any]", choices) if isinstance(choices, list) else []
    return any(_entry(_entry(each, "delta"), "refusal") for each in several)


def _entry(given: Any, key: str) -> Any:
    return cast("Mapping[str, Any]", given).get(key) if isinstance(given, Mapping) else None


INTERCEPTIONS = (
    Interception(
        "langchain_openai.chat_models.base",
        "BaseChatOpenAI",
        re.compile("_convert_chunk_to_generation_chunk"),
        _noting,
    ),
)
