"""What came and what was answered."""

import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from tests.support.faults import Fault
from tests.support.messages import Body
from tests.support.responses import Response, Tokens


class Ledger:
    """Counts for any number of threads; whoever has read a response finds it counted."""

    def __init__(self) -> None:
        self.requests: list[Body] = []
        self.outcomes: list[int | Fault] = []
        self.peak = 0
        self._running = 0
        self._paid: list[Tokens] = []
        self._lock = threading.Lock()

    @property
    def faults_sent(self) -> Counter[Fault]:
        """How often each fault was sent."""
        return Counter(outcome for outcome in self.outcomes.copy() if isinstance(outcome, Fault))

    @property
    def paid(self) -> int:
        """How many completions were sent in full."""
        return len(self._paid)

    @property
    def tokens(self) -> Tokens:
        """What they took together."""
        paid = self._paid.copy()
        return Tokens(*map(sum, zip(*paid, strict=True))) if paid else Tokens()

    def arrived(self, body: Body) -> int:
        """The number of this request, from 1."""
        with self._lock:
            self.requests.append(body)
            return len(self.requests)

    @contextmanager
    def in_progress(self) -> Generator[None, None, None]:
        """While a request is."""
        with self._lock:
            self._running += 1
            self.peak = max(self.peak, self._running)
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1

    @contextmanager
    def sending(self, response: Response) -> Generator[None, None, None]:
        """While it is; a completion that could not be sent is not paid."""
        with self._lock:
            self.outcomes.append(response.outcome)
            self._paid += [response.tokens] if response.tokens else []
        try:
            yield
        except OSError:
            with self._lock:
                if response.tokens:
                    self._paid.remove(response.tokens)
            raise
