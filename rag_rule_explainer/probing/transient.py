"""This module decides after which errors a retry may succeed.

The clients of models have no error classes in common. So this module searches an error and its causes for
an HTTP status, for Python's own connection errors, and for the names of error classes of known libraries.
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
        # These are error classes of the packages openai and anthropic, and of similar clients.
        "APIConnectionError",
        "APITimeoutError",
        "RateLimitError",
        "InternalServerError",
        "OverloadedError",
        # These are error classes of the packages httpx, requests, aiohttp and urllib3.
        "TransportError",
        "ChunkedEncodingError",
        "ConnectionError",
        "Timeout",
        "ClientConnectionError",
        "ClientPayloadError",
        "ServerTimeoutError",
        "HTTPError",
        # This is an error class of asyncio and of concurrent.futures. Before Python 3.11, it is another
        # class than the built-in ``TimeoutError``.
        "TimeoutError",
        # These are error classes of the clients of Google and AWS.
        "ServiceUnavailable",
        "ResourceExhausted",
        "DeadlineExceeded",
        "TooManyRequests",
        "ThrottlingException",
        "EndpointConnectionError",
    }
)
_LOWEST, _ABOVE = 400, 600
_MOST_CAUSES, _DEEPEST = 16, 4


def is_transient(error: BaseException) -> bool:
    """Returns True iff the same request may succeed on a retry.

    If there is an HTTP status, the status decides: a retry may succeed after 408, 409, 425, 429 and
    statuses from 500 on, but not after other statuses. For a group of errors, a retry must be possible
    after each of its errors.
    """
    return _is_passing(error, _DEEPEST)


def _is_passing(error: BaseException, depth: int) -> bool:
    for each in _causes(error):
        status = _status(each)
        if status is not None:
            return _may_pass(each, status)
        if isinstance(each, UnusableReply) and each.passing is not None:
            return each.passing and not _is_refused(each.__cause__)
        grouped = _grouped(each)
        if grouped:
            return depth > 0 and all(_is_passing(one, depth - 1) for one in grouped)
        if isinstance(each, _PASSING_TYPES):
            return True
        if any(kind.__name__ in _PASSING_NAMES for kind in type(each).__mro__):
            return True
    return False


def retry_after(error: BaseException) -> float | None:
    """Returns the seconds to wait that the server has given in a ``Retry-After`` header, or in a
    ``retry-after-ms`` header; None if there is none."""
    for each in _causes(error):
        headers = _headers(each)
        milliseconds = _number(headers.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        found = headers.get("retry-after")
        seconds = _number(found)
        if seconds is None and found:
            seconds = _until(found)
        if seconds is not None:
            return seconds
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yields the error, its causes, and the errors of exception groups among them, each once. Yields at
    most ``_MOST_CAUSES`` errors."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting and len(seen) < _MOST_CAUSES:
        each = waiting.pop(0)
        if any(each is other for other in seen):
            continue
        seen.append(each)
        yield each
        waiting += _grouped(each)
        if each.__cause__ is not None:
            waiting.append(each.__cause__)
        elif each.__context__ is not None and not each.__suppress_context__:
            waiting.append(each.__context__)


def _grouped(error: BaseException) -> list[BaseException]:
    grouped: Any = getattr(error, "exceptions", ())
    listed = cast("list[Any]", grouped) if isinstance(grouped, (list, tuple)) else []
    return [each for each in listed if isinstance(each, BaseException)]


def _is_refused(cause: BaseException | None) -> bool:
    """Returns True iff this error, or one of its own causes, has an HTTP status after which a retry
    cannot succeed. Returns False for None."""
    found = [] if cause is None else [(each, _status(each)) for each in _causes(cause)]
    return not all(_may_pass(each, status) for each, status in found if status is not None)


def _may_pass(error: BaseException, status: int) -> bool:
    # An exhausted quota has the same status as a rate limit. But it is not renewed within minutes, so a
    # retry is of no use.
    if getattr(error, "code", None) == "insufficient_quota":
        return False
    return status in _PASSING_STATUS or status >= 500


def _status(error: BaseException) -> int | None:
    response: Any = getattr(error, "response", None)
    for place in (_metadata(response).get("HTTPStatusCode"), error, response):
        for status in (place, *(getattr(place, name, None) for name in _STATUS_NAMES)):
            # Google's clients give an IntEnum as the status, so the status is converted to an int.
            if isinstance(status, int) and _LOWEST <= status < _ABOVE:
                return int(status)
    return None


def _metadata(response: Any) -> Mapping[str, Any]:
    """Returns the metadata of a response of botocore (AWS), which is a dict; an empty mapping for the
    response of any other client."""
    found: Any = (
        cast("Mapping[str, Any]", response).get("ResponseMetadata") if _is_mapping(response) else {}
    )
    return cast("Mapping[str, Any]", found) if _is_mapping(found) else {}


def _is_mapping(given: Any) -> bool:
    return isinstance(given, Mapping)


def _headers(error: BaseException) -> dict[str, str]:
    response: Any = getattr(error, "response", None)
    found = (
        _metadata(response).get("HTTPHeaders"),
        *(getattr(each, "headers", None) for each in (response, error)),
    )
    headers: Any
    for headers in found:
        try:
            return {str(name).lower(): str(value) for name, value in headers.items()}
        except Exception:  # noqa: S112 -- this object is no mapping of headers; the next may be
            continue
    return {}


def _number(found: str | None) -> float | None:
    try:
        seconds = float(found or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _until(found: str) -> float | None:
    """Returns the seconds from now until a date in the format of HTTP headers; None if the text is no
    date."""
    try:
        moment = parsedate_to_datetime(found)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return max(0.0, (aware - datetime.now(timezone.utc)).total_seconds())
