"""This module defines the ``RuleExplainer`` of applications that are plain functions."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from typing_extensions import Unpack, override

from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.checks import showing
from rag_rule_explainer.instrumentation.engine import PredicateLike, Progress, Source
from rag_rule_explainer.instrumentation.explainer_options import ExplainerFields, ExplainerOptions
from rag_rule_explainer.instrumentation.options import AnswerOf, CallInput, QuestionOf
from rag_rule_explainer.instrumentation.rule_explainer import ApplicationExplainer
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from rag_rule_explainer.instrumentation.searches.of_functions import Found
from rag_rule_explainer.instrumentation.showing import showing_settings

from .application import PlainApplication
from .reading import answer_in, question_in


@dataclass(frozen=True, slots=True)
class _NoEvents:
    """This class reports no progress, because there is no framework that could receive events."""

    @property
    def sync(self) -> Progress | None:
        return None

    def on_loop(self) -> AbstractAsyncContextManager[Progress | None]:
        return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(ExplainerOptions):
    question_of: QuestionOf = question_in
    answer_of: AnswerOf = answer_in


class RuleExplainer(ApplicationExplainer[Found, Source | Mapping[str, Any] | str]):
    """This class explains the answers of an application without a framework, without changing it.

    ``application``: a function of one input, sync or async, which may stream its answer. For an
    application that keeps state between runs, pass a function without parameters. It is called for each
    run, and must return such a function of one input. Searches are recorded if they are wrapped in
    ``gate``. Requests to models are recorded if they are sent by the official OpenAI client, or by
    ``requests`` or ``httpx`` in OpenAI's or Ollama's protocol, sync or async, streamed or not: chat
    completions, responses and completions. Other requests are not recorded; the explanation says so.

    ``question_of`` and ``answer_of`` read the question from the input and the answer from the output; by
    default they understand str, messages, replies of the client, and dicts with the usual keys.
    ``scope``: "seen" explains by the sources whose text was recognised in requests to models (replays
    get only these); "retrieved" explains by all sources found. ``on_new_query``: what a replay gets for
    a query that the baseline did not make: all retained sources ("kept", the default), the retained
    sources among the results of a live search ("filter", the default if models call tools), or an error
    ("error"). ``on_no_retrieval``: "error" if a replay that searches nothing is an error; otherwise its
    answer is accepted.

    ``stub_tools``: results that are used instead of calls, by the name of a function marked as ``tool``.
    ``on_new_tool_call``: if set, tool calls of replays get the recorded results; it says what happens at
    a call that the baseline did not make: "unknown" ends the replay without a verdict, "live" runs the
    tool, and a function of the call returns the result. By default, all tools run in replays; with a
    condition about tool calls, the default is "unknown". ``safe_tools``: the names of tools that may run
    in replays. ``unexecuted_tools``: the names of tools for whose calls the application runs nothing,
    because it only denies them, hands the task to another agent, or reads them as structured answers.

    ``source_kinds``: the kinds of sources, from "documents", "tools", "turns", "memory", "instructions"
    and "examples". ``omit``: whether an omitted source is left out ("remove"), or shown without its texts
    ("blank"). ``replay_of``: "whole_run", or "next_action": one request to a model in the recorded
    conversation. ``allow_length``: True if replies that were cut off at their length limit count as
    answers. ``trace_replays=False`` hides replays from LangSmith and OpenTelemetry. ``ignore``: regular
    expressions of texts that change in every request, such as a request number. Such texts may differ
    between the baseline's requests to models and those of a replay on all sources. ``replay_bound``: the
    factor by which a replay may make more requests to models, tool calls and searches than the baseline;
    the answer of a replay that exceeds it is unknown. ``print_replays=True`` also shows the printed
    output and the warnings of replays. The other settings are those of ``rag_rule_explainer.Explainer``.

    The application runs once on the input, and the results of its gated searches are recorded. Then it
    is replayed on subsets of these results, which replace the results of its searches. ``explain`` runs
    an async application in a new event loop; ``aexplain`` runs a sync application in a thread. State
    that the application keeps between runs is not isolated. If a replay shows that the application
    depends on such state, StateShared is raised; then pass a function that makes the application.
    ``documents=`` are not converted: give objects as the search returns them; the gate's ``item_of`` can
    make them. Raises InvalidInput for an object that cannot be run as an application.
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
        explainer, manner = options.explainer(predicate, settings), options.manner(settings, predicate)
        super().__init__(application, options.question_of, manner, explainer)

    @override
    def _call(self, case: CallInput) -> Call[Found]:
        return Call(ApplicationRun(self._known, case, self._manner), self._explainer, _NoEvents())
