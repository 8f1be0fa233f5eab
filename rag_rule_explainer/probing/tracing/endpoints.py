"""Whether anybody answers where traces are sent.

What is sent to a dead endpoint is tried again many times, mostly by what a process waits for before it
ends. An explanation makes thousands of runs, so it sends none where nobody would receive them.
"""

import http.client
import ssl
import threading
import time
from logging import getLogger
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

ANSWERS_WITHIN = 2.0
"""Seconds that an endpoint has to answer."""
_KNOWN_FOR = 60.0
"""Seconds for which what an endpoint did is taken for what it would do."""
_LOG = getLogger(__name__)

_asking = threading.Lock()
_known: dict[str, tuple[float, bool]] = {}


def why_not(endpoint: str, *, anew: bool = False) -> str:
    """Says that nobody answers there; empty where somebody does, or where it cannot be asked. Blocks.

    ``anew``: whatever is known of it.
    """
    # Whoever comes meanwhile wants to know the same.
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
        return True  # in some other way than from here
    is_safe = url.scheme == "https"
    made = http.client.HTTPSConnection if is_safe else http.client.HTTPConnection
    connection = made(url.hostname, url.port, timeout=ANSWERS_WITHIN)
    try:
        # Any answer will do: it is somebody who takes requests.
        connection.request("GET", url.path or "/")
        connection.getresponse()
    except (ssl.SSLError, http.client.HTTPException):
        return True  # by certificates that only its client knows, or in another protocol
    except OSError as error:
        _LOG.warning("%s, where traces are sent, gave no answer: %s", endpoint, type(error).__name__)
        return False
    finally:
        connection.close()
    return True


def _goes_by_proxy(url: SplitResult) -> bool:
    return url.scheme in getproxies() and not proxy_bypass(url.hostname or "")
