"""This module defines the interface of judges: a judge reads a request and returns an opinion per
candidate."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from ...printable import without_secrets


@dataclass(frozen=True, slots=True)
class Matter:
    """A ``Matter`` holds what the judge must decide about each candidate. ``criterion``: the statement
    about the candidate that a "yes" confirms. ``truth``: the answer to which candidates are compared;
    ``reference``: a text to which the criterion refers. Both may be None."""

    criterion: str
    question: str
    truth: str | None = None
    reference: str | None = None


class Candidate(NamedTuple):
    """A ``Candidate`` holds an answer as shown to the judge, under an id that is used in this request
    only. ``left_out``: the number of characters cut from its middle."""

    id: str
    answer: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A ``JudgeRequest`` holds one request to a judge. ``instructions``: the package's fixed text for
    a system message. ``content``: the matter and the candidates as one JSON object, for the user
    message."""

    instructions: str
    content: str
    matter: Matter
    candidates: tuple[Candidate, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the candidates' ids, in order."""
        return tuple(candidate.id for candidate in self.candidates)


class JudgeReply(NamedTuple):
    """A ``JudgeReply`` holds a judge's reply and the tokens used: by kind, and by kind for each model if
    known."""

    content: object
    usage: Mapping[str, int] | None = None
    models: Mapping[str, Mapping[str, int]] | None = None


JudgeSays: TypeAlias = str | Mapping[str, Any] | JudgeReply


class Judge(Protocol):
    """This protocol describes a judge: sync or async, it returns opinions as JSON, a mapping, or a
    JudgeReply. The module ``reply`` describes the JSON. A mapping leads from the candidates' ids to
    True, False, "yes", "no", "unsure", a Verdict, a Judgement, or ``{"verdict": ..., "reason": ...}``."""

    def __call__(self, request: JudgeRequest, /) -> JudgeSays | Awaitable[JudgeSays]:
        """Returns one opinion per candidate. If it raises, the probes of all candidates are UNKNOWN."""
        ...


class JudgeFailed(Exception):
    """This error gives the reason why a candidate has no opinion. Its probe is UNKNOWN and is not
    cached. ``reply``: the beginning of the judge's reply, for messages; empty if there is none."""

    def __init__(self, *arguments: object, reply: str = "") -> None:
        self.reply = without_secrets(reply)
        # The reason may quote a provider's message, which may contain a key.
        super().__init__(
            *(without_secrets(each) if isinstance(each, str) else each for each in arguments)
        )
