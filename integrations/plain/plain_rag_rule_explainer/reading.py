"""This module reads the question from an application's input and the answer from its output."""

from collections.abc import Sequence
from typing import Any

from openai_rag_rule_explainer.wire import Streamed, plain, reply_in

from rag_rule_explainer.instrumentation.engine import Answer
from rag_rule_explainer.instrumentation.function_values import answer_of_output
from rag_rule_explainer.instrumentation.function_values import question_of_input as question_in

__all__ = ["answer_in", "question_in", "whole"]


def answer_in(output: Any) -> Answer:
    """Returns the answer in an output: a str, an Answer, a reply of the OpenAI client or its message, the
    first item of a tuple, or the answer in a dict or an object under a usual name. Raises InvalidInput if
    no answer can be read; the message advises to pass ``answer_of``."""
    return answer_of_output(output, _of_client)


def _of_client(output: Any) -> str | None:
    if not _is_of_client(output):
        return None
    content = getattr(output, "content", None)
    # The message of a reply has its text as its content; a whole reply has no content.
    return content if isinstance(content, str) else reply_in(plain(output)).said.text


def whole(pieces: Sequence[Any]) -> Any:
    """Returns the joined text, if the pieces of a stream are texts or chunks of the OpenAI client. For
    any other stream, returns its last piece, which usually contains the earlier ones."""
    streamed = Streamed()
    texts = [each if isinstance(each, str) else _text_of(streamed, each) for each in pieces]
    return pieces[-1] if None in texts else "".join(filter(None, texts))


def _text_of(streamed: Streamed, chunk: Any) -> str | None:
    return streamed.take(chunk) if _is_of_client(chunk) else None


def _is_of_client(given: Any) -> bool:
    return type(given).__module__.startswith("openai.")
