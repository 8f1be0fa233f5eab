"""This module adds metadata about replays to LangSmith's runs, and checks LangSmith's endpoint. A *run*
is LangSmith's record of one call. Only used in processes that have loaded LangSmith."""

import sys
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from . import endpoints
from .marks import TraceMarks

_BACKLOG = 500
"""If more than this number of operations wait to be sent by a client, its endpoint is probably not
answering. So it is checked again, even if it was checked a short time ago."""
_LOCAL = (
    "LangSmith's tracing is local here, which is its word for sending nothing, so by default this "
    "explanation is not traced there: LangChain's tracer would send its runs all the same"
)


def in_use() -> bool:
    """Returns True iff the process has loaded the part of LangSmith that traces runs. Only then can it
    send runs."""
    return "langsmith.run_helpers" in sys.modules


def marking(marks: TraceMarks, tag: str) -> AbstractContextManager[None] | None:
    """Returns a context manager that adds metadata (``marks``) and a tag to every run that begins in its
    block. The user's own metadata and tags stay. Returns None if LangSmith's tracing is off; if the
    application turns it on later, ``late_runs`` adds the marks and the tag."""
    from langsmith import run_helpers

    around: dict[str, Any] = dict(run_helpers.get_tracing_context())
    if not _is_on(around):
        return None
    tags = [*(each for each in around.get("tags") or () if each != tag), tag]
    around["tags"], around["metadata"] = tags, {**(around.get("metadata") or {}), **marks}
    return run_helpers.tracing_context(**around)  # pyright: ignore[reportUnknownMemberType] -- the function's parameters lack types


@contextmanager
def silenced() -> Generator[None, None, None]:
    """Keeps LangSmith from sending any run that begins in the block."""
    from langsmith import run_helpers

    with run_helpers.tracing_context(enabled=False):  # pyright: ignore[reportUnknownMemberType] -- the function's parameters lack types
        yield


def is_on() -> bool:
    """Returns True iff LangSmith's tracing is on in this context by default, so that runs are sent even
    if the application names no client for them."""
    from langsmith import run_helpers

    return _is_on(run_helpers.get_tracing_context())


def _is_on(context: Mapping[str, Any]) -> bool:
    from langsmith import utils

    enabled: Any = context.get("enabled")
    traces: Any = utils.tracing_is_enabled  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- the function lacks types
    return bool(traces(context) if enabled is None else enabled)


def why_all_dead() -> str:
    """Checks the endpoints to which runs are sent by default. Returns a note for the user if none of them
    answers, or if none was checked because LangSmith keeps all runs local. Returns an empty text if one
    answers, or if LangSmith's tracing is off. Blocks."""
    from langsmith import run_helpers, run_trees, utils

    if not is_on():
        return ""
    context: Mapping[str, Any] = run_helpers.get_tracing_context()
    if context.get("enabled") == "local":
        return _LOCAL
    replicas = _replicas(context)
    if replicas:
        whys = [endpoints.why_not(_asked(each)) for each in replicas]
        return whys[0] if all(whys) else ""
    around: Any = getattr(context.get("parent"), "ls_client", None)
    client: Any = context.get("client") or around or getattr(run_trees, "_CLIENT", None)
    if client is not None:
        return why_dead(client)
    # There is no client yet. Making a client would call its endpoint at once, and block the process until
    # the endpoint answers. So the address from the environment is checked instead.
    endpoint = utils.get_env_var("ENDPOINT")
    return endpoints.why_not(_asked(endpoint)) if endpoint else why_dead(run_trees.get_cached_client())


def _replicas(context: Mapping[str, Any]) -> list[str]:
    """Returns the endpoints to which each run is sent as a copy (LangSmith's replicas). Empty if there
    are none, or if one copy goes to the client's own endpoint; the caller then checks the client."""
    from langsmith import run_trees

    of_environment: Any = getattr(run_trees, "_get_write_replicas_from_env", list)
    named: Any = context.get("replicas")
    found: list[Any] = list(of_environment() if named is None else named)
    urls: list[Any] = [each.get("api_url") if isinstance(each, Mapping) else None for each in found]  # pyright: ignore[reportUnknownMemberType] -- the keys of this mapping may have any type
    return [str(each) for each in urls] if all(urls) else []


def why_dead(client: Any) -> str:
    """Checks the endpoints of a client. If none of them answers, returns a note for the user that says
    so; returns an empty text if one answers or cannot be checked. Blocks."""
    queue = getattr(client, "tracing_queue", None)
    is_behind = queue is not None and queue.qsize() > _BACKLOG
    whys = [endpoints.why_not(each, anew=is_behind) for each in asked_at(client)]
    return whys[0] if whys and all(whys) else ""


def asked_at(client: Any, endpoint: str | None = None) -> list[str]:
    """Returns the addresses at which to check whether a client's runs are received; empty if that cannot
    be checked. ``endpoint``: the endpoint to which a run is sent; None for the client's own endpoints."""
    if not _is_plain(client):
        return []
    own = getattr(client, "_write_api_urls", None) or [getattr(client, "api_url", "")]
    return [_asked(str(each)) for each in ([endpoint] if endpoint else own) if each]


def _asked(endpoint: str) -> str:
    return f"{endpoint.rstrip('/')}/info"


def _is_plain(client: Any) -> bool:
    """Returns True iff a client sends its requests through a plain session of ``requests``. Only for such
    a client can it be checked whether its endpoint answers. The check does not use the client's session.
    If this session has another class, it may reach an endpoint that the check cannot reach."""
    import requests

    return type(getattr(client, "session", None)) is requests.Session
