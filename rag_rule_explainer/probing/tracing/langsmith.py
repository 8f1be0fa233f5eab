"""LangSmith, in processes that use it: what it puts on every run, and whether its endpoint answers."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from . import endpoints
from .marks import Marks

_BACKLOG = 500
"""Undelivered operations of a client from which on its endpoint is asked again."""


def in_use() -> bool:
    """Returns True iff the process has loaded what traces runs."""
    return "langsmith.run_helpers" in sys.modules


@contextmanager
def marking(marks: Marks, tag: str) -> Generator[None, None, None]:
    """Inside, every run is marked, beside what the user has put there.

    Not where no run is sent: whoever turns that on further inside begins with marks of their own.
    """
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
    """Inside, no run is sent, whoever traces it."""
    from langsmith import run_helpers

    with run_helpers.tracing_context(enabled=False):  # pyright: ignore[reportUnknownMemberType] -- see above
        yield


def is_on() -> bool:
    """Returns True iff runs are sent that name no client of theirs."""
    from langsmith import run_helpers, utils

    enabled: Any = run_helpers.get_tracing_context().get("enabled")
    traces: Any = utils.tracing_is_enabled  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- as above
    return bool(traces() if enabled is None else enabled)


def why_nobody() -> str:
    """Says that LangSmith gives no answer where runs would be sent to it that name no client of theirs;
    empty where it answers, and where they are not sent. Blocks."""
    from langsmith import run_helpers, run_trees, utils

    if not is_on():
        return ""
    context: Mapping[str, Any] = run_helpers.get_tracing_context()
    client: Any = context.get("client") or getattr(run_trees, "_CLIENT", None)
    if client is not None:
        return why_dead(client)
    # A client that is made asks its endpoint at once, and holds the process until that has answered.
    endpoint = utils.get_env_var("ENDPOINT")
    return _told(endpoint) if endpoint else why_dead(run_trees.get_cached_client())


def why_dead(client: Any) -> str:
    """Says that a client's endpoint gives no answer; empty where it does, or cannot be asked. Blocks."""
    endpoint = str(getattr(client, "api_url", ""))
    if not endpoint or not _is_plain(client):
        return ""
    queue = getattr(client, "tracing_queue", None)
    return _told(endpoint, anew=queue is not None and queue.qsize() > _BACKLOG)


def _told(endpoint: str, *, anew: bool = False) -> str:
    return endpoints.why_not(f"{endpoint.rstrip('/')}/info", anew=anew)


def _is_plain(client: Any) -> bool:
    """Returns False where requests go some other way, such as through a session of the user's."""
    import requests

    return type(getattr(client, "session", None)) is requests.Session
