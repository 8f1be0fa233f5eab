"""This module defines the ``RuleExplainer`` of applications that are plain functions."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from typing_extensions import Unpack, override

from rag_rule_explainer import Progress, Source
from rag_rule_explainer.allowed import showing
from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.explainer_options import ExplainerFields, ExplainerOptions
from rag_rule_explainer.instrumentation.options import AnswerOf, CallInput, QuestionOf
from rag_rule_explainer.instrumentation.rule_explainer import ApplicationExplainer
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from rag_rule_explainer.instrumentation.searches.of_functions import Found
from rag_rule_explainer.instrumentation.showing import showing_settings
from rag_rule_explainer.predicates import PredicateLike

from .application import PlainApplication
from .reading import answer_in, question_in


@dataclass(frozen=True, slots=True)
class _NoEvents:
    """This class reports no progress, because a plain application has no events of its own."""

    @property
    def sync(self) -> Progress | None:
        return None

    def told(self) -> AbstractAsyncContextManager[Progress | None]:
        return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(ExplainerOptions):
    question_of: QuestionOf = question_in
    answer_of: AnswerOf = answer_in


class RuleExplainer(ApplicationExplainer[Found, Source | Mapping[str, Any] | str]):
    """This class explains the answers of an application without a framework, which it does not change.

    ``application``: a function of one input, sync or async, which may stream its answer. For an
    application that keeps state, pass a function without parameters that makes such a function for each
    run. Searches are seen if they are in a ``gate``. Requests and replies of models are read from the
    official OpenAI client, sync and async, streamed or not: chat completions, responses and completions.
    Requests by other means are not seen; the explanation says so.

    ``question_of`` and ``answer_of`` read the question from the input and the answer from the output; by
    default they understand str, messages, replies of the client, and dicts with the usual keys.

    ``scope``: "seen" explains by the sources whose text was recognised in requests to models, and serves
    only these; "retrieved" explains by all sources found. ``on_new_query``: the result of a replay's
    query that the baseline did not make: all retained sources ("kept", the default), the retained ones
    among the results of a live search ("filter", the default if models call tools), or an error
    ("error"). ``on_no_retrieval``: whether the answer of a replay without a search is an "error" or is
    accepted. ``stub_tools``: results of functions marked as ``tool``, by name, which are used instead of
    a call. ``allow_length``: replies cut off at their length limit count. ``trace_replays=False`` keeps
    replays out of LangSmith and OpenTelemetry. ``ignore``: regular expressions of texts, such as a
    request number, that may differ between the baseline's requests to models and those of a replay on
    all sources. ``replay_bound``: a replay may make this many times the baseline's requests to models,
    tool calls and searches; beyond that its answer is unknown. ``print_replays=True`` also shows the
    output and the warnings of replays. The other settings are those of ``rag_rule_explainer.Explainer``.

    The application runs once on the input, and the results of its gated searches are recorded. Then it is
    replayed on subsets of these results, which are served in place of searches: ``explain`` runs an async
    application on a loop of its own, ``aexplain`` runs a sync one in a thread. State that the application
    keeps between runs is not isolated; StateShared is raised if a replay is seen to depend on it. Then
    pass a function that makes the application. ``documents=`` are served as they are given, so they must
    have the form that the search returns, or that ``item_of`` of the gate makes.

    Raises InvalidInput for an object that is no application.
    """

    @showing_settings
    @showing(_Options, ExplainerFields)
    def __init__(
        self,
        application: Callable[..., Any],
        predicate: PredicateLike | None = None,
        **fields: Unpack[ExplainerFields],
    ) -> None:
        self._known = PlainApplication(application)
        options, settings = _Options.of(fields, type(self).__init__)
        explainer = options.explainer(predicate, settings)
        super().__init__(application, options.question_of, options.manner(settings), explainer)

    @override
    def _call(self, case: CallInput) -> Call[Found]:
        return Call(ApplicationRun(self._known, case, self._manner), self._explainer, _NoEvents())
