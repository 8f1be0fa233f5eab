"""What a judge is: somebody who reads a request and gives an opinion on each candidate in it."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from ...printable import without_secrets


@dataclass(frozen=True, slots=True)
class Matter:
    """What is to be decided of each candidate.

    ``criterion``: what a candidate does or is where the verdict is yes. ``truth``: the answer that it is
    to be equivalent to, ``reference``: what else the criterion speaks of; None where there is none.
    """

    criterion: str
    question: str
    truth: str | None = None
    reference: str | None = None


class Candidate(NamedTuple):
    """This class represents an answer as the judge is shown it, under an id of this request alone.

    ``left_out``: how many characters in its middle the judge is not shown.
    """

    id: str
    answer: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What a judge is asked.

    ``instructions``: ours, always the same, for a system message. ``content``: the matter and the
    candidates as one JSON object, for the user's message.
    """

    instructions: str
    content: str
    matter: Matter
    candidates: tuple[Candidate, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the candidates' ids, in order."""
        return tuple(candidate.id for candidate in self.candidates)


class JudgeReply(NamedTuple):
    """What a judge says, and the tokens that it spent, by kind and, where that is known, by model."""

    content: object
    usage: Mapping[str, int] | None = None
    models: Mapping[str, Mapping[str, int]] | None = None


JudgeSays: TypeAlias = str | Mapping[str, Any] | JudgeReply


class Judge(Protocol):
    """Gives its opinions as JSON, as a mapping, or as a JudgeReply; sync or async.

    The JSON is as ``reply`` describes. A mapping goes from the candidates' ids to True, False, "yes",
    "no", "unsure", a Verdict or a Judgement, or to ``{"verdict": ..., "reason": ...}``.
    """

    def __call__(self, request: JudgeRequest, /) -> JudgeSays | Awaitable[JudgeSays]:
        """One opinion for each candidate; what is raised makes their probes UNKNOWN."""
        ...


class JudgeFailed(Exception):
    """A candidate for which there is no opinion, and why. Its probe is UNKNOWN, and not remembered."""

    def __init__(self, *told: object) -> None:
        # It may be what a provider said.
        super().__init__(*(without_secrets(each) if isinstance(each, str) else each for each in told))
