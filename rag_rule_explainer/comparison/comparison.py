"""This module defines the result of a comparison. It is a pydantic model, which can be serialised."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from ..errors import InvalidInput
from ..printable import shortened
from ..rules import RuleKind
from .records import Change, Letter, MatchedSource, Unsettled, What
from .text import comparison_lines

FailOn: TypeAlias = Literal["gained", "lost", "any"]

_PERHAPS: Mapping[FailOn, tuple[What, ...]] = {
    "gained": ("perhaps gained",),
    "lost": ("perhaps lost",),
    "any": ("perhaps gained", "perhaps lost"),
}
_HIDES: Mapping[FailOn, tuple[Letter, ...]] = {"gained": ("B",), "lost": (), "any": ("A", "B")}
"""For each kind of change: the explanations whose unreported rules could turn out to be such a change."""


class Comparison(BaseModel):
    """A ``Comparison`` holds the changes from the rules of one explanation, A, to those of another, B.

    ``changes``: the differences. ``unchanged``: the number of equal rules. ``compared``: for each
    compared kind of rule, its condition. ``not_compared``: for each other kind, the reason why it was not
    compared. ``unsettled``: the explanations that may have more rules than they report. ``warnings``:
    sentences to read before the changes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    schema_version: Literal[1] = 1
    questions: tuple[str, str]
    answers: tuple[str, str]
    sources: tuple[MatchedSource, ...]
    compared: dict[RuleKind, str]
    not_compared: dict[RuleKind, str] = {}
    changes: tuple[Change, ...] = ()
    unchanged: int = 0
    unsettled: tuple[Unsettled, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def lost(self) -> tuple[Change, ...]:
        """Returns the losses: the rules of A that are not rules of B. This includes rules that B
        replaces by rules with more sources."""
        return tuple(change for change in self.changes if change.is_loss)

    @property
    def gained(self) -> tuple[Change, ...]:
        """Returns the gains: the rules of B that are not rules of A. This includes rules that replace
        rules of A with more sources."""
        return tuple(change for change in self.changes if change.is_gain)

    @property
    def inconclusive(self) -> tuple[Change, ...]:
        """Returns the changes that are only possible ("perhaps lost", "perhaps gained")."""
        return tuple(change for change in self.changes if not change.is_certain)

    @property
    def clean(self) -> bool:
        """Returns True iff there is certainly no change."""
        return self.fails() is False

    def fails(self, on: FailOn = "any") -> bool | None:
        """Returns True iff there is a certain change of this kind: "lost", "gained" or "any". Returns
        None if this cannot be decided.

        For "lost", only rules that A reports count, so A need not be complete. For "gained", B may have
        rules that it has not reported, which leaves the result undecided. For "any", every difference
        counts, including differences in the evidence.
        """
        if not isinstance(on, str) or on not in _PERHAPS:  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"fails({on!r}) asks for nothing; give one of {', '.join(_PERHAPS)}")
        certain = [change for change in self.changes if change.is_certain]
        if {"lost": self.lost, "gained": self.gained, "any": certain}[on]:
            return True
        perhaps = (
            *self.not_compared,
            *(change for change in self.inconclusive if change.what in _PERHAPS[on]),
            *(each for each in self.unsettled if each.side in _HIDES[on]),
        )
        return None if perhaps else False

    def __repr__(self) -> str:
        question = shortened(self.questions[0], 60)
        return f"<Comparison for {question!r}: {len(self.changes)} changes, {self.unchanged} unchanged>"

    def __str__(self) -> str:
        return "\n".join(comparison_lines(self))
