"""What a comparison is. Pydantic, because it leaves the process."""

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
"""The sides whose unreported rules could be such a change."""


class Comparison(BaseModel):
    """What became of the rules of one explanation, A, in another, B.

    ``changes``: what differs; ``unchanged``: how many rules do not. ``compared``: the condition of each
    kind of rule that was compared; ``not_compared``: why another was not. ``unsettled``: where a side
    may have rules that it does not report. ``warnings``: what is to be read first.
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
        """Returns the rules of A that are none of B, those among them that larger ones replace."""
        return tuple(change for change in self.changes if change.is_loss)

    @property
    def gained(self) -> tuple[Change, ...]:
        """Returns the rules of B that are none of A, those among them that replace larger ones."""
        return tuple(change for change in self.changes if change.is_gain)

    @property
    def inconclusive(self) -> tuple[Change, ...]:
        """Returns what perhaps changed."""
        return tuple(change for change in self.changes if not change.is_certain)

    @property
    def clean(self) -> bool:
        """Returns True iff it is certain that nothing changed."""
        return self.fails() is False

    def fails(self, on: FailOn = "any") -> bool | None:
        """Returns whether something was "lost", was "gained", or is different in "any" way; None:
        perhaps.

        Only what A reports can be lost, so A need not be complete for that. What B does not report yet
        can be gained. Every difference counts as "any", in what a rule rests on as well.
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
        told = shortened(self.questions[0], 60)
        return f"<Comparison for {told!r}: {len(self.changes)} changes, {self.unchanged} unchanged>"

    def __str__(self) -> str:
        return "\n".join(comparison_lines(self))
