"""What an estimate may be given beside the question and its sources."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from ..allowed import showing
from ..errors import InvalidInput
from .assumptions import Assumptions, RunShape


class EstimateFields(TypedDict, total=False):
    """The fields of EstimateOptions as keywords."""

    pinned: Iterable[str]
    prompt: str | None
    spent_tokens: int
    notes: Sequence[str]
    shape: RunShape | None
    assuming: Assumptions | None


@dataclass(frozen=True, slots=True)
class EstimateOptions:
    """``pinned``: ids of sources that are always retained. ``prompt``: what a model would be sent with
    all sources, where that is known; else the question and the sources' texts are counted.
    ``spent_tokens``: what was spent to find the sources; ``notes``: what else there is to say of them;
    ``shape``: what else models are asked in each run.

    Raises InvalidInput for assumptions that are none.
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
"""Shows them in the signature of a function that collects ``**fields``."""
