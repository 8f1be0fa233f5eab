"""This module defines the result of a comparison: a pydantic model, which can be written as JSON."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from ..errors import InvalidInput
from ..explanation.in_notebooks import InNotebooks
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
"""For each value of ``on``, the explanations whose search must have been complete before
``Comparison.fails(on)`` may return False.

For example, "gained" needs a complete search of B: a rule of B that was not found might be a gained one.
"lost" needs none: each rule of A that B does not report is already listed, at least as "perhaps lost".
"""


class Comparison(InNotebooks, BaseModel):
    """A ``Comparison`` holds the changes from the rules of one explanation, A, to those of a second one,
    B.

    ``questions``, ``answers``: the question and the baseline's answer, of A and of B. ``changes``: the
    differences. ``unchanged``: the number of rules that both have, with equally strong evidence.
    ``compared``: for each kind of rule that is compared, its condition. ``not_compared``: for each other
    kind, why it is not compared. ``unsettled``: the explanations that may have more rules than they
    report. ``undecided``: the reasons why the comparison allows no conclusion, such as a different
    question or different pinned sources. ``warnings``: sentences that should be read before the changes.
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
    undecided: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def lost(self) -> tuple[Change, ...]:
        """Returns the losses: the rules of A that are not rules of B. If B has rules with more sources
        instead, this is a loss too."""
        return tuple(change for change in self.changes if change.is_loss)

    @property
    def gained(self) -> tuple[Change, ...]:
        """Returns the gains: the rules of B that are not rules of A. If A had rules with more sources
        instead, this is a gain too."""
        return tuple(change for change in self.changes if change.is_gain)

    @property
    def inconclusive(self) -> tuple[Change, ...]:
        """Returns the changes that may or may not exist ("perhaps lost", "perhaps gained")."""
        return tuple(change for change in self.changes if not change.is_certain)

    @property
    def clean(self) -> bool:
        """Returns True iff it is certain that nothing changed; False if something changed, and also if
        this cannot be decided."""
        return self.fails() is False

    def fails(self, on: FailOn = "any") -> bool | None:
        """Returns True if there certainly is a change of the kind ``on`` ("lost", "gained" or "any"),
        False if there certainly is none, and None if this cannot be decided. If ``undecided`` gives a
        reason, the result is always None.

        "lost" is only about rules that A reports, so the search of A need not be complete. "gained" is
        undecided if B may have rules that it does not report. "any" means every difference, including
        differences in the evidence. Raises InvalidInput for any other ``on``.
        """
        if not isinstance(on, str) or on not in _PERHAPS:  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
            raise InvalidInput(f"fails({on!r}) asks for nothing; give one of {', '.join(_PERHAPS)}")
        if self.undecided:
            return None
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
