"""This package finds which documents to leave out so that a bad answer cannot come back, and checks, with
documents that are retrieved afresh, that it is gone."""

from .corpus import recheck_corpus
from .fixes import Fix, Fixes, OneTimeFlip, fixes_of
from .recheck import Recheck, RecheckRound

__all__ = [
    "Fix",
    "Fixes",
    "OneTimeFlip",
    "Recheck",
    "RecheckRound",
    "fixes_of",
    "recheck_corpus",
]
