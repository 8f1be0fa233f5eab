"""Which failures may pass if one tries again, as their errors tell.

Clients of models have no errors in common, so they are told by what they do have in common: an HTTP
status somewhere on the error, the errors of Python's own connections, and the names of those of others.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any, cast

from .replaying import UnusableReply

_PASSING_STATUS = frozenset({408, 409, 425, 429})
_STATUS_NAMES = ("status_code", "status", "http_status", "code")
_PASSING_TYPES = (ConnectionError, TimeoutError, HTTPException, json.JSONDecodeError)
_PASSING_NAMES = frozenset(
    {
        # openai, anthropic and what is made like them
        "APIConnectionError",
        "APITimeoutError",
        "RateLimitError",
        "InternalServerError",
        "OverloadedError",
        # httpx, requests, aiohttp, urllib3
        "TransportError",
        "ChunkedEncodingError",
        "ConnectionError",
        "Timeout",
        "ClientConnectionError",
        "ClientPayloadError",
        "ServerTimeoutError",
        "HTTPError",
        # Google and AWS
        "ServiceUnavailable",
        "ResourceExhausted",
        "DeadlineExceeded",
        "TooManyRequests",
        "ThrottlingException",
        "EndpointConnectionError",
    }
)
_MOST_CAUSES = 16


def is_passing(error: BaseException) -> bool:
    """True iff the failure may be gone if the same is asked again.

    A status decides where there is one: 408, 409, 425, 429 and those from 500 on pass, others do not.
    """
    for each in _causes(error):
        status = _status(each)
        if status is not None:
            return status in _PASSING_STATUS or status >= 500
        if isinstance(each, UnusableReply) and each.passing is not None:
            if each.__cause__ is None or not each.passing:
                return each.passing
            refused = [s for s in map(_status, _causes(each.__cause__)) if s is not None]
            return all(s in _PASSING_STATUS or s >= 500 for s in refused)
        if isinstance(each, _PASSING_TYPES):
            return True
        if any(kind.__name__ in _PASSING_NAMES for kind in type(each).__mro__):
            return True
    return False


def retry_after(error: BaseException) -> float | None:
    """Seconds that the other side asks to wait, where it does."""
    for each in _causes(error):
        headers = _headers(each)
        milliseconds = _number(headers.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        told = headers.get("retry-after")
        seconds = _number(told)
        if seconds is None and told:
            seconds = _until(told)
        if seconds is not None:
            return seconds
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what caused it, and what is grouped in it; each once."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting and len(seen) < _MOST_CAUSES:
        each = waiting.pop(0)
        if each in seen:
            continue
        seen.append(each)
        yield each
        grouped: Any = getattr(each, "exceptions", ())
        if isinstance(grouped, (list, tuple)):
            waiting += [e for e in cast("list[Any]", grouped) if isinstance(e, BaseException)]
        if each.__cause__ is not None:
            waiting.append(each.__cause__)
        elif each.__context__ is not None and not each.__suppress_context__:
            waiting.append(each.__context__)


def _status(error: BaseException) -> int | None:
    response: Any = getattr(error, "response", None)
    places: list[Any] = [error, response]
    if isinstance(response, Mapping):  # as botocore tells it
        metadata: Any = cast("Mapping[str, Any]", response).get("ResponseMetadata")
        found: Any = cast("Mapping[str, Any]", metadata).get("HTTPStatusCode") if metadata else None
        places = [] if type(found) is int else [error]
        if type(found) is int:
            return found
    for place in places:
        for name in _STATUS_NAMES:
            status: Any = getattr(place, name, None)
            if type(status) is int and 400 <= status < 600:
                return status
    return None


def _headers(error: BaseException) -> dict[str, str]:
    response: Any = getattr(error, "response", None)
    for place in (response, error):
        headers: Any = getattr(place, "headers", None)
        try:
            return {str(name).lower(): str(value) for name, value in headers.items()}
        except Exception:  # noqa: S112 -- whatever it is, it is no mapping of headers
            continue
    return {}


def _number(told: str | None) -> float | None:
    try:
        seconds = float(told or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _until(told: str) -> float | None:
    """Seconds until a date as HTTP writes it."""
    try:
        moment = parsedate_to_datetime(told)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return max(0.0, (aware - datetime.now(timezone.utc)).total_seconds())
