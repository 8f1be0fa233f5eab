"""This package finds the documents to leave out so that a bad answer cannot come back. It can also
retrieve again without these documents, and check that the bad answer is gone.

``explanation.fixes()`` reads the fixes from the rules of an explanation. ``RuleExplainer.recheck``
retrieves through an application; ``recheck_corpus`` ranks a corpus that the caller passes.
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
