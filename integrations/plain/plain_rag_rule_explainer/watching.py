"""This module records the requests and replies of the official OpenAI client in each run."""

import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from rag_rule_explainer.instrumentation.copies.patching import Interception, Patches
from rag_rule_explainer.instrumentation.isolation import handing
from rag_rule_explainer.instrumentation.requests.client_watch import ModelReply, ModelRequest
from rag_rule_explainer.instrumentation.requests.generated_clients import GeneratedClient
from rag_rule_explainer.instrumentation.services import connections

from .prompts import edited
from .wire import Streamed, asked_in, plain, reply_in

_MODELS = ("/completions", "/responses")
"""The ends of the URL paths of requests to a model. Requests to other paths, such as those for
embeddings, are not recorded."""


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


_CLIENT = GeneratedClient(_asks_a_model, _asked, edited, _replied, Streamed)
_ADDED_ALONE = re.compile("(?!)")
"""A pattern that matches no name, so that no method that the client's classes define is replaced. Only
the method ``request``, which the classes inherit, is replaced."""
interception = Patches(
    [
        Interception("openai", "OpenAI", _ADDED_ALONE, _CLIENT.sending, added=("request",)),
        Interception("openai", "AsyncOpenAI", _ADDED_ALONE, _CLIENT.asending, added=("request",)),
        *handing.INTERCEPTIONS,
        *connections.INTERCEPTIONS,
    ]
)
