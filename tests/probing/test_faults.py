"""Which failures may pass, and when to come back, as the errors of real clients tell it."""

import asyncio
import json
import sys
from collections.abc import Callable
from concurrent.futures import TimeoutError as LateFuture
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http import HTTPStatus
from http.client import IncompleteRead
from types import SimpleNamespace
from typing import Any

import httpx
import openai
import pytest

from rag_rule_explainer.probing.replaying import UnusableReply
from rag_rule_explainer.probing.transient import is_transient, retry_after

REQUEST = httpx.Request("POST", "http://127.0.0.1/v1")


def refused(status: int, **headers: str) -> openai.APIStatusError:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx.Response(status, request=REQUEST, headers=told)
    # Nothing public shows it.
    return openai.OpenAI(api_key="any will do", base_url="http://127.0.0.1/v1")._make_status_error(  # pyright: ignore[reportPrivateUsage]
        "refused", body=None, response=response
    )


class Shaped(Exception):
    """Shaped like an error of a client that is not installed here."""

    def __init__(self, **shape: Any) -> None:
        super().__init__("shaped")
        self.__dict__.update(shape)


def named(name: str, base: type[Exception] = Exception) -> Exception:
    return type(name, (base,), {})("named")


def caused(by: BaseException, *, explicit: bool = True) -> Exception:
    outer = RuntimeError("outer")
    if explicit:
        outer.__cause__ = by
    else:
        outer.__context__ = by
    return outer


def botocore(status: int | None, **headers: str) -> Shaped:
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": headers} if status else {}
    return Shaped(response={"Error": {"Code": "Throttled"}, "ResponseMetadata": metadata})


def http_status_error(status: int) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status))


TELLING: list[Callable[[int], Exception]] = [
    refused,
    http_status_error,
    botocore,
    lambda status: Shaped(status_code=status),
    lambda status: Shaped(code=status),
    lambda status: Shaped(response=SimpleNamespace(status_code=status)),
    lambda status: Shaped(response=SimpleNamespace(status=status)),
    lambda status: caused(refused(status)),
    lambda status: caused(refused(status), explicit=False),
    lambda status: caused(caused(Shaped(status=status))),
]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
@pytest.mark.parametrize("make", TELLING)
def test_a_status_that_passes_passes_wherever_it_is_told(
    make: Callable[[int], Exception], status: int
) -> None:
    assert is_transient(make(status))
    refusal = make(401)
    assert not is_transient(refusal)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_what_is_refused_is_refused_again(status: int) -> None:
    for error in (refused(status), http_status_error(status), botocore(status), Shaped(status=status)):
        assert not is_transient(error)
        assert not is_transient(caused(error))
    # A name says less than a status.
    assert not is_transient(
        type("HTTPError", (Shaped,), {})(response=SimpleNamespace(status_code=status))
    )


def test_an_enumerated_status_is_a_number() -> None:
    assert is_transient(Shaped(code=HTTPStatus.TOO_MANY_REQUESTS))
    assert not is_transient(Shaped(code=HTTPStatus.FORBIDDEN))
    assert not is_transient(Shaped(code=True))
    assert not is_transient(Shaped(code="rate_limit"))
    assert not is_transient(Shaped(status=200))


@pytest.mark.parametrize(
    "error",
    [
        openai.APIConnectionError(request=REQUEST),
        openai.APITimeoutError(request=REQUEST),
        httpx.ReadTimeout("late"),
        httpx.RemoteProtocolError("gone"),
        httpx.ConnectError("nobody"),
        ConnectionResetError("reset"),
        BrokenPipeError(),
        TimeoutError(),
        asyncio.TimeoutError(),
        LateFuture(),
        IncompleteRead(b""),
        json.JSONDecodeError("half", "{", 1),
        named("APIConnectionError"),
        named("OverloadedError"),
        named("ConnectTimeout", type("Timeout", (OSError,), {})),
        named("ServiceUnavailable"),
    ],
)
def test_connections_that_fail_may_do_better(error: Exception) -> None:
    assert is_transient(error)
    assert is_transient(caused(error))


