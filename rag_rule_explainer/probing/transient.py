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
        # asyncio and concurrent.futures, which before Python 3.11 have one of their own
        "TimeoutError",
        # Google and AWS
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
    """Returns True iff the failure may be gone if the same is asked again.

    A status decides where there is one: 408, 409, 425, 429 and those from 500 on pass, others do not.
    Of several errors in a group each must pass.
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
    """Yields the error, what caused it, and what is grouped in it; each once."""
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
    """Returns True iff anything in it says that asking again is of no use."""
    told = [] if cause is None else [(each, _status(each)) for each in _causes(cause)]
    return not all(_may_pass(each, status) for each, status in told if status is not None)


def _may_pass(error: BaseException, status: int) -> bool:
    # A quota is said with the status of a rate limit, and does not come back within minutes.
    if getattr(error, "code", None) == "insufficient_quota":
        return False
    return status in _PASSING_STATUS or status >= 500


def _status(error: BaseException) -> int | None:
    response: Any = getattr(error, "response", None)
    for place in (_metadata(response).get("HTTPStatusCode"), error, response):
        for status in (place, *(getattr(place, name, None) for name in _STATUS_NAMES)):
            # Google's are members of an enumeration of numbers.
            if isinstance(status, int) and _LOWEST <= status < _ABOVE:
                return int(status)
    return None


def _metadata(response: Any) -> Mapping[str, Any]:
    """Returns what botocore tells of a response, which is a dict there; nothing for any other."""
    told: Any = (
        cast("Mapping[str, Any]", response).get("ResponseMetadata") if _is_mapping(response) else {}
    )
    return cast("Mapping[str, Any]", told) if _is_mapping(told) else {}


def _is_mapping(given: Any) -> bool:
    return isinstance(given, Mapping)


def _headers(error: BaseException) -> dict[str, str]:
    response: Any = getattr(error, "response", None)
    told = (
        _metadata(response).get("HTTPHeaders"),
        *(getattr(each, "headers", None) for each in (response, error)),
    )
    headers: Any
    for headers in told:
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
