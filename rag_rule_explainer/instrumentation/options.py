"""This module holds the options for recording and replaying, and the input of one call."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, cast, get_args

from ..allowed import brief, checked_flag, checked_function, checked_list, checked_text, did_you_mean
from ..errors import InvalidInput
from ..predicates import Predicate
from ..printable import type_said
from ..probing.replaying import WantedScope
from ..probing.whose import is_named_as_ours
from ..verdicts import Answer, logged_answer
from .bounds import FACTOR, checked_factor
from .recording.captured import OnNewQuery
from .recording.exposure_checks import OnNoRetrieval
from .recording.refetching import Refetch
from .requests.volatile import Steady
from .rewinding.companies import is_of_own
from .source_kinds.kinds import Omit, SourceKind
from .tool_replay import OnNewToolCall
from .tool_settings import checked_on_new_tool_call
from .users_reading import UsersReading

ReplayOf: TypeAlias = Literal["whole_run", "next_action"]
"""The two ways to replay. A "whole_run" runs the application again from its beginning. A "next_action" is
one request to a model, in the recorded conversation."""
QuestionOf: TypeAlias = Callable[[Any], str]
"""The user's function that reads the question out of an application's input."""
AnswerOf: TypeAlias = Callable[[Any], Answer | str]
"""The user's function that reads the answer out of an application's output."""


_NO_RETRIEVER = object()


@dataclass(frozen=True, slots=True)
class Manner:
    """A ``Manner`` holds the options for recording and replaying an application, which apply to all its
    inputs. Options without a text here are explained at the integrations' ``RuleExplainer``."""

    answer_of: AnswerOf
    retrievers: tuple[object, ...] = ()
    """The only retrievers whose searches are recorded, and answered from the record in replays; empty for
    all."""
    scope: WantedScope = "seen"
    on_new_query: OnNewQuery | None = None
    on_no_retrieval: OnNoRetrieval = "error"
    stub_tools: Mapping[str, Any] = field(default_factory=dict[str, Any])
    accepts: tuple[str, ...] = ()
    """Finish reasons that mark a reply as complete in addition to the usual ones."""
    trace_replays: bool = True
    ignore: Sequence[str | re.Pattern[str]] = ()
    """Patterns of texts that may differ between the requests of the baseline and of a replay on all
    sources; ``steady`` puts a fixed text in the place of such texts."""
    replay_bound: float | None = FACTOR
    """The limit of a replay, as a multiple of the baseline's requests, tool calls and steps."""
    print_replays: bool = False
    accepts_calls: bool = False
    """True if a condition is about tool calls, so that an answer may be only a tool call."""
    on_new_tool_call: OnNewToolCall | None = None
    safe_tools: frozenset[str] = frozenset()
    unexecuted_tools: frozenset[str] = frozenset()
    source_kinds: tuple[SourceKind, ...] = ("documents",)
    omit: Omit = "remove"
    replay_of: ReplayOf = "whole_run"
    condition: Predicate | None = None
    steady: Steady = field(init=False)

    def __post_init__(self) -> None:
        checked_function("answer_of", self.answer_of, "a function from an output to its answer", 1)
        object.__setattr__(self, "answer_of", UsersReading.of("answer_of", self.answer_of))
        checked_on_new_tool_call(self.on_new_tool_call)
        for name in ("trace_replays", "print_replays"):
            checked_flag(name, getattr(self, name))
        object.__setattr__(self, "steady", Steady(self.ignore))
        checked_factor(self.replay_bound)
        _one_of("replay_of", self.replay_of, get_args(ReplayOf))
        _one_of("scope", self.scope, get_args(WantedScope))
        _one_of("on_new_query", self.on_new_query, (*get_args(OnNewQuery), None))
        _one_of("on_no_retrieval", self.on_no_retrieval, get_args(OnNoRetrieval))

    def new_queries(self, called: Collection[str]) -> OnNewQuery:
        """Returns the option ``on_new_query``: how a search of a replay is answered if the baseline did
        not make its query. If the user did not set it, the default depends on ``called``, the names of
        the tools that the baseline called."""
        return self.on_new_query or _by_default(called)

    @property
    def replays_tools(self) -> bool:
        """Returns True iff the tool calls of replays are answered from the record of the baseline: if the
        user wants it, a condition is about tool calls, anything but retrieved documents is a source, or
        ``replay_of`` is "next_action"."""
        wanted = self.on_new_tool_call is not None or bool(self.safe_tools)
        of_agents = self.source_kinds != ("documents",) or self.replay_of == "next_action"
        return wanted or self.accepts_calls or of_agents

    @property
    def recorded_retrievers(self) -> tuple[object, ...]:
        """Returns the retrievers whose searches are recorded, and answered from the record in replays;
        empty for all retrievers. If retrieved documents are no sources, no search is recorded: the result
        then contains only an object that is no retriever."""
        return self.retrievers if "documents" in self.source_kinds else (_NO_RETRIEVER,)

    @property
    def reads_answers(self) -> bool:
        """Returns True iff the user passed ``answer_of``."""
        function: Any = getattr(self.answer_of, "function", self.answer_of)
        return not is_named_as_ours(str(getattr(function, "__module__", "")))

    def deciding(self, called: Collection[str]) -> dict[str, object]:
        """Returns the options that differ from the defaults and may change the answers of replays. A
        store keeps answers with different such options apart. ``called``: the names of the tools that the
        baseline called."""
        chosen: dict[str, object] = {}
        if self.reads_answers:
            chosen["answer_of"] = getattr(self.answer_of, "function", self.answer_of)
        if self.new_queries(called) != _by_default(called):
            chosen["on_new_query"] = self.on_new_query
        if self.source_kinds != ("documents",):
            chosen["source_kinds"] = sorted(self.source_kinds)
        if self.replay_of != "whole_run":
            chosen["replay_of"] = self.replay_of
        if self.omit != "remove":
            chosen["omit"] = self.omit
        if self.stub_tools:
            chosen["stub_tools"] = dict(self.stub_tools)
        if self.replays_tools and called:
            chosen["tools"] = self.on_new_tool_call or "unknown", sorted(self.safe_tools)
            if self.unexecuted_tools:
                chosen["unexecuted_tools"] = sorted(self.unexecuted_tools)
        return chosen

    def idle_stubs(self, called: Collection[str]) -> Iterator[str]:
        """Yields a note for each tool that a setting names but that the baseline did not call. The
        setting may contain a misspelt name. ``called``: the names of the tools that the baseline called.
        """
        idle = [("stub_tools", each) for each in sorted(set(self.stub_tools).difference(called))]
        for setting in ("safe_tools", "unexecuted_tools"):
            named: frozenset[str] = getattr(self, setting)
            idle += [(setting, each) for each in sorted(named.difference(called))]
        for setting, name in idle:
            yield (
                f"{setting} names {name!r}, and the first run called no tool of that name; "
                f"{did_you_mean(name, called)}it called {', '.join(map(repr, sorted(called))) or 'none'}"
            )

    @classmethod
    def instances(cls, retrievers: Any) -> tuple[object, ...]:
        """Returns the objects in ``retrievers=``. Raises InvalidInput unless it is a list or a tuple."""
        if not isinstance(retrievers, (list, tuple)):
            raise InvalidInput(
                f"retrievers is {type_said(retrievers)}; pass a list of the very objects that are asked"
            )
        listed = tuple(cast("Sequence[object]", retrievers))
        for each in listed:
            if isinstance(each, (str, int, float, type, type(None))):
                raise InvalidInput(f"retrievers has {brief(each)}; pass the very objects that are asked")
        return listed

    @classmethod
    def stubs(cls, stub_tools: Any) -> dict[str, Any]:
        """Returns the stubs in ``stub_tools=``: the result that replaces each tool's own result in
        replays, by the tool's name. Raises InvalidInput unless it is a mapping or None."""
        if not isinstance(stub_tools, (Mapping, type(None))):
            raise InvalidInput(
                f"stub_tools is {type_said(stub_tools)}; pass a dict from tool names to results"
            )
        stubs = dict(cast("Mapping[Any, Any]", stub_tools or {}))
        for name in stubs:
            checked_text(f"the tool {brief(name)} in stub_tools", name, "the name of a tool, a str")
        return stubs


