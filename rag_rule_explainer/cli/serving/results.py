"""This module defines the results that the tools of the server return. Clients get the JSON Schemas of
these results."""

from typing import Literal

from pydantic import BaseModel

from ...explanation.explanation import Explanation
from ...explanation.summary import Summary
from ...explanation.verification import Verification
from ...printable import shortened
from ...session.estimate.estimate import Estimate
from .saved import SavedPlace

_LONGEST = 50_000


def _text_of(saved: SavedPlace, found: Explanation | Verification) -> str:
    return f"NOT SAVED: {saved.why_not}\n{found}" if saved.why_not else str(found)


class EstimatedReplays(BaseModel):
    """This model says what an explanation would cost. ``text``: the estimate as a table, with what it
    assumes."""

    sources: int
    best_replays: int
    typical_replays: int
    worst_replays: int
    prompt_tokens: int
    text: str

    @classmethod
    def of(cls, estimate: Estimate) -> "EstimatedReplays":
        """Returns the estimate in the form for clients."""
        return cls(
            sources=estimate.sources,
            best_replays=estimate.best.replays,
            typical_replays=estimate.typical.replays,
            worst_replays=estimate.worst.replays,
            prompt_tokens=estimate.prompt_tokens,
            text=str(estimate),
        )


class ExplainedAnswer(BaseModel):
    """This model holds the rules of an answer. ``name``: the name of the saved file, which the tool
    ``show`` accepts; empty if the explanation could not be saved, and ``text`` then begins with the
    reason. ``text``: the rules in words; each says whether it is proved or only tested."""

    name: str
    text: str
    summary: Summary

    @classmethod
    def of(cls, explanation: Explanation, saved: SavedPlace) -> "ExplainedAnswer":
        """Returns the explanation in the form for clients."""
        return cls(name=saved.name, text=_text_of(saved, explanation), summary=explanation.summary())


class VerifiedRule(BaseModel):
    """This model says whether one rule holds. ``holds``: None if this is undecided. ``text``: the rule
    with its evidence, or a subset that breaks it. ``name``: the name of the saved file, which the tool
    ``show`` accepts."""

    holds: bool | None
    kind: Literal["retention", "omission"]
    sources: tuple[str, ...]
    text: str
    replays: int
    name: str

    @classmethod
    def of(cls, verification: Verification, saved: SavedPlace) -> "VerifiedRule":
        """Returns the verification in the form for clients."""
        return cls(
            holds=verification.holds,
            kind=verification.kind.value,
            sources=verification.sources,
            text=_text_of(saved, verification),
            replays=verification.explanation.counts.replays,
            name=saved.name,
        )


class ShownExplanation(BaseModel):
    """This model holds a saved explanation, or the names of all saved explanations. ``text``: the report,
    or one name on each line. ``summary``: None for a list of names."""

    names: list[str]
    text: str
    summary: Summary | None = None

    @classmethod
    def of(cls, explanation: Explanation, name: str, form: str) -> "ShownExplanation":
        """Returns a saved explanation in the form for clients. ``form``: the form of its report, such as
        "markdown"."""
        text = shortened(explanation.report(form), _LONGEST)
        return cls(names=[name], text=text, summary=explanation.summary())
