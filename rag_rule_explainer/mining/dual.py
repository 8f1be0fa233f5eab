"""This module provides the paper's Dual Rule Miner: a search for each kind of rule over the same lattice.

Both searches may request the same subset; the memory of answers makes sure that it is replayed once.
"""

from ..lattice import Lattice
from ..rules import RuleKind
from .mono import Mono
from .search import RuleSearch


def dual(lattice: Lattice, *, minimal: bool = True) -> tuple[RuleSearch, RuleSearch]:
    """Returns a retention search and an omission search over the same lattice."""
    return (
        RuleSearch(Mono(RuleKind.RETENTION, minimal), lattice),
        RuleSearch(Mono(RuleKind.OMISSION, minimal), lattice),
    )
