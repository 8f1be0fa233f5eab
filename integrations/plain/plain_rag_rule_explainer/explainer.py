"""RuleExplainer: explains an existing application that is a plain function."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from typing_extensions import Unpack, override

from rag_rule_explainer import Explainer, Limiter, Progress, Settings, SettingsFields, Source
from rag_rule_explainer.allowed import checked_flag, checked_function
from rag_rule_explainer.instrumentation.bounds import FACTOR
from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.engine import WantedScope
from rag_rule_explainer.instrumentation.options import AnswerOf, Case, Manner, QuestionOf
from rag_rule_explainer.instrumentation.recording.captured import OnNewQuery
from rag_rule_explainer.instrumentation.recording.exposure_checks import OnNoRetrieval
from rag_rule_explainer.instrumentation.rule_explainer import ApplicationExplainer
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from rag_rule_explainer.instrumentation.searches.of_functions import Found
from rag_rule_explainer.instrumentation.showing import showing_settings
from rag_rule_explainer.predicates import PredicateLike

from .application import PlainApplication
from .reading import answer_in, question_in


@dataclass(frozen=True, slots=True)
class _Untold:
    """Nobody but ``progress=`` is told how far an explanation is."""

    @property
    def sync(self) -> Progress | None:
        return None

    def told(self) -> AbstractAsyncContextManager[Progress | None]:
        return nullcontext()


class RuleExplainer(ApplicationExplainer[Found, Source | Mapping[str, Any] | str]):
    """Explains the answers of an application without a framework, which it leaves as it is.

    ``application``: a function of one input, sync or async, which may stream its answer; what it calls is
    its own affair. A function without parameters makes one of these, anew for every run: for an
    application that remembers. Its searches are those in a ``gate``. What models are sent and reply is
    read from the official OpenAI client, sync and async, streamed or not, wherever the run uses it: chat
    completions, responses and completions. What is asked in another way is not seen, which is then said.

    ``question_of`` and ``answer_of`` read the question out of its input and the answer out of its output;
    by default str, messages, replies of the client, and dicts with the usual keys are understood.

    ``scope``: "seen" explains by the sources whose text was recognised in what the model was sent, and
    serves no others; "retrieved" by all that was found. ``on_new_query``: what a replay is served that
    asks what the baseline never asked: everything "kept" (the default), what is kept of a live search
    ("filter", the default where models call tools), or "error". ``on_no_retrieval``: whether the answer
    of a replay that searches nothing is an "error" or is to be accepted. ``stub_tools``: results of
    functions marked as ``tool``, by name, that are not to run. ``allow_length``: replies cut off at their
    length limit count. ``trace_replays=False`` keeps replays from LangSmith and OpenTelemetry.
    ``ignore``: regular expressions of what may differ between the baseline's model requests and those of
    a replay on all sources, such as a request number. ``replay_bound``: a replay may make so many times
    the baseline's model requests, tool calls and searches; past that its answer is unknown.
    ``print_replays=True`` shows what replays print and warn of, too.

    The rest is as for ``rag_rule_explainer.Explainer``, ``limiter`` too.

    The application runs once on the input, and what its gated searches find is recorded. Then it is
    replayed, with subsets of that served instead of searching: an async one on a loop of its own under
    ``explain``, a sync one in a thread under ``aexplain``. What it keeps from run to run is not kept
    apart: where a replay is seen to go by it, StateShared is raised; pass a function that makes the
    application anew. ``documents=`` are given to it as they are brought, which is to be as its search
    returns them, or as ``item_of`` of the gate makes them.

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
        self._known = PlainApplication(application)
        chosen = Settings.of(settings, fields, type(self).__init__).accepting(length=allow_length)
        manner = Manner(
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
        explainer = Explainer(
            predicate=predicate,
            omission_predicate=omission_predicate,
            settings=chosen,
            progress=progress,
            limiter=limiter,
        )
        super().__init__(application, question_of, manner, explainer)

    @override
    def _call(self, case: Case) -> Call[Found]:
        return Call(ApplicationRun(self._known, case, self._manner), self._explainer, _Untold())
