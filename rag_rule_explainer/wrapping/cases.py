"""What is asked about, and in what manner applications are recorded and replayed."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast, get_args

from ..errors import InvalidInput
from ..probing.conduct import OnNoRetrieval
from ..probing.gating import OnNewQuery
from ..probing.replaying import WantedScope
from ..verdicts import Answer
from .bounds import FACTOR, checked_factor
from .volatile import Steady

QuestionOf: TypeAlias = Callable[[Any], str]
"""Reads the question out of an application's input."""
AnswerOf: TypeAlias = Callable[[Any], Answer | str]
"""Reads the answer out of an application's output."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How an application is recorded and replayed; the same for every input.

    ``retrievers``: the only ones that are recorded and served; empty for all. ``accepts``: finish reasons
    that count as those of whole replies. ``ignore``: patterns of what may differ in the baseline's
    requests and in those of a replay on all sources; ``steady`` takes it out. ``replay_bound``: a replay
    may make so many times the baseline's requests, tool calls and steps. See the integrations'
    ``RuleExplainer`` for the rest.
    """

    answer_of: AnswerOf
    retrievers: tuple[object, ...] = ()
    scope: WantedScope = "seen"
    on_new_query: OnNewQuery | None = None
    on_no_retrieval: OnNoRetrieval = "error"
    stub_tools: Mapping[str, Any] = field(default_factory=dict[str, Any])
    accepts: tuple[str, ...] = ()
    trace_replays: bool = True
    ignore: Sequence[str | re.Pattern[str]] = ()
    replay_bound: float | None = FACTOR
    print_replays: bool = False
    steady: Steady = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steady", Steady(self.ignore))
        checked_factor(self.replay_bound)
        for name in ("trace_replays", "print_replays"):
            # A string such as "no" would be taken for a yes.
            _one_of(name, getattr(self, name), (True, False))
        _one_of("scope", self.scope, get_args(WantedScope))
        _one_of("on_new_query", self.on_new_query, (*get_args(OnNewQuery), None))
        _one_of("on_no_retrieval", self.on_no_retrieval, get_args(OnNoRetrieval))

    @classmethod
    def instances(cls, retrievers: Any) -> tuple[object, ...]:
        """What ``retrievers=`` names. Raises InvalidInput for anything but a list or a tuple."""
        if not isinstance(retrievers, (list, tuple)):
            raise InvalidInput(
                f"retrievers is a {type(retrievers).__name__}; pass a list of the very objects that are "
                "asked"
            )
        return tuple(cast("Sequence[object]", retrievers))

    @classmethod
    def stubs(cls, stub_tools: Any) -> dict[str, Any]:
        """What ``stub_tools=`` says. Raises InvalidInput for anything but a mapping."""
        if not isinstance(stub_tools, (Mapping, type(None))):
            raise InvalidInput(
                f"stub_tools is a {type(stub_tools).__name__}; pass a dict from tool names to results"
            )
        return dict(cast("Mapping[str, Any]", stub_tools or {}))


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise InvalidInput(f"{name} is {value!r}; give one of {', '.join(map(repr, allowed))}")


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked about: the input, and what the caller says about its sources and its answer.

    ``keywords``: what every run is given by name. ``documents``, ``add_documents``: as the caller gave
    them. ``config``: what the framework is told
    beside the input. ``baseline``: a logged answer, or an output of the application. ``live``: the
    baseline is the user's own run, which writes to real histories, checkpoints and memories. ``before``:
    the config as it was before any run.
    """

    given: Any
    question: str
    config: Any = None
    documents: Sequence[Any] | None = None
    add_documents: Sequence[Any] = ()
    pinned: tuple[str, ...] = ()
    baseline: Any = None
    live: bool = False
    before: Any = None
    keywords: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if self.documents is not None and self.add_documents:
            raise InvalidInput("documents= and add_documents= were both given; add them to documents")


def ids_in(pinned: Sequence[str]) -> tuple[str, ...]:
    """The ids a caller pins. Raises InvalidInput for a string, which is a sequence of letters."""
    if isinstance(pinned, str):
        raise InvalidInput(f"pinned is the string {pinned!r}; pass a list of ids")
    return tuple(pinned)
