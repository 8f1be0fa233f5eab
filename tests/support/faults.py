"""What goes wrong between a client and a model, and how often."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rag_rule_explainer.errors import InvalidInput
from tests.support.draws import drawing


class Fault(Enum):
    """A way in which a request fails, or looks answered and is not.

    Where nothing is streamed, HALF_STREAM is a completion without a finish_reason, and BROKEN_STREAM a
    body that is shorter than its Content-Length. Who draws HANG needs a client that times out.
    """

    RATE_LIMITED = "429, with Retry-After"
    SERVER_ERROR = "500"
    MALFORMED_JSON = "200, and half of the JSON"
    HALF_STREAM = "half of the text, without a finish_reason, then a clean end"
    BROKEN_STREAM = "half of the text, then the connection is closed"
    NULL_CONTENT = "null for a text"
    EMPTY_TEXT = "an empty text"
    CUT_OFF = "half of the text, and the length limit as finish_reason"
    NO_CHOICES = "an empty list of choices"
    RESET = "a connection that is reset without a response"
    HANG = "no response, until the client goes away or the server is closed"

    @property
    def before_the_model(self) -> bool:
        """Whether it strikes before the model is asked."""
        return self in (Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.RESET, Fault.HANG)


@dataclass(frozen=True, slots=True)
class Faults:
    """Lets each request fail with the probability ``share``, in one of ``kinds``, all equally likely.

    The seed, the body, and how often it came before determine whether and how: a retry has new luck, and
    a run fails in the same places again, however many clients there are. Raises InvalidInput if ``share``
    is no probability or there are no kinds.
    """

    share: float
    seed: int = 0
    kinds: tuple[Fault, ...] = tuple(Fault)

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise InvalidInput(f"share is {self.share!r}; give a probability, from 0 to 1")
        if not self.kinds:
            raise InvalidInput("kinds is empty; give at least one Fault")

    def draw(self, body: Mapping[str, Any], before: int) -> Fault | None:
        """What befalls a body that came ``before`` times already."""
        draw = drawing(self.seed, body, before)
        return draw.choice(self.kinds) if draw.random() < self.share else None