@pytest.mark.parametrize(
    "error", [ValueError("bug"), KeyError("bug"), FileNotFoundError(), MemoryError()]
)
def test_bugs_do_not_pass(error: Exception) -> None:
    assert not is_transient(error)
    assert not is_transient(caused(error))


def test_a_spent_quota_is_no_rate_limit() -> None:
    body = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
    quota = openai.RateLimitError("spent", response=httpx.Response(429, request=REQUEST), body=body)
    assert not is_transient(quota)
    assert not is_transient(caused(quota))


def test_the_nearest_error_that_tells_decides() -> None:
    fallback_refused = Shaped(status=401)
    fallback_refused.__context__ = Shaped(status=429)
    assert not is_transient(fallback_refused)
    fallback_busy = Shaped(status=429)
    fallback_busy.__context__ = Shaped(status=401)
    assert is_transient(fallback_busy)


def test_a_suppressed_context_tells_nothing() -> None:
    error = caused(TimeoutError(), explicit=False)
    error.__suppress_context__ = True
    assert not is_transient(error)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no groups of exceptions before")
def test_of_a_group_each_must_pass() -> None:
    group: Any = __import__("builtins").ExceptionGroup
    late, denied = TimeoutError(), refused(401)
    assert is_transient(group("all", [late, refused(503)]))
    assert not is_transient(group("one", [late, denied]))
    assert not is_transient(group("one", [late, group("deep", [denied])]))
    assert not is_transient(group("bug", [late, ValueError("bug")]))
    assert is_transient(caused(group("all", [late])))
    assert retry_after(group("all", [late, refused(429, retry_after="3")])) == 3


def test_cycles_and_long_chains_come_to_an_end() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert not is_transient(one)
    assert retry_after(one) is None
    looped = Shaped(exceptions=[])
    looped.exceptions = [looped, looped]  # type: ignore[attr-defined] -- only groups have it
    assert not is_transient(looped)
    deep: Exception = TimeoutError()
    for _ in range(10_000):
        outer = ValueError("outer")
        outer.__cause__ = deep
        deep = outer
    assert not is_transient(deep)


def test_an_error_that_equals_everything_is_still_one_of_several() -> None:
    class Equal(Exception):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment] -- as a dict

    outer = Equal()
    outer.__cause__ = TimeoutError()
    assert is_transient(outer)


@pytest.mark.parametrize(
    ("passing", "cause", "expected"),
    [
        (None, None, False),
        (None, TimeoutError(), True),
        (None, ValueError(), False),
        (True, None, True),
        (True, ValueError("a model's own"), True),
        (True, refused(401), False),
        (True, caused(refused(400)), False),
        (True, refused(503), True),
        (False, TimeoutError(), False),
    ],
)
def test_a_reply_that_is_none_says_itself_whether_it_may_pass(
    passing: bool | None, cause: BaseException | None, expected: bool
) -> None:
    error = UnusableReply("none", passing=passing)
    error.__cause__ = cause
    assert is_transient(error) is expected


def test_when_to_come_back_is_read_wherever_it_is_told() -> None:
    soon = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=60), usegmt=True)
    assert retry_after(refused(429, retry_after="7")) == 7
    assert retry_after(refused(429, retry_after="0.3")) == 0.3
    assert retry_after(refused(429, retry_after="7", retry_after_ms="250")) == 0.25
    assert retry_after(caused(refused(429, retry_after="7"))) == 7
    assert retry_after(Shaped(headers={"Retry-After": 7})) == 7
    assert retry_after(Shaped(response=SimpleNamespace(headers={"RETRY-AFTER": "7"}))) == 7
    assert retry_after(botocore(429, **{"retry-after": "7"})) == 7
    assert 55 < (retry_after(refused(429, retry_after=soon)) or 0) <= 60
    past = format_datetime(datetime.now(timezone.utc) - timedelta(hours=1), usegmt=True)
    assert retry_after(refused(429, retry_after=past)) == 0


@pytest.mark.parametrize("told", ["", "soon", "-1", "nan", "inf", "Wed, 99 Foo 2026"])
def test_what_cannot_be_read_is_not_told(told: str) -> None:
    assert retry_after(refused(429, retry_after=told)) is None
    assert retry_after(Shaped(headers=told)) is None
    assert retry_after(ValueError("no headers at all")) is None
