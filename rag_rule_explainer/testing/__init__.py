"""Fakes and checks for tests of applications, predicates and miners."""

from .completions import Completion
from .miners import check_miner
from .openai_server import OpenAIServer
from .prefix_cache import PrefixCache
from .replays import ScriptedReplay

__all__ = ["Completion", "OpenAIServer", "PrefixCache", "ScriptedReplay", "check_miner"]
