"""This module holds the settings that the explainers of all integrations take as keywords."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from typing_extensions import Self

from ..allowed import checked_flag, checked_function
from ..explainer import Explainer
from ..predicates import Predicate, PredicateLike, as_predicate, same_answer
from ..predicates.next_action import OfNextAction
from ..predicates.only_calls import reads_calls
from ..probing.limiter import Limiter
from ..probing.narrow_limiter import narrowed
from ..probing.replaying import WantedScope
from ..progress.report import Progress
from ..session.planning import QUICK_REPLAYS
from ..settings import Settings, SettingsFields
from .bounds import FACTOR
from .options import AnswerOf, Manner, QuestionOf, ReplayOf
from .recording.captured import OnNewQuery
from .recording.exposure_checks import OnNoRetrieval
from .source_kinds.kinds import Omit, SourceKind, checked_omit, checked_source_kinds
from .tool_replay import OnNewToolCall
from .tool_settings import checked_tool_names
from .users_reading import UsersReading


class ExplainerFields(SettingsFields, total=False):
    """An ``ExplainerFields`` lists the keywords that an integration's explainer takes: its own options
    and the fields of ``Settings``."""

    omission_predicate: PredicateLike | None
    question_of: QuestionOf
    answer_of: AnswerOf
    scope: WantedScope
    on_new_query: OnNewQuery | None
    on_no_retrieval: OnNoRetrieval
    stub_tools: Mapping[str, Any] | None
    on_new_tool_call: OnNewToolCall | None
    safe_tools: Sequence[str]
    unexecuted_tools: Sequence[str]
    source_kinds: Sequence[SourceKind]
    omit: Omit
    replay_of: ReplayOf
    allow_length: bool
    trace_replays: bool
    ignore: Sequence[str | re.Pattern[str]]
    replay_bound: float | None
    print_replays: bool
    settings: Settings | None
    progress: Progress | bool | None
    limiter: Limiter | None


class FrameworkFields(ExplainerFields, total=False):
    """A ``FrameworkFields`` lists the keywords of ``ExplainerFields``, and the keyword ``retrievers``,
    which restricts recording to some of the framework's retrievers."""

    retrievers: Sequence[object]


def explains_agent(source_kinds: Sequence[SourceKind], replay_of: object) -> bool:
    """Returns True iff these options are for an agent: they name sources that are not documents, or
    ``replay_of`` is "next_action". Raises InvalidInput for kinds of sources that do not exist."""
    return checked_source_kinds(source_kinds) != ("documents",) or replay_of == "next_action"


def most_replays(source_kinds: Sequence[SourceKind], replay_of: object, usual: int) -> int:
    """Returns the maximum number of replays of one explanation if the user sets no limit. For an agent,
    it is smaller than ``usual``; otherwise it is ``usual``."""
    return QUICK_REPLAYS if explains_agent(source_kinds, replay_of) else usual


def for_agents(settings: Settings) -> Settings:
    """Returns the settings for explaining an agent. If the miner is "auto", which is the default, it
    becomes "quick", which needs fewer replays. Any other miner stays."""
    return replace(settings, miner="quick") if settings.miner == "auto" else settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainerOptions:
    """An ``ExplainerOptions`` holds the settings of an integration's explainer that are not fields of
    ``Settings``.

    An integration derives its options from this class, with its own ``question_of`` and ``answer_of``.
    Raises InvalidInput for values that cannot be used.
    """

    omission_predicate: PredicateLike | None = None
    question_of: QuestionOf
    answer_of: AnswerOf
    scope: WantedScope = "seen"
    on_new_query: OnNewQuery | None = None
    on_no_retrieval: OnNoRetrieval = "error"
    stub_tools: Mapping[str, Any] | None = None
    on_new_tool_call: OnNewToolCall | None = None
    safe_tools: Sequence[str] = ()
    unexecuted_tools: Sequence[str] = ()
    source_kinds: Sequence[SourceKind] = ("documents",)
    omit: Omit = "remove"
    replay_of: ReplayOf = "whole_run"
    allow_length: bool = False
    trace_replays: bool = True
    ignore: Sequence[str | re.Pattern[str]] = ()
    replay_bound: float | None = FACTOR
    print_replays: bool = False
    settings: Settings | None = None
    progress: Progress | bool | None = None
    limiter: Limiter | None = None

    def __post_init__(self) -> None:
        checked_function("question_of", self.question_of, "a function from an input to its question", 1)
        object.__setattr__(self, "question_of", UsersReading.of("question_of", self.question_of))
        checked_flag("allow_length", self.allow_length)

    @classmethod
    def of(cls, given: ExplainerFields, beside: Callable[..., object]) -> tuple[Self, Settings]:
        """Splits the keywords of a call into the options of this class and the ``Settings``, and returns
        both. ``beside``: the function that the user called. Raises InvalidInput for a keyword that is no
        setting; the message then also names the parameters of ``beside``."""
        rest: Any = dict(given)
        options = cls(**{each.name: rest.pop(each.name) for each in fields(cls) if each.name in rest})
        settings = Settings.of(options.settings, rest, beside)
        if "concurrency" in rest:
            options = options.within(settings.concurrency)
        if explains_agent(options.source_kinds, options.replay_of):
            settings = for_agents(settings)
        return options, settings.accepting(length=options.allow_length)

    def within(self, concurrency: int) -> Self:
        """Returns these options with the user's limiter narrowed to ``concurrency`` calls at the same
        time; unchanged if there is no limiter."""
        if not isinstance(self.limiter, Limiter):
            return self
        return replace(self, limiter=narrowed(self.limiter, concurrency))

    def manner(
        self, settings: Settings, predicate: PredicateLike | None, retrievers: tuple[object, ...] = ()
    ) -> Manner:
        """Returns the options that concern recording and replaying. ``predicate``: the condition of the
        explainer. ``retrievers``: the only retrievers that are recorded; empty for all."""
        return Manner(
            self.answer_of,
            retrievers,
            self.scope,
            self.on_new_query,
            self.on_no_retrieval,
            Manner.stubs(self.stub_tools),
            settings.accept_finish_reasons,
            self.trace_replays,
            self.ignore,
            self.replay_bound,
            self.print_replays,
            reads_calls(predicate) or reads_calls(self.omission_predicate),
            self.on_new_tool_call,
            checked_tool_names("safe_tools", self.safe_tools),
            checked_tool_names("unexecuted_tools", self.unexecuted_tools),
            checked_source_kinds(self.source_kinds),
            checked_omit(self.omit),
            self.replay_of,
            None if predicate is None else self._judged_by(as_predicate(predicate)),
        )

    def _judged_by(self, predicate: Predicate) -> Predicate:
        return OfNextAction.of(predicate) if self.replay_of == "next_action" else predicate

    def explainer(self, predicate: PredicateLike | None, settings: Settings) -> Explainer:
        """Returns an explainer with these options and settings."""
        own = as_predicate(same_answer() if predicate is None else predicate)
        opposite = self.omission_predicate
        return Explainer(
            predicate=self._judged_by(own),
            omission_predicate=None if opposite is None else self._judged_by(as_predicate(opposite)),
            settings=settings,
            progress=self.progress,
            limiter=self.limiter,
        )
