"""This package contains the miners, which search for rules and decide which subset to probe next. Its
code is pure: it uses no I/O, no clock and no threads."""

from typing import TYPE_CHECKING

from ..late_names import importing_late

if TYPE_CHECKING:
    from .both_kinds import dual
    from .confidence import CONFIDENCE_LIMIT, Confidence, superset_sums
    from .evidence import Evidence
    from .exhaustive import Exhaustive, valid_rules
    from .grouped import Grouped
    from .mono import Mono
    from .partition import Partition
    from .partitioned import Partitioned
    from .protocol import Ask, Miner, Mining, Wanted
    from .quick import QUICK_SAMPLING, Quick
    from .sampled import Sampled
    from .search import AnySearch, RuleSearch
    from .sharing import Workers
    from .speculation import Speculation
    from .transversal import Transversal
    from .verifying import Verifying

_ROOMS = {
    "both_kinds": ("dual",),
    "confidence": ("CONFIDENCE_LIMIT", "Confidence", "superset_sums"),
    "evidence": ("Evidence",),
    "exhaustive": ("Exhaustive", "valid_rules"),
    "grouped": ("Grouped",),
    "mono": ("Mono",),
    "partition": ("Partition",),
    "partitioned": ("Partitioned",),
    "protocol": ("Ask", "Miner", "Mining", "Wanted"),
    "quick": ("QUICK_SAMPLING", "Quick"),
    "sampled": ("Sampled",),
    "search": ("AnySearch", "RuleSearch"),
    "sharing": ("Workers",),
    "speculation": ("Speculation",),
    "transversal": ("Transversal",),
    "verifying": ("Verifying",),
}

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

__getattr__ = importing_late(__name__, {name: room for room, names in _ROOMS.items() for name in names})
