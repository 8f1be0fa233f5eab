"""This module defines the interface of judges. A judge reads a request and returns an opinion on each
candidate."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from ...printable import without_secrets


@dataclass(frozen=True, slots=True)
class Matter:
    """A ``Matter`` holds what the judge must decide about each candidate.

    ``criterion``: the statement about the candidate that a "yes" confirms. ``truth``: the answer with
    which candidates are compared; None if there is none. ``reference``: a text to which the criterion
    refers; None if there is none.
    """

    criterion: str
    question: str
    truth: str | None = None
    reference: str | None = None


class Candidate(NamedTuple):
    """A ``Candidate`` holds an answer as the judge is shown it. ``id``: an id that is used in this
    request only. ``left_out``: the number of characters that were cut from the middle of the answer."""

    id: str
    answer: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A ``JudgeRequest`` holds one request to a judge.

    ``instructions``: the package's fixed text for a system message. ``content``: the matter and the
    candidates as one JSON object, for the user message.
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
    """A ``JudgeReply`` holds a judge's reply and the tokens that it used. ``usage``: the tokens by
    kind. ``models``: the tokens by kind for each model, if known."""

    content: object
    usage: Mapping[str, int] | None = None
    models: Mapping[str, Mapping[str, int]] | None = None


JudgeSays: TypeAlias = str | Mapping[str, Any] | JudgeReply


class Judge(Protocol):
    """This protocol describes a judge. It may be sync or async, and returns opinions as JSON, as a
    mapping, or as a JudgeReply.

    The module ``reply`` describes the JSON. A mapping has the candidates' ids as keys. Its values are
    True, False, "yes", "no", "unsure", a Verdict, a Judgement, or ``{"verdict": ..., "reason": ...}``.
    """

    def __call__(self, request: JudgeRequest, /) -> JudgeSays | Awaitable[JudgeSays]:
        """Returns one opinion on each candidate. If it raises an error, the probes of all candidates
        are UNKNOWN."""
        ...


class JudgeFailed(Exception):
    """This error says why there is no opinion on a candidate. The candidate's probe is UNKNOWN and is not
    cached.

    ``reply``: the beginning of the judge's reply, for messages; empty if there is no reply.
    """

    def __init__(self, *arguments: object, reply: str = "") -> None:
        self.reply = without_secrets(reply)
        # The reason may quote a message of the provider, which may contain a key. So keys are masked.
        super().__init__(
            *(without_secrets(each) if isinstance(each, str) else each for each in arguments)
        )
