"""Decides what to probe next. Pure: no I/O, no clock, no threads."""

from .dual import dual
from .exhaustive import Exhaustive, valid_rules
from .mono import Mono
from .protocol import Ask, Miner, Mining, Wanted
from .search import Evidence, RuleSearch

__all__ = [
    "Ask",
    "Evidence",
    "Exhaustive",
    "Miner",
    "Mining",
    "Mono",
    "RuleSearch",
    "Wanted",
    "dual",
    "valid_rules",
]
