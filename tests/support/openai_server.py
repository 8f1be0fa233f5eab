"""An OpenAI-compatible chat endpoint on this machine, for tests of what talks to a real one."""

import threading
from collections import Counter
from types import TracebackType

from tests.support.answering import Answering
from tests.support.completions import Script
from tests.support.connections import Listener
from tests.support.faults import Fault, Faults
from tests.support.latency import Seconds, seconds
from tests.support.ledger import Ledger
from tests.support.messages import Body, read_offline, understood
from tests.support.prefix_cache import PrefixCache
from tests.support.responses import Refused, Response, Tokens


class OpenAIServer:
    """Answers ``POST /v1/chat/completions`` on a port of 127.0.0.1, between ``with`` and its end.

    The text is ``script(body)``; by default it is the offline reader's answer to all messages as one
    prompt. A script may return a ``Completion``, to reply with a fault, or a ``Fault``; this one breaks
    whatever shows one source, always, and reads everything else::

        lambda body: Fault.RESET if "blog-17" in str(body["messages"]) else read_offline(body)

    ``faults``: lets requests fail at random. ``retry_after``: the seconds in the header of a 429; None
    sends none. ``latency``: seconds each answer takes, such as ``LogNormal(0.2)``. ``cache``: reports
    ``cached_tokens`` in the usage; a ``PrefixCache`` may serve several servers. Tokens are counted as
    words apart by white space. With ``"stream": true`` the same comes as server-sent events, with the
    usage unless ``stream_options`` say that it is not to be included.

    A request that cannot be read, or that the script raises on, gets an error status and an error body
    like OpenAI's, and the server goes on. Its end waits for no answer that takes long or hangs.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        latency: Seconds = 0.0,
        faults: Faults | None = None,
        retry_after: Seconds | None = 1,
        cache: PrefixCache | None = None,
    ) -> None:
        self._latency = latency
        self._answering = Answering(
            script or read_offline, faults=faults, retry_after=retry_after, cache=cache
        )
        self._ledger = Ledger()
        self._closing = threading.Event()
        self._listener = Listener(self.respond, self._ledger)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """What a client is given as its base URL."""
        return f"http://127.0.0.1:{self._listener.server_address[1]}/v1"

    @property
    def requests(self) -> list[Body]:
        """The parsed body of every request that was understood, in order of arrival."""
        return self._ledger.requests

    @property
    def peak(self) -> int:
        """The most requests that were in progress at once; those that hang are."""
        return self._ledger.peak

    @property
    def outcomes(self) -> list[int | Fault]:
        """What was sent, in order: the fault, or the HTTP status where there was none."""
        return self._ledger.outcomes

    @property
    def faults_sent(self) -> Counter[Fault]:
        """How often each fault was sent."""
        return self._ledger.faults_sent

    @property
    def paid(self) -> int:
        """How many completions were sent in full, be they empty or cut off at their length."""
        return self._ledger.paid

    @property
    def tokens(self) -> Tokens:
        """The tokens of all of these together."""
        return self._ledger.tokens

    def __enter__(self) -> "OpenAIServer":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._listener.shutdown()
        self._listener.close_connections()
        self._listener.server_close()
        self._thread.join()

    def respond(self, content: bytes) -> Response:
        """The response to a request's body, after ``latency`` seconds."""
        try:
            body = understood(content)
            number = self._ledger.arrived(body)
            with self._ledger.in_progress():
                response = self._answering.respond(body, number)
                self._closing.wait(seconds(self._latency, body))
                return response
        except Refused as refused:
            return Response.refusing(refused.status, str(refused), refused.code)
        except Exception as error:
            return Response.refusing(500, f"{type(error).__name__}: {error}")
