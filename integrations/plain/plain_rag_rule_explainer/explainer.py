"""RuleExplainer: explains an existing application that is a plain function."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypedDict

from typing_extensions import Unpack

from rag_rule_explainer import (
    Assumptions,
    Estimate,
    Explainer,
    Explanation,
    InvalidInput,
    Limiter,
    Progress,
    Settings,
    SettingsFields,
    Source,
    Verification,
)
from rag_rule_explainer.allowed import checked_flag, checked_function
from rag_rule_explainer.instrumentation.bounds import FACTOR
from rag_rule_explainer.instrumentation.call import Call, Kind
from rag_rule_explainer.instrumentation.engine import WantedScope
from rag_rule_explainer.instrumentation.options import (
    AnswerOf,
    Case,
    Manner,
    QuestionOf,
    documents_in,
    ids_in,
)
from rag_rule_explainer.instrumentation.recording.exposure_checks import OnNoRetrieval
from rag_rule_explainer.instrumentation.recording.recorder import OnNewQuery
from rag_rule_explainer.instrumentation.run_context import participation, refused
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from rag_rule_explainer.instrumentation.showing import showing_settings
from rag_rule_explainer.predicates import PredicateLike

from .application import PlainApplication
from .items import Found
from .reading import answer_in, question_in

Documents = Sequence[Source | Mapping[str, Any] | str]


class Brought(TypedDict, total=False):
    """What a caller says of the sources of one input; see ``RuleExplainer.explain``."""

    documents: Documents | None
    add_documents: Documents
    pinned: Sequence[str]


class Asking(Brought, total=False):
    """The same, and a logged answer."""

    baseline: Any


@dataclass(frozen=True, slots=True)
class _Untold:
    """Nobody but ``progress=`` is told how far an explanation is."""

    @property
    def sync(self) -> Progress | None:
        return None

    def told(self) -> AbstractAsyncContextManager[Progress | None]:
        return nullcontext()


class RuleExplainer:
    """Explains the answers of an application without a framework, which it leaves as it is.

    ``application``: a function of one input, sync or async, which may stream its answer; what it calls is
    its own affair. A function without parameters makes one of these, anew for every run: for an
    application that remembers. Its searches are those in a ``gate``. What its models are sent, and what
    they reply, is read from the official OpenAI client, sync and async, streamed or not, wherever in the
    run it is used: chat completions, responses and completions. Models that are asked in another way are
    not seen, and an explanation says so.

    ``question_of`` and ``answer_of`` read the question out of its input and the answer out of its output;
    by default str, messages, replies of the client, and dicts with the usual keys are understood.

    ``scope``: "seen" explains by the sources whose text was recognised in what the model was sent, and
    serves no others; "retrieved" by all that was found. ``on_new_query``: what a replay is served that
    asks what the baseline never asked: everything "kept" (the default), what is kept of a live search
    ("filter", the default where models call tools), or "error". ``on_no_retrieval``: whether the answer of
    a replay that searches nothing is an "error" or is to be accepted. ``stub_tools``: results of functions
    marked as ``tool``, by name, that are not to run. ``allow_length``: replies cut off at their length
    limit count. ``trace_replays=False`` keeps replays from LangSmith and OpenTelemetry. ``ignore``: regular
    expressions of what may differ between the baseline's model requests and those of a replay on all
    sources, such as a request number. ``replay_bound``: a replay may make so many times the baseline's
    model requests, tool calls and searches; past that its answer is unknown. ``print_replays=True`` shows
    what replays print and warn of, too.

    The rest is as for ``rag_rule_explainer.Explainer``, ``limiter`` too.

    The application runs once on the input, and what its gated searches find is recorded. Then it is
    replayed, with subsets of that served instead of searching: under ``explain`` as it is (an async one on
    a loop of its own), under ``aexplain`` on the caller's loop (a sync one in a thread). What it keeps from
    run to run is not kept apart: where a replay is seen to go by it, StateShared is raised; pass a function
    that makes the application anew.

    Raises InvalidInput for what is no application.
    """

    @showing_settings
    def __init__(  # noqa: PLR0913 -- each a setting of its own
        self,
        application: Callable[..., Any],
        predicate: PredicateLike | None = None,
        *,
        omission_predicate: PredicateLike | None = None,
        question_of: QuestionOf = question_in,
        answer_of: AnswerOf = answer_in,
        scope: WantedScope = "seen",
        on_new_query: OnNewQuery | None = None,
        on_no_retrieval: OnNoRetrieval = "error",
        stub_tools: Mapping[str, Any] | None = None,
        allow_length: bool = False,
        trace_replays: bool = True,
        ignore: Sequence[str | re.Pattern[str]] = (),
        replay_bound: float | None = FACTOR,
        print_replays: bool = False,
        settings: Settings | None = None,
        progress: Progress | bool | None = None,
        limiter: Limiter | None = None,
        **fields: Unpack[SettingsFields],
    ) -> None:
        checked_function("question_of", question_of, "a function from an input to its question")
        checked_flag("allow_length", allow_length)
        self.application = application
        self.question_of = question_of
        self._known = PlainApplication(application)
        chosen = Settings.of(settings, fields, type(self).__init__).accepting(length=allow_length)
        self._manner = Manner(
            answer_of,
            (),
            scope,
            on_new_query,
            on_no_retrieval,
            Manner.stubs(stub_tools),
            chosen.accept_finish_reasons,
            trace_replays,
            ignore,
            replay_bound,
            print_replays,
        )
        self._explainer = Explainer(
            predicate=predicate,
            omission_predicate=omission_predicate,
            settings=chosen,
            progress=progress,
            limiter=limiter,
        )

    def explain(self, input: Any, **asking: Unpack[Asking]) -> Explanation:  # noqa: A002 -- as all say
        """Returns the rules of the application's answer to ``input``, blocking; see
        ``Explainer.explain``.

        ``documents``: served instead of searching, so that no search is made: as the search returns them,
        or texts, Sources and JSON objects that ``item_of`` of the gate makes such items of.
        ``add_documents``: found by every search as well. ``pinned``: ids of sources that are always
        retained and in no rule. ``baseline``: a logged answer (or output) to explain; if the application
        now answers otherwise, that is the first of the explanation's warnings.

        Raises NoSourcesCaptured where no search was seen, ReplayMissedGate where a replay did not search,
        SourceLeak where the model was sent a source that was left out, StateShared, UnknownQuery, and what
        ``Explainer.explain`` raises.
        """
        return self._call(input, asking).explained().explanation

    async def aexplain(self, input: Any, **asking: Unpack[Asking]) -> Explanation:  # noqa: A002
        """Returns the same on the caller's loop."""
        return (await self._call(input, asking).aexplained()).explanation

    def verify(
        self,
        antecedent: Iterable[str],
        kind: Kind,
        input: Any,  # noqa: A002
        **asking: Unpack[Asking],
    ) -> Verification:
        """Returns whether one rule of the answer to ``input`` holds, blocking: "whenever the sources of
        these ids are retained" (or omitted); see ``Explainer.verify``.

        The rest is as for ``explain``. Raises InvalidInput for an id that nothing found has.
        """
        return self._call(input, asking).verified(antecedent, kind)

    async def averify(
        self,
        antecedent: Iterable[str],
        kind: Kind,
        input: Any,  # noqa: A002
        **asking: Unpack[Asking],
    ) -> Verification:
        """Returns the same on the caller's loop."""
        return await self._call(input, asking).averified(antecedent, kind)

    def estimate(
        self,
        input: Any,  # noqa: A002
        *,
        assuming: Assumptions | None = None,
        **brought: Unpack[Brought],
    ) -> Estimate:
        """Returns what explaining the answer to ``input`` would take at best, typically and at worst,
        before it is paid.

        Searches once, and stops where a model would first be shown what was found; models that are asked
        before that are, and the estimate says what they spent. ``assuming``: what nobody knows before.
        Raises what ``explain`` raises before it replays anything.
        """
        return self._call(input, brought).estimate(assuming)

    def _call(self, given: Any, asking: Mapping[str, Any]) -> Call[Found]:
        unknown = sorted(set(asking).difference(Asking.__annotations__))
        if unknown:
            raise TypeError(f"explain() got an unexpected keyword argument {unknown[0]!r}")
        if participation() is not None:
            raise refused(
                InvalidInput(
                    "a RuleExplainer was asked inside an application that is being explained; "
                    "put the application it wraps (.application) in its place"
                )
            )
        documents = asking.get("documents")
        case = Case(
            given,
            self.question_of(given),
            None,
            None if documents is None else documents_in("documents", documents),
            documents_in("add_documents", asking.get("add_documents", ())),
            ids_in(asking.get("pinned", ())),
            asking.get("baseline"),
        )
        return Call(ApplicationRun(self._known, case, self._manner), self._explainer, _Untold())
