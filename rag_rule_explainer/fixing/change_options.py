"""This module defines the options of a recheck that say what changes in the corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from ..allowed import checked_list, checked_whole
from .change import Excluded

ROUNDS = 3
"""The number of rounds that a recheck makes at most by default."""


class ChangeFields(TypedDict, total=False):
    """A ``ChangeFields`` is a TypedDict with the fields of ``ChangeOptions``, for ``**fields``."""

    exclude: Excluded | None
    replace: Mapping[str, str] | None
    add: Sequence[Any]
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOptions:
    """A ``ChangeOptions`` says which change of the corpus is rechecked.

    ``exclude``: a fix, a rule, or ids of sources that are left out; without it, ``replace`` and ``add``,
    the first sure fix of the explanation. ``replace``: new texts by id. ``add``: documents that are
    added. ``rounds``: the most rounds; each further round also leaves out the next fix.
    """

    exclude: Excluded | None = None
    replace: Mapping[str, str] | None = None
    add: Sequence[Any] = ()
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        checked_whole("rounds", self.rounds, 1)
        checked_list("add", self.add, "documents")
