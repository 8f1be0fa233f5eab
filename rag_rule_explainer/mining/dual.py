"""The paper's Dual Rule Miner: both kinds over one memory.

It is two Mono searches and nothing more. That each subset is replayed once although both ask for it
is the affair of whoever keeps the answers.
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
