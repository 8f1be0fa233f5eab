"""This module checks that the endpoint of traces answers, before an explanation sends thousands of runs
there.

Clients retry what a dead endpoint does not take, mostly in threads that keep the process from ending.
"""

import http.client
import ssl
import threading
import time
from logging import getLogger
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

ANSWERS_WITHIN = 2.0
"""The seconds within which an endpoint must answer."""
_KNOWN_FOR = 60.0
"""The seconds for which the result of a check is reused."""
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
    url = urlsplit(endpoint)
    if url.scheme not in {"http", "https"} or not url.hostname or _goes_by_proxy(url):
        return True  # this check does not go by its way
    is_safe = url.scheme == "https"
    made = http.client.HTTPSConnection if is_safe else http.client.HTTPConnection
    connection = made(url.hostname, url.port, timeout=ANSWERS_WITHIN)
    try:
        # Any reply shows that the endpoint takes requests.
        connection.request("GET", url.path or "/")
        connection.getresponse()
    except (ssl.SSLError, http.client.HTTPException):
        return True  # only its client knows the certificates or the protocol
    except OSError as error:
        _LOG.warning("%s, where traces are sent, gave no answer: %s", endpoint, type(error).__name__)
        return False
    finally:
        connection.close()
    return True


def _goes_by_proxy(url: SplitResult) -> bool:
    return url.scheme in getproxies() and not proxy_bypass(url.hostname or "")
