"""This module defines the ``RuleExplainer`` of LlamaIndex applications."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import Unpack, override

from rag_rule_explainer import Answer
from rag_rule_explainer.allowed import showing
from rag_rule_explainer.instrumentation.call import Call
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(ExplainerOptions):
    question_of: QuestionOf = question_in
    answer_of: AnswerOf = answer_in
    retrievers: Sequence[object] = ()


class RuleExplainer(ApplicationExplainer[Found, DocumentLike]):
    """This class explains the answers of a LlamaIndex application, which it does not change.

    ``application``: a query engine, a chat engine, an agent or another workflow, or a function of one
    input. For an application that cannot be run twice or at once, pass a function without parameters that
    makes the application for each run. Retrievals are seen wherever the application calls ``retrieve`` of
    a query engine or a retriever, or queries a vector store, at any depth; wrap any other search in
    ``gate``. ``retrievers``: the only instances (query engines, retrievers, stores) that are recorded and
    served; all others retrieve as usual.

    The input is a question; for a chat engine also a dict of ``message`` and ``chat_history``; for a
    workflow also a dict of the arguments of its ``run``. ``documents=`` may be nodes, too.

    ``question_of`` and ``answer_of`` read the question from the input and the answer from the output; by
    default they understand str, query bundles, messages, responses, and dicts with the usual keys.

    ``scope``: "seen" explains by the nodes whose text was recognised in requests to models, and serves
    only these; "retrieved" explains by all retrieved nodes. ``on_new_query``: the result of a replay's
    query that the baseline did not make: all retained nodes ("kept", the default for engines), the
    retained ones among the results of a live retrieval ("filter", the default if models call tools), or
    an error ("error"). ``on_no_retrieval``: whether the answer of a replay without a retrieval is an
    "error" or is accepted. ``stub_tools``: results of tools, by name, which are used instead of a call.
    ``allow_length``: replies cut off at their length limit count. ``ignore``: regular expressions of
    texts, such as a request number, that may differ between the baseline's requests to models and those
    of a replay on all sources. ``replay_bound``: a replay may make this many times the baseline's
    requests to models, tool calls, retrievals and steps; beyond that its answer is unknown.
    ``print_replays=True`` also shows the output and the warnings of replays. By default only those of
    the first run are shown, and whatever is written to stderr or to a log.

    ``trace_replays=False`` keeps replays out of the dispatcher's event and span handlers, LangSmith and
    OpenTelemetry. Traced, an explanation is one span, "rag_rule_explanation". Inside it is a
    "rag_rule_replay" for each replay, which ends after its answer was judged and has the verdict. All
    spans in a replay have the tag "rag-rule-replay", ``Explanation.id`` and the id of the explained run's
    span. The other settings are those of ``rag_rule_explainer.Explainer``.

    The application runs once on the input, and its retrievals are recorded. Then it is replayed on
    subsets of the recorded nodes, which are served in place of retrievals. ``explain`` uses its sync
    methods if it has any, ``aexplain`` its async methods. A query engine with its own ``retrieve`` is
    served after its postprocessors, so that the sources are the nodes that its model sees; a note of the
    explanation says so.

    Every run starts from the state of the application before the first run, and its changes stay in that
    run. After ``explain`` and ``verify`` the state is unchanged; after the forms that attach rules it is
    as after one ordinary run. This holds for memories, chat stores, a workflow's ``ctx``, and key-value
    stores, with the document stores, index stores and caches built on them. It also holds for
    LlamaIndex's own indices, simple vector stores, simple graph stores and memory blocks, with their
    attributes. An object that a run makes belongs to that run. Replays persist nothing.

    Writes to other vector, graph and document stores, and to memory blocks of your own, are held back;
    StateShared is raised if a run reads such a store after writing to it, or if a conversation that one
    run began is used by another. A vector or graph store that is opened inside a run belongs to that
    run, and is written to. Attributes of your own objects, globals and files are not isolated: then pass
    a function that makes the application.

    Raises InvalidInput for an object that is no application.
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
        manner = options.manner(settings, Manner.instances(options.retrievers))
        explainer = options.explainer(predicate, settings)
        super().__init__(application, options.question_of, manner, explainer)

    @property
    def retrievers(self) -> tuple[object, ...]:
        """Returns the only instances that are recorded and served; empty for all of them."""
        return self._manner.retrievers

    @property
    def accepts(self) -> tuple[str, ...]:
        """Names the finish reasons that count as those of whole replies, beside the known ones."""
        return self._manner.accepts

    def recorded_call(self, given: Any) -> Call[Found]:
        """Returns a call about a run that was made elsewhere, and is not made again."""
        return self._call(self._case(given))

    def live_call(self, given: Any) -> Call[Found]:
        """Returns a call whose baseline is the user's own run: it writes to real memories, and is made
        whether its question can be read or not."""
        return self._call(CallInput.of_the_users_run(given, self.question_of, forgiving=True))

    def text_of(self, output: Any) -> str:
        """Returns the answer in an output; else what it prints as."""
        try:
            return Answer.of(self._manner.answer_of(output)).text
        except Exception:  # whatever a function of the user's raises
            return str(output)

    @override
    def _call(self, case: CallInput) -> Call[Found]:
        run = ApplicationRun(LlamaIndexApplication(self.entry), case, self._manner)
        return Call(run, self._explainer, ProgressEvents())
