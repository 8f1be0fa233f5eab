"""This module checks whether the endpoint of traces answers, before an explanation sends thousands of
runs there.

If an endpoint does not answer, tracing clients try again and again to deliver their data. Most clients do
this in threads that keep the process from ending.
"""

import http.client
import os
import socket
import ssl
import threading
import time
from contextlib import suppress
from logging import getLogger
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

ANSWERS_WITHIN = 2.0
"""The seconds within which an endpoint must answer."""
_KNOWN_FOR = 60.0
"""The seconds for which the result of a check is used before the endpoint is checked once more. If the
endpoint gives no answer again, this time is doubled, because otherwise each of many explanations would
wait for it."""
_KNOWN_AT_MOST = 3600.0
"""The seconds after which an endpoint that gave no answer is checked again in any case."""
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The first bytes that a client of HTTP/2 sends. A gRPC server answers them with its settings."""
_GRPC_PORT = 443
"""The port that is used if the address of a gRPC endpoint has none."""
_GRPC_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
"""The environment variables from which gRPC reads the address of a proxy."""
_LOG = getLogger(__name__)

_asking = threading.Lock()
_known: dict[str, tuple[float, bool, float]] = {}


def why_not(endpoint: str, *, anew: bool = False) -> str:
    """Checks an endpoint. If it does not answer, returns a note for the user that says so; returns an
    empty text if it answers or cannot be checked. Blocks. ``anew``: True to check even if there is a
    recent result."""
    # Only one caller checks at a time; callers that waited for the lock use its result.
    with _asking:
        at, answers, lasts = _known.get(endpoint, (0.0, True, 0.0))
        is_old = not at or time.monotonic() - at > lasts
        if anew or is_old:
            was_dead, answers = not answers, _answers(endpoint)
            longer = lasts * 2 if is_old else lasts
            lasts = min(longer, _KNOWN_AT_MOST) if was_dead and not answers else _KNOWN_FOR
            _known[endpoint] = time.monotonic(), answers, lasts
    if answers:
        return ""
    return (
        f"{endpoint} gave no answer within {ANSWERS_WITHIN:g} seconds, so this explanation is not traced "
        "there: what is not delivered would keep the process from ending"
    )


def _answers(endpoint: str) -> bool:
    try:
        answered = _answers_at(endpoint)
    except OSError as error:
        _LOG.warning("%s, where traces are sent, gave no answer: %s", endpoint, type(error).__name__)
        return False
    return answered


def _answers_at(endpoint: str) -> bool:
    """Returns True if the endpoint answered. Also returns True if this function cannot check the
    endpoint, because the endpoint is behind a proxy, or only the tracer's own client can reach it. Raises
    OSError if the endpoint did not answer."""
    if "://" not in endpoint:
        return _answers_grpc(endpoint)
    url = urlsplit(endpoint)
    if url.scheme not in {"http", "https"} or not url.hostname or _goes_by_proxy(url):
        return True
    is_safe = url.scheme == "https"
    made = http.client.HTTPSConnection if is_safe else http.client.HTTPConnection
    connection = made(url.hostname, url.port, timeout=ANSWERS_WITHIN)
    try:
        # The content of the reply does not matter: any reply shows that the endpoint takes requests.
        connection.request("GET", url.path or "/")
        connection.getresponse()
    except (ssl.SSLError, http.client.HTTPException):
        return True  # a server is there, but only the tracer's client knows its certificates or protocol
    finally:
        connection.close()
    return True


def _answers_grpc(endpoint: str) -> bool:
    """Checks an endpoint of OTLP over gRPC, whose address is a host and a port without a scheme. Returns
    True if the endpoint answered, or cannot be checked (for example, it is behind a proxy). Raises
    OSError if it did not answer."""
    if any(os.environ.get(each) for each in _GRPC_PROXIES):
        return True
    try:
        place = urlsplit(f"//{endpoint}")
        address = place.hostname, place.port or _GRPC_PORT
    except ValueError:
        return True
    if not address[0] or place.netloc != endpoint or endpoint.startswith("unix:"):
        return True
    connection = socket.create_connection(address, timeout=ANSWERS_WITHIN)
    # A server that expects TLS ends a connection that begins without it. This shows that the server runs,
    # so it counts as an answer.
    with connection, suppress(ConnectionError):
        connection.sendall(_GREETING)
        connection.recv(1)
    return True


def _goes_by_proxy(url: SplitResult) -> bool:
    return url.scheme in getproxies() and not proxy_bypass(url.hostname or "")
