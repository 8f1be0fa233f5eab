"""Fakes and checks for tests of applications, predicates and miners."""

from .completions import Completion
from .faults import Fault, Faults
from .judges import OfflineJudge, judging
from .latency import LogNormal
from .messages import read_offline
from .miners import check_miner
from .openai_server import OpenAIServer
from .prefix_cache import PrefixCache
from .replays import ScriptedReplay
from .responses import Tokens

__all__ = [
    "Completion",
    "Fault",
    "Faults",
    "LogNormal",
    "OfflineJudge",
    "OpenAIServer",
    "PrefixCache",
    "ScriptedReplay",
    "Tokens",
    "check_miner",
    "judging",
    "read_offline",
]
