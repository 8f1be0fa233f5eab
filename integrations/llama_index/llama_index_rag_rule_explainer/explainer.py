"""This module defines the ``RuleExplainer`` of LlamaIndex applications."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.workflow import Workflow
from typing_extensions import Unpack, override

from rag_rule_explainer import Answer
from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.checks import showing
from rag_rule_explainer.instrumentation.explainer_options import ExplainerOptions, FrameworkFields
from rag_rule_explainer.instrumentation.options import AnswerOf, CallInput, Manner, QuestionOf
from rag_rule_explainer.instrumentation.rule_explainer import ApplicationExplainer
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from rag_rule_explainer.instrumentation.showing import showing_settings
from rag_rule_explainer.predicates import PredicateLike

from .application import LlamaIndexApplication
from .brought import DocumentLike
from .entries import Engine, entry_of
from .nodes import Found
from .progressing import ProgressEvents
from .reading import answer_in, question_in
from .recorded_replies import check_that_runs_can_end_early


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(ExplainerOptions):
    question_of: QuestionOf = question_in
    answer_of: AnswerOf = answer_in
    retrievers: Sequence[object] = ()


class RuleExplainer(ApplicationExplainer[Found, DocumentLike]):
    """This class explains the answers of a LlamaIndex application, without changing the application.

    ``application``: a query engine, a chat engine, an agent or another workflow, or a function of one
    input. If the application cannot be run several times, or not in parallel, pass a function without
    parameters that makes the application for each run. Retrievals are recorded wherever the application
    calls ``retrieve`` of a query engine or a retriever, or queries a vector store, at any depth; wrap any
    other search in ``gate``. ``retrievers``: if given, only these instances (query engines, retrievers,
    stores) are recorded, and replaced by their recorded results in replays; all other instances retrieve
    as usual.

    The input is a question. For a chat engine it may also be a dict of ``message`` and ``chat_history``;
    for a workflow, a dict of the arguments of its ``run``. Documents may also be given as nodes.
    ``question_of`` and ``answer_of`` read the question from the input and the answer from the output; by
    default they understand str, query bundles, messages, responses, and dicts with the usual keys.

    ``scope``: "seen" explains by the nodes whose text was recognised in requests to models (replays get
    only these); "retrieved" explains by all retrieved nodes, also those that a postprocessor or a fused
    search drops. ``on_new_query``: what a replay gets for a query that the baseline did not make: all
    retained nodes ("kept", the default for engines), the retained nodes among the results of a live
    retrieval ("filter", the default if models call tools), or an error ("error"). ``on_no_retrieval``:
    "error" if a replay that retrieves nothing is an error; otherwise its answer is accepted.

    ``stub_tools``: by the name of a tool, the result that is used instead of a call of the tool.
    ``on_new_tool_call``: if set, tool calls of replays get the recorded results; it says what happens at
    a call that the baseline did not make: "unknown" ends the replay without a verdict, "live" runs the
    tool, and a function of the call returns the result. By default, tools run in replays; with a
    condition about tool calls, the default is "unknown". ``safe_tools``: the names of tools that may run
    in replays. ``unexecuted_tools``: the names of tools for whose calls the application runs nothing,
    because it only denies them, hands the task to another agent, or reads them as structured answers.

    ``source_kinds``: the kinds of sources, from "documents", "tools", "turns", "memory", "instructions"
    and "examples". ``omit``: whether an omitted source is left out ("remove"), or shown without its
    texts ("blank"). ``replay_of``: "whole_run", or "next_action": one request to a model in the recorded
    conversation. ``allow_length``: True if replies cut off at their length limit count as answers.

    ``ignore``: regular expressions of texts that change in every request, such as a request number. Such
    texts may differ between the baseline's requests to models and those of a replay on all sources.
    ``replay_bound``: limits a replay to this many times the requests to models, tool calls, retrievals
    and steps of the baseline; the answer of a replay that exceeds it is unknown. ``print_replays=True``
    also shows the printed output and the warnings of replays. By default only those of the first run are
    shown. Texts that a replay writes to stderr or to a log are always shown.

    In traces, an explanation is one span, "rag_rule_explanation". It contains one span "rag_rule_replay"
    for each replay. Such a span ends after the answer was judged, and has the verdict. All spans in a
    replay have the tag "rag-rule-replay", ``Explanation.id`` and the id of the explained run's span.
    ``trace_replays=False`` hides replays from LangSmith, from OpenTelemetry, and from the event and span
    handlers of LlamaIndex's dispatcher. The other settings are those of
    ``rag_rule_explainer.Explainer``.

    The application runs once on the input, and its retrievals are recorded. Then it is replayed on
    subsets of the recorded nodes, which replace the results of its retrievals. ``explain`` uses its sync
    methods if it has any, ``aexplain`` its async methods. If a query engine has its own ``retrieve``,
    the sources are the nodes that its postprocessors return, because its model sees these. In replays
    these nodes are not postprocessed again. A note of the explanation says so.

    Every run starts from the state that the application had before the first run, and its changes are
    lost after the run. After ``explain`` and ``verify`` the state is unchanged; after a run with attached
    rules (by ``explained``) it is as after one ordinary run. This holds for memories, chat stores, a
    workflow's ``ctx``, key-value stores, and the document stores, index stores and caches that use them.
    It also holds for the attributes of LlamaIndex's own indices, simple vector stores, simple graph
    stores and memory blocks. An object that a run makes belongs to that run. Replays save nothing to disk
    by ``persist``.

    Writes of replays to other vector, graph and document stores, and to memory blocks of your own, are
    not carried out. StateShared is raised if a run reads such a store after writing to it, or if one run
    uses a conversation that another run began. A vector or graph store that a run opens belongs to that
    run, and writes to it are carried out.

    Attributes of your own objects, globals and files are not isolated. If the application changes them,
    pass a function that makes the application. Raises InvalidInput for an object that cannot be run as
    an application.
    """

    @showing_settings
    @showing(_Options, FrameworkFields)
    def __init__(
        self,
        application: Engine,
        predicate: PredicateLike | None = None,
        **fields: Unpack[FrameworkFields],
    ) -> None:
        options, settings = _Options.of(fields, type(self).__init__)
        self.entry = entry_of(application)
        manner = options.manner(settings, predicate, Manner.instances(options.retrievers))
        if manner.replay_of == "next_action" and isinstance(application, Workflow):
            check_that_runs_can_end_early()
        explainer = options.explainer(predicate, settings)
        super().__init__(application, options.question_of, manner, explainer)

    @property
    def retrievers(self) -> tuple[object, ...]:
        """Returns the retrievers given as ``retrievers``: only their nodes are recorded and replaced in
        replays. Returns an empty tuple if this applies to all retrievers."""
        return self._manner.retrievers

    @property
    def accepts(self) -> tuple[str, ...]:
        """Returns the finish reasons with which a reply counts as complete although it would not by
        default."""
        return self._manner.accepts

    def recorded_call(self, given: Any) -> Call[Found]:
        """Returns a call that explains an ordinary run which a handler recorded. The run is not
        repeated."""
        return self._call(self._case(given))

    def live_call(self, given: Any) -> Call[Found]:
        """Returns a call that runs the application once for the user, and explains this run. As it is the
        user's own run, it may change real state, such as a memory. The application is run even if the
        question cannot be read from its input."""
        return self._call(CallInput.of_the_users_run(given, self.question_of, forgiving=True))

    def text_of(self, output: Any) -> str:
        """Returns the text of the answer in an output; ``str(output)`` if no answer can be read."""
        try:
            return Answer.of(self._manner.answer_of(output)).text
        except Exception:  # ``answer_of`` may be a function of the user, which may raise any error.
            return str(output)

    @override
    def _call(self, case: CallInput) -> Call[Found]:
        run = ApplicationRun(LlamaIndexApplication(self.entry), case, self._manner)
        return Call(run, self._explainer, ProgressEvents())
