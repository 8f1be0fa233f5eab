"""This package contains the miners, which search for rules and decide which subset to probe next. Its
code is pure: it uses no I/O, no clock and no threads."""

from .confidence import CONFIDENCE_LIMIT, Confidence, superset_sums
from .dual import dual
from .evidence import Evidence
from .exhaustive import Exhaustive, valid_rules
from .grouped import Grouped
from .mono import Mono
from .partitioned import Partition, Partitioned
from .protocol import Ask, Miner, Mining, Wanted
from .quick import QUICK_SAMPLING, Quick
from .sampled import Sampled
from .search import AnySearch, RuleSearch
from .sharing import Workers
from .speculation import Speculation
from .transversal import Transversal
from .verifying import Verifying

__all__ = [
    "CONFIDENCE_LIMIT",
    "QUICK_SAMPLING",
    "AnySearch",
    "Ask",
    "Confidence",
    "Evidence",
    "Exhaustive",
    "Grouped",
    "Miner",
    "Mining",
    "Mono",
    "Partition",
    "Partitioned",
    "Quick",
    "RuleSearch",
    "Sampled",
    "Speculation",
    "Transversal",
    "Verifying",
    "Wanted",
    "Workers",
    "dual",
    "superset_sums",
    "valid_rules",
]