def _by_default(called: Collection[str]) -> OnNewQuery:
    # An agent with tools words its queries differently in every run. So by default, a new query is really
    # searched for, and omitted sources are dropped from its result.
    return "filter" if called else "kept"


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        near = did_you_mean(value, [str(each) for each in allowed]) if isinstance(value, str) else ""
        raise InvalidInput(f"{name} is {brief(value)}; {near}give one of {', '.join(map(repr, allowed))}")


@dataclass(frozen=True, slots=True)
class CallInput:
    """A ``CallInput`` holds the input of a call, and the caller's options for its sources and its answer.

    ``documents``, ``add_documents``: as the caller passed them.
    """

    given: Any
    """The application's input."""
    question: str
    config: Any = None
    """The framework's configuration of the run."""
    documents: Sequence[Any] | None = None
    add_documents: Sequence[Any] = ()
    pinned: tuple[str, ...] = ()
    baseline: Any = None
    """An answer or output that was logged earlier, and that is explained instead of the first run's; None
    to explain the first run's answer."""
    live: bool = False
    """True if the baseline is the user's own run, which writes to real histories, checkpoints and
    memories."""
    before: Any = None
    """A copy of ``config`` from before any run."""
    keywords: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The keyword arguments with which every run calls the application."""
    unreadable: Exception | None = None
    """The error that ``question_of`` raised, if the user's own run is made nevertheless."""
    own_errors: bool = False
    """If True, an error that the application raises in the baseline is not replaced by a
    BaselineFailed."""
    refetch: Refetch | None = None
    """The change of the corpus for the first run; None for the corpus as it is."""

    @classmethod
    def of_the_users_run(
        cls, given: Any, question_of: QuestionOf, *, forgiving: bool, **more: Any
    ) -> "CallInput":
        """Returns the ``CallInput`` of the user's own run.

        ``forgiving``: if True, the run is made even if the question cannot be read, and the application's
        own errors are raised unchanged. ``more``: other fields of the ``CallInput``.
        """
        try:
            return cls(given, question_of(given), live=True, own_errors=forgiving, **more)
        except Exception as error:
            if not forgiving:
                raise
            return cls(given, "", live=True, own_errors=True, unreadable=error, **more)

    def copied(self, copy: Callable[[Any], Any]) -> "CallInput":
        """Returns this ``CallInput`` with copies of its input and keywords; a run may change the copies.
        ``copy``: a function that copies one value."""
        keywords = {name: copy(value) for name, value in self.keywords.items()}
        return replace(self, given=copy(self.given), keywords=keywords)

    @property
    def objects(self) -> list[object]:
        """Returns the objects of the user's own classes in the input, the keyword arguments and the
        "configurable" entries of the config, such as a session. Objects that cannot be copied are shared
        by all runs."""
        config: Any = self.config
        entries = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
        return list(_own_objects([self.given, self.keywords, entries.get("configurable")]))

    def __post_init__(self) -> None:
        if self.documents is not None and self.add_documents:
            raise InvalidInput("documents= and add_documents= were both given; add them to documents")
        if isinstance(self.baseline, (str, Answer)):
            logged_answer(self.baseline)


def _own_objects(given: object) -> Iterator[object]:
    if isinstance(given, Mapping):
        for each in cast("Mapping[Any, object]", given).values():
            yield from _own_objects(each)
    elif isinstance(given, (list, tuple)):
        for each in cast("Sequence[object]", given):
            yield from _own_objects(each)
    elif not isinstance(given, type) and is_of_own(given):
        yield given


def ids_in(pinned: Sequence[str]) -> tuple[str, ...]:
    """Returns the argument ``pinned=``, the ids of pinned sources, as a tuple. Raises InvalidInput for a
    single string, and for anything that is no id."""
    ids = checked_list("pinned", pinned, "ids")
    for each in ids:
        if not isinstance(each, str):
            raise InvalidInput(f"pinned names {type_said(each)}; pass a list of ids")
    return ids


def documents_in(name: str, given: Any) -> Sequence[Any]:
    """Returns the caller's documents. Raises InvalidInput for an object that cannot be a list of them.
    ``name``: the name of the argument, for the message."""
    if not isinstance(given, Iterable) or (isinstance(given, (str, bytes, Mapping)) and not given):
        raise InvalidInput(
            f"{name} is {brief(cast('object', given))}; give a list of documents, or of their texts"
        )
    return cast("Sequence[Any]", given)
