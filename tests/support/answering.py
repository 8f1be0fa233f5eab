"""What is answered to a request, before there is any connection."""

import json
import threading
from collections import Counter
from dataclasses import replace
from hashlib import sha256

from tests.support.completions import Completion, Script, completion
from tests.support.faults import Fault, Faults
from tests.support.latency import Seconds, seconds
from tests.support.messages import Body, prompt
from tests.support.prefix_cache import PrefixCache
from tests.support.responses import Response


class Answering:
    """Asks the script, lets faults befall what it says, and counts what is cached. Thread-safe."""

    def __init__(
        self,
        script: Script,
        *,
        faults: Faults | None,
        retry_after: Seconds | None,
        cache: PrefixCache | None,
    ) -> None:
        self._script = script
        self._faults = faults
        self._retry_after = retry_after
        self._cache = cache
        self._came: Counter[bytes] = Counter()
        self._lock = threading.Lock()

    def respond(self, body: Body, number: int) -> Response:
        """The response to the request of that number. Raises Refused, and what the script raises."""
        reply = self._reply(body, self._drawn(body))
        if reply.fault is not None and reply.fault.before_the_model:
            return self._failing(reply.fault, body)
        cached = self._cache.ask(prompt(body).split()) if self._cache else None
        return completion(body, reply, number, cached)

    def _drawn(self, body: Body) -> Fault | None:
        if self._faults is None:
            return None
        key = sha256(json.dumps(body, sort_keys=True).encode()).digest()
        with self._lock:
            before = self._came[key]
            self._came[key] += 1
        return self._faults.draw(body, before)

    def _reply(self, body: Body, drawn: Fault | None) -> Completion:
        if drawn is not None and drawn.before_the_model:
            return Completion.of(drawn)
        said = Completion.of(self._script(body))
        return said if said.fault else replace(said, fault=drawn)

    def _failing(self, fault: Fault, body: Body) -> Response:
        if fault is Fault.RATE_LIMITED:
            wait = None if self._retry_after is None else seconds(self._retry_after, body)
            refused = Response.refusing(429, "Rate limit reached for requests", "rate_limit_exceeded")
            return replace(refused, retry_after=wait, fault=fault)
        if fault is Fault.SERVER_ERROR:
            why = "The server had an error while processing your request"
            return replace(Response.refusing(500, why), fault=fault)
        return Response(0, fault=fault)
