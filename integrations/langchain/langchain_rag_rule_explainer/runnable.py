"""This module defines the ``RuleExplainer`` of LangChain applications."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableLike
from langchain_core.runnables.utils import Input, Output
from pydantic import PrivateAttr
from typing_extensions import Self, Unpack, override

from rag_rule_explainer import (
    Assumptions,
    Estimate,
    Explanation,
    InvalidInput,
    Settings,
    Verification,
)
from rag_rule_explainer.instrumentation.call import Call, RuleKindLike
from rag_rule_explainer.instrumentation.checks import keywords_of, showing
from rag_rule_explainer.instrumentation.engine import TracedExplanation
from rag_rule_explainer.instrumentation.explainer_options import ExplainerOptions, FrameworkFields
from rag_rule_explainer.instrumentation.options import AnswerOf, Manner, QuestionOf
from rag_rule_explainer.instrumentation.showing import showing_settings
from rag_rule_explainer.predicates import PredicateLike

from .bounded_explainers import BoundedExplainers
from .brought import DocumentLike
from .calls import Calls, QuestionOptions
from .finding import Found
from .kinds import as_application, ends_in_parser, instance_of
from .reading import answer_in, parsed_answer_in, question_in
from .rechecking_runs import RecheckingRuns


@dataclass(frozen=True, slots=True, kw_only=True)
class LangChainOptions(ExplainerOptions):
    """A ``LangChainOptions`` holds those settings of a ``RuleExplainer`` that exist only for LangChain;
    the others are in ``Settings``."""

    question_of: QuestionOf = question_in
    answer_of: AnswerOf = answer_in
    retrievers: Sequence[object] = ()


class RuleExplainer(RecheckingRuns[Input, Output]):
    """This class explains the answers of a LangChain application, without changing the application.

    ``application``: any Runnable, or an object that LangChain can run, such as a function. A function
    without parameters is called in each run, and must return the application. Retrievals are recorded
    wherever the application calls a ``BaseRetriever`` or searches a ``VectorStore``, at any depth; wrap
    any other search in ``gate``. ``retrievers``: if given, only these instances are recorded, and
    replaced by their recorded results in replays; all other instances retrieve as usual.

    ``question_of`` and ``answer_of`` read the question from the input and the answer from the output. By
    default they understand str, messages, dicts with the usual keys, and the output of an output parser
    that is the last step of a chain, such as ``JsonOutputParser``: ``json_path`` judges its entries.
    Raises InvalidInput for an object that answers no questions, such as a retriever, or a graph that is
    not compiled.

    ``scope``: "seen" explains by the documents whose text was recognised in requests to models; replays
    get only these. "retrieved" explains by all retrieved documents. It includes what a retriever finds
    and then drops, unless a handler recorded the run. ``on_new_query``: what a replay gets for a query
    that the baseline did not make: all retained documents ("kept", the default for chains), the retained
    documents among the results of a live retrieval ("filter", the default if models call tools), or an
    error ("error"). ``on_no_retrieval``: "error" if a replay that retrieves nothing is an error;
    otherwise its answer is accepted.

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

    Callbacks and tracers receive an explanation as one run, "rag_rule_explanation". It contains the
    application's own run and one run "rag_rule_replay" for each replay. The run of a replay ends after
    the answer was judged, and has the verdict. All runs in a replay have the tag "rag-rule-replay";
    their metadata have ``Explanation.id`` and the id of the explained run.

    With ``trace_replays=False`` no tracer receives replays: not LangSmith, not OpenTelemetry, and no
    tracer that the application binds or passes itself. The callbacks in the config of a call do not
    receive them either. Other callback handlers that the application itself passes are called as usual,
    because they may be part of the application.

    The other settings are those of ``rag_rule_explainer.Explainer``. A ``max_concurrency`` in the config
    of a call replaces the default ``concurrency``. It limits the replays of all calls with the same
    value. If ``concurrency`` or ``limiter`` was set too, the smaller limit is used.

    The application runs once on the input, and its retrievals are recorded. Then it is replayed on
    subsets of the recorded documents, which replace the results of its retrievals. ``explain`` and
    ``invoke`` use its sync methods if it has any, ``aexplain`` and ``ainvoke`` its async methods.

    The state of LangChain's own classes is isolated: every run finds it as it was before the first run,
    and its changes are lost after the run. These classes are message histories, the memories of
    langchain_classic, LangGraph's checkpointers and long-term stores, key-value stores, docstores, and
    vector stores. After ``explain`` and ``verify`` the state is unchanged; after ``invoke`` and
    ``stream`` it is as after one ordinary run.

    State in memory is copied. Of a history or a store that is not in memory, each entry that is used is
    read once. A run then finds this entry, unless the run itself has written it. Writes to a vector
    store that cannot be copied are not carried out. Replays read caches of model replies but do not
    write to them. A store that the application makes in a run belongs to that run. Not isolated are
    plain variables, files and databases of the application, and threads without the context of the run.
    """

    question_of: QuestionOf = question_in
    _manner: Manner = PrivateAttr()
    _explainers: BoundedExplainers = PrivateAttr()

    @showing_settings
    @showing(LangChainOptions, FrameworkFields)
    def __init__(
        self,
        application: RunnableLike[Input, Output] | Callable[[], Runnable[Input, Output]],
        predicate: PredicateLike | None = None,
        **fields: Unpack[FrameworkFields],
    ) -> None:
        options, settings = LangChainOptions.of(fields, type(self).__init__)
        runnable = as_application(application, reads_answers=options.answer_of is not answer_in)
        if options.answer_of is answer_in and ends_in_parser(runnable):
            options = replace(options, answer_of=parsed_answer_in)
        super().__init__(application=runnable, question_of=options.question_of)  # pyright: ignore[reportCallIssue] -- the constructor that pydantic makes
        retrievers = tuple(map(instance_of, Manner.instances(options.retrievers)))
        self._manner = options.manner(settings, predicate, retrievers)
        sets_concurrency = "concurrency" in fields or options.settings not in (None, Settings())
        own_bound = settings.concurrency if sets_concurrency else None
        self._explainers = BoundedExplainers(predicate, options, settings, own_bound)

    @override
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Returns a copy with a copied application. Both explainers share the limit on concurrent
        replays.

        Raises InvalidInput if the application or a setting, such as a client, cannot be copied.
        """
        try:
            return super().__deepcopy__(memo)
        except TypeError as error:
            raise InvalidInput(
                f"the application or a setting of this RuleExplainer cannot be copied: {error}; make a "
                "new one of the same objects: RuleExplainer(application, ...)"
            ) from error

    def explain(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        *,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        **kwargs: Any,
    ) -> Explanation:
        """Returns the rules of the answer to ``input``. Blocks until the search has ended.

        ``documents``: documents, texts, or JSON objects of logged documents, which replace the result of
        every retrieval. ``add_documents``: documents added to the result of every retrieval. ``pinned``:
        ids of documents that are retained in every replay and appear in no rule. ``baseline``: a logged
        answer (or output) to explain; if the application now answers differently, the explanation has a
        warning. ``kwargs``: keyword arguments, such as a graph's ``context=``. Every run of the
        application gets a copy of them.

        Raises NoSourcesCaptured if no retrieval was recorded, ReplayMissedGate if a replay did not
        retrieve, SourceLeak if a model was sent an omitted document, UnknownQuery if a replay made a new
        query with ``on_new_query="error"``, and StateShared if the state of a run could not be isolated.
        Raises InvalidInput for a keyword that the application does not accept and that is similar to a
        keyword of this method or a setting. Also raises the errors of ``Explainer.explain``.
        """
        question = QuestionOptions(documents, add_documents, pinned, baseline)
        return self._asked(lambda call: call.explained().explanation, input, config, question, kwargs)

    async def aexplain(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        *,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        **kwargs: Any,
    ) -> Explanation:
        """Returns the rules of the answer to ``input``, as ``explain`` does, but calls async methods in
        the caller's event loop."""
        question = QuestionOptions(documents, add_documents, pinned, baseline)

        async def explained(call: Call[Found]) -> Explanation:
            return (await call.aexplained()).explanation

        return await self._aasked(explained, input, config, question, kwargs)

    @showing(QuestionOptions, QuestionOptions)
    def verify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Verification:
        """Returns whether one rule of the answer to ``input`` holds. Blocks until the rule is tested.

        ``antecedent``: the ids of the rule's sources. ``kind``: "retention" if the rule is about
        retaining these sources, "omission" if it is about omitting them. The other arguments are those of
        ``explain``. Raises InvalidInput for an id that no retrieved document has.
        """
        question = QuestionOptions.taken_from(kwargs)
        return self._asked(lambda call: call.verified(antecedent, kind), input, config, question, kwargs)

    @showing(QuestionOptions, QuestionOptions)
    async def averify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Verification:
        """Returns whether one rule of the answer to ``input`` holds, as ``verify`` does, but calls async
        methods in the caller's event loop."""
        question = QuestionOptions.taken_from(kwargs)
        return await self._aasked(
            lambda call: call.averified(antecedent, kind), input, config, question, kwargs
        )

    def estimate(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        *,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        assuming: Assumptions | None = None,
        **kwargs: Any,
    ) -> Estimate:
        """Returns the estimated cost of explaining the answer: the lowest, the typical and the highest.

        The application runs until it would send retrieved documents to a model. Earlier requests to
        models, for example to rewrite the question, are really made; the estimate says what they cost.
        ``assuming``: figures that are not known before an explanation, such as the tokens of an answer
        and the seconds of a replay. The other arguments and the errors are those of ``explain``.
        """
        question = QuestionOptions(documents, add_documents, pinned)
        return self._calls.of(input, config, None, question, kwargs).estimate(assuming)

    @property
    def retrievers(self) -> tuple[object, ...]:
        """Returns the retrievers given as ``retrievers``: only their documents are recorded and replaced
        in replays. Returns an empty tuple if this applies to all retrievers."""
        return self._manner.retrievers

    @property
    def accepts(self) -> tuple[str, ...]:
        """Returns the finish reasons that the user chose by the setting ``accept_finish_reasons``. A
        reply with one of them counts as complete, as with the usual finish reasons."""
        return self._manner.accepts

    def recorded_call(
        self, given: Any, config: RunnableConfig | None, trace: TracedExplanation
    ) -> Call[Found]:
        """Returns a call that explains an ordinary run which a handler recorded. The run is not
        repeated."""
        return self._calls.of(given, config, trace)

    @property
    @override
    def _calls(self) -> Calls:
        names = keywords_of(type(self).__init__)
        return Calls(self.application, self.question_of, self._manner, self._explainers, names)


# Pydantic would add the field ``name`` of LangChain's base class, which is no setting of an explainer.
_shown = inspect.signature(cast("Any", RuleExplainer).__init__)
RuleExplainer.__signature__ = _shown.replace(parameters=list(_shown.parameters.values())[1:])
