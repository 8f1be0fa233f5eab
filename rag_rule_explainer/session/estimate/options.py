"""This module defines the options of an estimate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from ...allowed import brief, showing
from ...errors import InvalidInput
from .assumptions import Assumptions, RunShape


class EstimateFields(TypedDict, total=False):
    """An ``EstimateFields`` is a TypedDict that gives the keywords ``**fields`` their types: those of
    the fields of ``EstimateOptions``."""

    pinned: Iterable[str]
    prompt: str | None
    spent_tokens: int
    notes: Sequence[str]
    shape: RunShape | None
    assuming: Assumptions | None


@dataclass(frozen=True, slots=True)
class EstimateOptions:
    """An ``EstimateOptions`` holds the options of an estimate.

    ``pinned``: the ids of sources that are always retained. ``prompt``: the text that a model gets if all
    sources are retained; if None, only the question and the texts of the sources are counted.
    ``spent_tokens``: the tokens already spent to find the sources. ``notes``: remarks for the user about
    the sources, which the estimate repeats. ``shape``: the requests to models in each run; None if there
    is one request. ``assuming``: the assumptions of the estimate; None for the usual ones. Raises
    InvalidInput if ``assuming`` is anything else than ``Assumptions``.
    """

    pinned: Iterable[str] = ()
    prompt: str | None = None
    spent_tokens: int = 0
    notes: Sequence[str] = ()
    shape: RunShape | None = None
    assuming: Assumptions | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.assuming, (Assumptions, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            raise InvalidInput(f"assuming is {brief(self.assuming)}; give Assumptions(answer_tokens=...)")


showing_estimate_fields = showing(EstimateOptions, EstimateFields)
"""This decorator makes the signature of a function with ``**fields`` show these options by name."""
