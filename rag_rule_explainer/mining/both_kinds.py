"""This module provides the Dual Rule Miner of the paper on which this package is based: one search for
each kind of rule, over the same lattice.

Both searches may request the same subset. The caller remembers answers, so it replays this subset only
once.
"""

from ..lattice import Lattice
from ..rules import RuleKind
from .mono import Mono
from .search import RuleSearch


def dual(lattice: Lattice, *, minimal: bool = True) -> tuple[RuleSearch, RuleSearch]:
    """Returns a search for retention rules and one for omission rules. ``minimal``: False to find all
    valid rules."""
    return (
        RuleSearch(Mono(RuleKind.RETENTION, minimal), lattice),
        RuleSearch(Mono(RuleKind.OMISSION, minimal), lattice),
    )
