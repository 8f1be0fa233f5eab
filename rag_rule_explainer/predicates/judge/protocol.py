"""This module defines the interface of judges. A judge gets a request and returns an opinion on each
candidate (an answer to be judged)."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from ...printable import without_secrets


@dataclass(frozen=True, slots=True)
class Matter:
    """A ``Matter`` holds what the judge must decide about each candidate (an answer to be judged).

    ``criterion``: a statement about the candidate; the verdict is "yes" if it is true. ``question``: the
    question that the candidates answer. ``truth``: the known right answer with which the candidate is
    compared; None if there is none. ``reference``: a text to which the criterion refers; None if there is
    none.
    """

    criterion: str
    question: str
    truth: str | None = None
    reference: str | None = None


class Candidate(NamedTuple):
    """A ``Candidate`` is an answer as the judge is shown it. ``id``: an id for this request only.
    ``left_out``: the number of characters that were cut from the middle of the answer, because it was too
    long."""

    id: str
    answer: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A ``JudgeRequest`` is one request to a judge.

    ``instructions``: the package's fixed text, for the system message. ``content``: the text for the user
    message. It is one JSON object with the criterion, the question, the candidates (the answers to be
    judged) and, if there are any, the known right answer and the reference. ``matter`` and ``candidates``
    have the same content as Python objects, for judges that are functions.
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
    """A ``JudgeReply`` holds a judge's reply and the tokens that the judge used. ``content``: the
    opinions. ``usage``: the number of tokens by kind, such as "input_tokens". ``models``: the same
    numbers for each model. Both are None if they are not known."""

    content: object
    usage: Mapping[str, int] | None = None
    models: Mapping[str, Mapping[str, int]] | None = None


JudgeSays: TypeAlias = str | Mapping[str, Any] | JudgeReply


class Judge(Protocol):
    """A ``Judge`` is a function that gives opinions on answers. It may be sync or async, and returns the
    opinions as JSON, as a mapping, or as a JudgeReply.

    The module ``reply`` describes the JSON. A mapping has the candidates' ids as keys. Its values are
    True, False, "yes", "no", "unsure", a Verdict, a Judgement, or ``{"verdict": ..., "reason": ...}``.
    """

    def __call__(self, request: JudgeRequest, /) -> JudgeSays | Awaitable[JudgeSays]:
        """Returns one opinion on each candidate. If it raises an error, the probes of all candidates
        are UNKNOWN."""
        ...


class JudgeFailed(Exception):
    """This error says why there is no opinion on a candidate (an answer to be judged). The probe with
    the candidate is UNKNOWN, and is judged again when it is next needed.

    ``reply``: the beginning of the judge's reply, for messages; empty if there is no reply.
    """

    def __init__(self, *arguments: object, reply: str = "") -> None:
        self.reply = without_secrets(reply)
        # The message of a provider, which the reason may quote, may contain a key. So keys are masked.
        super().__init__(
            *(without_secrets(each) if isinstance(each, str) else each for each in arguments)
        )
