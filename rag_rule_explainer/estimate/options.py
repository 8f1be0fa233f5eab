"""This module defines the options of an estimate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from ..allowed import showing
from ..errors import InvalidInput
from .assumptions import Assumptions, RunShape


class EstimateFields(TypedDict, total=False):
    """This TypedDict has the fields of ``EstimateOptions``. Functions use it to annotate their
    ``**fields``."""

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
    sources are retained; if None, the tokens of the question and of the sources' texts are counted.
    ``spent_tokens``: the tokens already spent to find the sources. ``notes``: remarks about the sources.
    ``shape``: the requests to models in each run. ``assuming``: the assumptions of the estimate; None for
    the usual ones. Raises InvalidInput if ``assuming`` has another type.
    """

    pinned: Iterable[str] = ()
    prompt: str | None = None
    spent_tokens: int = 0
    notes: Sequence[str] = ()
    shape: RunShape | None = None
    assuming: Assumptions | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.assuming, (Assumptions, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"assuming is {self.assuming!r}; give Assumptions(answer_tokens=...)")


showing_estimate_fields = showing(EstimateOptions, EstimateFields)
"""Decorator that lists these options in the signature of a function with ``**fields``."""
