"""This module checks that the endpoint of traces answers, before an explanation sends thousands of runs
there.

Clients retry what a dead endpoint does not take, mostly in threads that keep the process from ending.
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
"""The seconds for which the result of a check is reused."""
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The first bytes of a connection of HTTP/2, which a gRPC server answers with its settings."""
_GRPC_PORT = 443
"""The port of a gRPC endpoint that names none."""
_GRPC_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
"""The environment variables that gRPC reads the address of a proxy from."""
_LOG = getLogger(__name__)

_asking = threading.Lock()
_known: dict[str, tuple[float, bool]] = {}


def why_not(endpoint: str, *, anew: bool = False) -> str:
    """Returns a note that the endpoint does not answer; empty if it does, or cannot be checked. Blocks.
    ``anew``: ignores an earlier result."""
    # Callers that wait for the lock reuse the result.
    with _asking:
        at, answers = _known.get(endpoint, (0.0, False))
        if anew or not at or time.monotonic() - at > _KNOWN_FOR:
            answers = _answers(endpoint)
            _known[endpoint] = time.monotonic(), answers
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
    """Returns True if an answer came, or if this check cannot go the way of the traces. Raises OSError
    if none came."""
    if "://" not in endpoint:
        return _answers_grpc(endpoint)
    url = urlsplit(endpoint)
    if url.scheme not in {"http", "https"} or not url.hostname or _goes_by_proxy(url):
        return True
    is_safe = url.scheme == "https"
    made = http.client.HTTPSConnection if is_safe else http.client.HTTPConnection
    connection = made(url.hostname, url.port, timeout=ANSWERS_WITHIN)
    try:
        # Any reply shows that the endpoint takes requests.
        connection.request("GET", url.path or "/")
        connection.getresponse()
    except (ssl.SSLError, http.client.HTTPException):
        return True  # only its client knows the certificates or the protocol
    finally:
        connection.close()
    return True


def _answers_grpc(endpoint: str) -> bool:
    """Checks an endpoint as exporters of OTLP by gRPC write it: a host and a port, without a scheme."""
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
    # A server that expects TLS ends a connection that begins without it; that is an answer as well.
    with connection, suppress(ConnectionError):
        connection.sendall(_GREETING)
        connection.recv(1)
    return True


def _goes_by_proxy(url: SplitResult) -> bool:
    return url.scheme in getproxies() and not proxy_bypass(url.hostname or "")
