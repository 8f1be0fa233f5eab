"""This module records the replies of streamed predictions.

A prediction is a call such as ``LLM.predict`` or ``LLM.stream``. LlamaIndex reports predictions by
events, but no event holds the reply of a streamed prediction. This matters for a ``CustomLLM`` whose
methods are not decorated: it has no events of its own, so its calls are seen only as predictions.
"""

import re
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception

from .watching import current_watch, predictions_begun


@contextmanager
def prediction_begun() -> Generator[Callable[[str], None] | None, None, None]:
    """Yields a function that records the reply of the streamed prediction that begins in the block; None
    if no ``Watch`` is active.

    The function must be called when the stream is read to its end, because LlamaIndex has no event for
    such a reply.
    """
    watch, begun = current_watch(), list[str | None]()
    token = predictions_begun.set(begun)
    try:
        # A prediction may begin further predictions inside it. The first span belongs to the outermost
        # prediction.
        yield None if watch is None else lambda text: watch.predicted(begun[0] if begun else None, text)
    finally:
        predictions_begun.reset(token)


def _ending(name: str, method: Any) -> Any:
    """Returns the replacement of ``LLM.stream`` or ``LLM.astream``.

    The replacement records the reply after all its tokens were read.
    """

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
