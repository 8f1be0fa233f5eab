"""This module marks LangSmith's runs and checks LangSmith's endpoint, in processes that use LangSmith."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from . import endpoints
from .marks import TraceMarks

_BACKLOG = 500
"""The number of a client's undelivered operations from which its endpoint is checked again."""


def in_use() -> bool:
    """Returns True iff the process has loaded the part of LangSmith that traces runs."""
    return "langsmith.run_helpers" in sys.modules


@contextmanager
def marking(marks: TraceMarks, tag: str) -> Generator[None, None, None]:
    """Adds marks and a tag to every run inside, beside those of the user. Does nothing while tracing is
    off: code inside that turns tracing on sets marks of its own."""
    from langsmith import run_helpers

    if not is_on():
        yield
        return
    around: dict[str, Any] = dict(run_helpers.get_tracing_context())
    around["tags"] = [*(each for each in around.get("tags") or () if each != tag), tag]
    around["metadata"] = {**(around.get("metadata") or {}), **marks}
    with run_helpers.tracing_context(**around):  # pyright: ignore[reportUnknownMemberType] -- a parameter of it has half a type
        yield


@contextmanager
def silenced() -> Generator[None, None, None]:
    """Keeps LangSmith from sending any run inside."""
    from langsmith import run_helpers

    with run_helpers.tracing_context(enabled=False):  # pyright: ignore[reportUnknownMemberType] -- see above
        yield


def is_on() -> bool:
    """Returns True iff runs without a client of their own are sent."""
    from langsmith import run_helpers, utils

    enabled: Any = run_helpers.get_tracing_context().get("enabled")
    traces: Any = utils.tracing_is_enabled  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- as above
    return bool(traces() if enabled is None else enabled)


def why_nobody() -> str:
    """Returns a note that the default LangSmith endpoint does not answer; empty if it does, or if no run
    is sent there. Blocks."""
    from langsmith import run_helpers, run_trees, utils

    if not is_on():
        return ""
    context: Mapping[str, Any] = run_helpers.get_tracing_context()
    client: Any = context.get("client") or getattr(run_trees, "_CLIENT", None)
    if client is not None:
        return why_dead(client)
    # A new client would call its endpoint at once, and block the process until it answers.
    endpoint = utils.get_env_var("ENDPOINT")
    return _note(endpoint) if endpoint else why_dead(run_trees.get_cached_client())


def why_dead(client: Any) -> str:
    """Returns a note that a client's endpoint does not answer; empty if it does, or cannot be checked.
    Blocks."""
    endpoint = str(getattr(client, "api_url", ""))
    if not endpoint or not _is_plain(client):
        return ""
    queue = getattr(client, "tracing_queue", None)
    return _note(endpoint, anew=queue is not None and queue.qsize() > _BACKLOG)


def _note(endpoint: str, *, anew: bool = False) -> str:
    return endpoints.why_not(f"{endpoint.rstrip('/')}/info", anew=anew)


def _is_plain(client: Any) -> bool:
    """Returns False if requests do not go through a plain session, such as one of the user's."""
    import requests

    return type(getattr(client, "session", None)) is requests.Session
