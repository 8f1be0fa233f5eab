"""This module makes the HTTP sessions of clients that send annotations."""

from importlib import import_module
from typing import Any

from ...errors import NotSent


def session_without_redirects() -> Any:
    """Returns a session of ``requests`` that raises NotSent for a redirect. If it followed a redirect, a
    server that the user has not named would receive the user's key and the rules."""
    session = import_module("requests").Session()
    session.hooks["response"].append(_refuse_redirect)
    return session


def _refuse_redirect(response: Any, *_: Any, **__: Any) -> None:
    if 300 <= response.status_code < 400:
        response.close()
        place = response.headers.get("location", "another address")
        raise NotSent(f"the server redirects to {place}, which was not followed; name its own address")
