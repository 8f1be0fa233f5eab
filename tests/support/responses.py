"""What goes back over the wire."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.support.faults import Fault


class Tokens(NamedTuple):
    """How many of them; ``cached`` of the ones of the prompt were held in a prefix cache."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Response:
    """A response, or none where ``fault`` is RESET or HANG.

    ``retry_after``: the seconds that its header says. ``missing``: how many bytes more are announced
    than there are. ``tokens``: what a completion took, if the client gets the whole of it.
    """

    status: int
    content_type: str = ""
    content: bytes = b""
    retry_after: float | None = None
    missing: int = 0
    tokens: Tokens | None = None
    fault: Fault | None = None

    @property
    def outcome(self) -> int | Fault:
        """The fault, or the HTTP status where there is none."""
        return self.fault or self.status

    @classmethod
    def of(cls, payload: Mapping[str, Any], status: int = 200) -> "Response":
        """The payload as JSON."""
        return cls(status, "application/json", json.dumps(payload).encode())

    @classmethod
    def refusing(cls, status: int, why: str, code: str | None = None) -> "Response":
        """An error."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        kind = "requests" if status == 429 else kind
        return cls.of({"error": {"message": why, "type": kind, "param": None, "code": code}}, status)


class Refused(Exception):
    """A request that is not answered: with which HTTP status, why, and under which code of OpenAI's."""

    def __init__(self, status: int, why: str, code: str | None = None) -> None:
        self.status = status
        self.code = code
        super().__init__(why)
