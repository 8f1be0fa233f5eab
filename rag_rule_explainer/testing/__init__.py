"""This package contains fakes (such as a judge without a model) and checks, for tests of applications,
predicates and miners."""

from .judges import OfflineJudge
from .miners import check_miner
from .replays import ScriptedReplay

__all__ = ["OfflineJudge", "ScriptedReplay", "check_miner"]
