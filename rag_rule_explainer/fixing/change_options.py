"""This module defines the options of a recheck that describe the change of the corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from ..allowed import checked_list, checked_whole
from .change import Excluded

ROUNDS = 3
"""The default maximum number of rounds of a recheck."""


class ChangeFields(TypedDict, total=False):
    """A ``ChangeFields`` is a TypedDict that gives the keywords ``**fields`` their types: those of the
    fields of ``ChangeOptions``."""

    exclude: Excluded | None
    replace: Mapping[str, str] | None
    add: Sequence[Any]
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOptions:
    """A ``ChangeOptions`` describes the change of the corpus whose effect a recheck examines.

    ``exclude``: a fix, a rule, or ids of sources that are left out. If ``exclude``, ``replace`` and
    ``add`` are all missing, the sources of the explanation's first sure fix are left out. (A fix is a set
    of sources without which the bad outcome does not come back. It is sure if its rule is proved, or
    passed its votes or tests.) ``replace``: new texts by id. ``add``: documents that are added.
    ``rounds``: the maximum number of rounds; each round after the first also leaves out the sources of
    the first sure fix of the round before.
    """

    exclude: Excluded | None = None
    replace: Mapping[str, str] | None = None
    add: Sequence[Any] = ()
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        checked_whole("rounds", self.rounds, 1)
        checked_list("add", self.add, "documents")
