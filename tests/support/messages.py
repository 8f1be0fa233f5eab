"""What a client asks, as OpenAI's clients write it."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from rag_rule_explainer.testing.prompts import parse_prompt
from rag_rule_explainer.testing.reader import read_answer
from tests.support.responses import Refused

Body: TypeAlias = dict[str, Any]


def understood(content: bytes) -> Body:
    """The body of a request. Raises Refused for what is no JSON object with a list of messages."""
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"not JSON: {type(error).__name__}") from error
    if not isinstance(body, dict) or not isinstance(cast("Body", body).get("messages"), list):
        raise Refused(400, "not an object with a list of messages")
    return cast("Body", body)


def prompt(body: Body) -> str:
    """The texts of all messages, as one."""
    return "\n\n".join(part for message in body["messages"] for part in _texts(message))


def read_offline(body: Body) -> str:
    """The offline reader's answer to all messages as one prompt. Raises Refused if nothing is asked."""
    try:
        task = parse_prompt(prompt(body))
    except ValueError as error:
        raise Refused(400, str(error)) from error
    return read_answer(task.question, task.passages)


def entries(given: object) -> Body:
    """Those of an object; none of anything else."""
    return cast("Body", given) if isinstance(given, dict) else {}


def _texts(message: object) -> Iterator[str]:
    """The text of a message, or of the parts that it consists of; nothing for anything else."""
    content: object = entries(message).get("content")
    parts = cast("list[object]", content) if isinstance(content, list) else [{"text": content}]
    texts = (entries(part).get("text") for part in parts)
    return (text for text in texts if isinstance(text, str))
