"""This module records the requests to models in each run, and the replies: those of the official OpenAI
client, and those that are sent by HTTP in OpenAI's protocols or in Ollama's."""

import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.requests.client_watch import ModelReply, ModelRequest
from rag_rule_explainer.instrumentation.requests.generated_clients import GeneratedClient
from rag_rule_explainer.instrumentation.requests.http_clients import HttpProtocols

from .prompts import edited, edited_body
from .wire import KEYS_SHOWN, Streamed, asked_in, plain, reply_in

_MODELS = ("/completions", "/responses")
"""The ends of the URL paths of requests to a model. Requests to other paths, such as those for
embeddings, are not recorded."""
_OF_OLLAMA = ("/api/chat", "/api/generate")
_OF_REPLIES = frozenset({"choices", "output", "message", "response"})


def _asks_a_model(options: Any) -> bool:
    path = urlsplit(str(options.url)).path.rstrip("/")
    return options.method.lower() == "post" and path.endswith(_MODELS)


def _asked(options: Any) -> ModelRequest:
    return asked_in({**(options.json_data or {}), **(options.extra_json or {})})


def _replied(result: Any) -> ModelReply | None:
    # The body of a raw response that is streamed is no mapping. Only the application may read it, so
    # nothing is recorded.
    body: Any = plain(result)
    return reply_in(cast("Mapping[str, Any]", body)) if isinstance(body, Mapping) else None


def _is_posted_to_a_model(path: str, body: Mapping[str, Any]) -> bool:
    return path.endswith((*_MODELS, *_OF_OLLAMA)) and not KEYS_SHOWN.isdisjoint(body)


def _replied_by_http(body: Mapping[str, Any]) -> ModelReply | None:
    return None if _OF_REPLIES.isdisjoint(body) else reply_in(body)


_HTTP = HttpProtocols(_is_posted_to_a_model, asked_in, edited_body, _replied_by_http, Streamed)
_CLIENT = GeneratedClient(_asks_a_model, _asked, edited, _replied, Streamed)
_ADDED_ALONE = re.compile("(?!)")
"""A pattern that matches no name. The client's classes ``OpenAI`` and ``AsyncOpenAI`` inherit
``request``. So no method of theirs is replaced; instead each class gets a method ``request`` of its own
(see ``added``)."""
INTERCEPTIONS = (
    Interception("openai", "OpenAI", _ADDED_ALONE, _CLIENT.sending, added=("request",)),
    Interception("openai", "AsyncOpenAI", _ADDED_ALONE, _CLIENT.asending, added=("request",)),
    *_HTTP.interceptions,
)
