"""LangSmith, in processes that use it: what it puts on every run, and whether its endpoint answers.

Its client keeps what it has not delivered, tries each batch many times, and holds the process until it is
through. An explanation makes thousands of runs, so it makes none where nobody would receive them.
"""

import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from logging import getLogger
from typing import Any

from .tracing import Marks

ANSWERS_WITHIN = 2.0
"""Seconds that an endpoint has to answer."""
_KNOWN_FOR = 60.0
"""Seconds for which what an endpoint did is taken for what it would do."""
_BACKLOG = 500
"""Undelivered operations from which on an endpoint is asked again."""
DEAD = (
    "LangSmith's endpoint gave no answer within {seconds:g} seconds ({endpoint}), so this explanation is "
    "not traced there: what is not delivered would keep the process from ending"
)
_LOG = getLogger(__name__)

_asking = threading.Lock()
_known: dict[str, tuple[float, bool]] = {}


def in_use() -> bool:
    """True iff the process has loaded what traces runs."""
    return "langsmith.run_helpers" in sys.modules


@contextmanager
def marking(marks: Marks, tag: str) -> Generator[None, None, None]:
    """Inside, every run is marked, beside what the user has put there."""
    from langsmith import run_helpers

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


def why_nobody() -> str:
    """Says that LangSmith gives no answer where runs would be sent to it that name no client of theirs;
    empty where it answers, and where they are not sent. Blocks."""
    from langsmith import run_helpers, run_trees, utils

    context: Mapping[str, Any] = run_helpers.get_tracing_context()
    traces: Any = utils.tracing_is_enabled  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- as above
    if context.get("enabled") is False or not (context.get("enabled") or traces()):
        return ""
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
    endpoint = endpoint.rstrip("/")
    # Whoever comes meanwhile wants to know the same.
    with _asking:
        at, answers = _known.get(endpoint, (0.0, False))
        if anew or not at or time.monotonic() - at > _KNOWN_FOR:
            answers = _answers(endpoint)
            _known[endpoint] = time.monotonic(), answers
    return "" if answers else DEAD.format(seconds=ANSWERS_WITHIN, endpoint=endpoint)


def _is_plain(client: Any) -> bool:
    """False where requests go some other way, such as through a session of the user's."""
    import requests

    return type(getattr(client, "session", None)) is requests.Session


def _answers(endpoint: str) -> bool:
    import requests

    try:
        # Any answer will do: it is somebody who takes requests.
        requests.get(f"{endpoint}/info", timeout=ANSWERS_WITHIN, stream=True).close()
    except requests.exceptions.SSLError:
        return True  # by certificates that only its client knows
    except requests.RequestException as error:
        _LOG.warning("LangSmith's endpoint %s gave no answer: %s", endpoint, type(error).__name__)
        return False
    return True
