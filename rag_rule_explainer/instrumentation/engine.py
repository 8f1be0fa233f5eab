"""This module re-exports the parts of the core that integrations need: sources, answers and conditions,
checks of replies, and tracing."""

from ..errors import MissingExtra
from ..predicates import PredicateLike
from ..probing import threads
from ..probing.finish_reasons import reason_in
from ..probing.main_task import ctrl_c_kept
from ..probing.replaying import WantedScope
from ..probing.tracing import langsmith, spans
from ..probing.tracing.marks import (
    BASELINE_TAG,
    EXPLANATION,
    REPLAY,
    REPLAY_TAG,
    Outcome,
    TracedExplanation,
    TracedReplay,
    TraceMarks,
    current_replay,
)
from ..probing.tracing.traced import Unheard, heard, is_sent, note, own_root, unheard
from ..probing.wholeness import ANY, Said, fault_of
from ..probing.wholeness import EMPTY_REPLY as EMPTY
from ..progress.report import Progress
from ..sources import Source
from ..sources.given import Given
from ..tool_calls import ToolCall
from ..verdicts import Answer

__all__ = [
    "ANY",
    "BASELINE_TAG",
    "EMPTY",
    "EXPLANATION",
    "REPLAY",
    "REPLAY_TAG",
    "Answer",
    "Given",
    "MissingExtra",
    "Outcome",
    "PredicateLike",
    "Progress",
    "Said",
    "Source",
    "ToolCall",
    "TraceMarks",
    "TracedExplanation",
    "TracedReplay",
    "Unheard",
    "WantedScope",
    "ctrl_c_kept",
    "current_replay",
    "fault_of",
    "heard",
    "is_sent",
    "langsmith",
    "note",
    "own_root",
    "reason_in",
    "spans",
    "threads",
    "unheard",
]
