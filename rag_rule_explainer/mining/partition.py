"""This module defines the setting by which many sources are divided into batches, each of which is mined
separately."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ..allowed import brief, called_as
from ..errors import InvalidInput
from ..lattice import FAMILY_LIMIT
from ..rules import RuleKind

Others: TypeAlias = Literal["omitted", "retained"]

BATCH = 7
"""The default number of sources in a batch. A batch of 7 takes at most 128 probes for each kind of
rule."""


@called_as("Partition")
@dataclass(frozen=True, slots=True)
class Partition:
    """A Partition setting divides the sources into batches, each of which is mined separately. For many
    sources, the paper on which this package is based proposes this.

    ``by``: a number or a metadata key. A number is the largest number of sources in a batch; the sources
    are divided, in the order in which they are shown, into batches of about equal size. With a key,
    sources with the same value form a batch. ``others``: whether the sources of all other batches are
    "omitted" or "retained" while a batch is mined. If it is None, these sources are omitted while
    retention rules are mined, and retained while omission rules are mined. A retention rule is then only
    known to hold while all other batches are omitted, an omission rule only while they are retained.

    Raises InvalidInput for any other value.
    """

    by: int | str = BATCH
    others: Others | None = None

    def __post_init__(self) -> None:
        if not (type(self.by) is int and 1 <= self.by <= FAMILY_LIMIT) and not (
            isinstance(self.by, str) and self.by
        ):
            raise InvalidInput(
                f"partition is by {brief(self.by)}; give a number of sources from 1 to {FAMILY_LIMIT}, "
                "or a key of their metadata, such as 'document'"
            )
        if self.others not in (*get_args(Others), None):
            raise InvalidInput(f"others is {brief(self.others)}; give 'omitted', 'retained' or None")

    @classmethod
    def of(cls, given: "Partition | int | str | None") -> "Partition | None":
        """Returns a Partition or None unchanged. For a number or a metadata key, returns a Partition with
        this value as ``by``. Raises InvalidInput for anything else."""
        # Users may pass values of other types than the annotation says; the class refuses them.
        return given if given is None or isinstance(given, cls) else cls(given)  # type: ignore[arg-type]

    def held(self, kind: RuleKind) -> Others:
        """Returns whether the sources of all other batches are omitted or retained while rules of this
        kind are mined."""
        return self.others or as_unnamed(kind)


def as_unnamed(kind: RuleKind) -> Others:
    """Returns what happens to the sources that a rule does not name in the rule's own subset. For a
    retention rule, this is "omitted", because only the named sources are retained in this subset. For an
    omission rule, it is "retained", because only the named sources are omitted."""
    return "omitted" if kind is RuleKind.RETENTION else "retained"
