"""This package finds which documents to leave out so that a bad answer cannot come back, and checks, with
documents that are retrieved afresh, that it is gone.

``explanation.fixes()`` reads the fixes from the rules of an explanation. ``RuleExplainer.recheck``
retrieves through an application; ``recheck_corpus`` ranks a corpus that is at hand.
"""

from .change import CorpusChange
from .change_options import ChangeFields, ChangeOptions
from .corpus import Rank, recheck_corpus
from .fixes import Fix, Fixes, OneTimeFlip, fixes_of
from .goods import GoodEffect
from .recheck import Recheck, RecheckRound, RoundOutcome

__all__ = [
    "ChangeFields",
    "ChangeOptions",
    "CorpusChange",
    "Fix",
    "Fixes",
    "GoodEffect",
    "OneTimeFlip",
    "Rank",
    "Recheck",
    "RecheckRound",
    "RoundOutcome",
    "fixes_of",
    "recheck_corpus",
]
