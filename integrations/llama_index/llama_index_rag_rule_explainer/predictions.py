"""Predictions that are streamed: the framework tells of their beginning, and of no end.

A model that tells nothing of itself, such as a ``CustomLLM`` whose methods are not decorated, is known by
the predictions that are asked of it; without its end, a streamed one would be a request without a reply.
"""

import re
from collections.abc import AsyncGenerator, Callable, Generator
from functools import wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception

from .watching import prediction_begun


def _ending(name: str, method: Any) -> Any:
    """``LLM.stream`` and its twin: all tokens of a prediction, once they were read, are its reply."""

    @wraps(method)
    def stream(self: object, *args: Any, **kwargs: Any) -> Any:
        with prediction_begun() as replied:
            tokens = method(self, *args, **kwargs)
        return tokens if replied is None else _read(tokens, replied)

    @wraps(method)
    async def astream(self: object, *args: Any, **kwargs: Any) -> Any:
        with prediction_begun() as replied:
            tokens = await method(self, *args, **kwargs)
        return tokens if replied is None else _aread(tokens, replied)

    return astream if name.startswith("a") else stream


def _read(tokens: Any, replied: Callable[[str], None]) -> Generator[str, None, None]:
    text: list[str] = []
    for token in tokens:
        text.append(token)
        yield token
    replied("".join(text))


async def _aread(tokens: Any, replied: Callable[[str], None]) -> AsyncGenerator[str, None]:
    text: list[str] = []
    async for token in tokens:
        text.append(token)
        yield token
    replied("".join(text))


INTERCEPTIONS = (Interception("llama_index.core.llms.llm", "LLM", re.compile("a?stream"), _ending),)
