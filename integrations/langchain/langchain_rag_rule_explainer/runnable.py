"""RuleExplainer: a Runnable around an existing chain."""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableSerializable
from langchain_core.runnables.base import RunnableLike
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec, Input, Output
from pydantic import ConfigDict, PrivateAttr
from typing_extensions import Unpack, override

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
    Verification,
)
from rag_rule_explainer.allowed import checked_flag, checked_function, keywords_of
from rag_rule_explainer.instrumentation.bounds import FACTOR
from rag_rule_explainer.instrumentation.call import Call, RuleKindLike
from rag_rule_explainer.instrumentation.engine import TracedExplanation, WantedScope, heard, threads
from rag_rule_explainer.instrumentation.options import (
    AnswerOf,
    Case,
    Manner,
    QuestionOf,
    documents_in,
    ids_in,
)
from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained
from rag_rule_explainer.instrumentation.recording.captured import OnNewQuery
from rag_rule_explainer.instrumentation.recording.exposure_checks import OnNoRetrieval
from rag_rule_explainer.instrumentation.run_context import participation, refused
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from rag_rule_explainer.instrumentation.showing import showing_settings
from rag_rule_explainer.predicates import PredicateLike

from .application import LangChainApplication
from .brought import DocumentLike
from .finding import Found
from .graphs import STREAM_ONLY, handed_back
from .keywords import check_config, check_keywords
from .kinds import as_application
from .outputs import whole
from .progressing import ProgressEvents
from .reading import answer_in, question_in
from .streaming import astreamed, streamed
from .tracing import as_one_async_run, as_one_run, asked, beside_root, inside_root, root_config

_OF_QUESTIONS = ("documents", "add_documents", "pinned", "baseline")


class RuleExplainer(RunnableSerializable[Input, Explained[Output]]):
    """Explains the answers of a LangChain application, which it leaves as it is.

    ``application``: any Runnable, or what a chain can be made of, such as a function; a function without
    parameters makes one anew for every run. Its retrieval is
    seen wherever it calls a ``BaseRetriever`` or searches a ``VectorStore``, however deep inside; for
    anything else there is ``gate``. ``retrievers``: only these instances are recorded and served; all
    others retrieve as ever.

    ``question_of`` and ``answer_of`` read the question out of its input and the answer out of its
    output; by default str, messages, and dicts with the usual keys are understood.

    Raises InvalidInput for what answers no questions, such as a retriever, or a graph that is not
    compiled.

    ``scope``: "seen" explains by the documents whose text was recognised in what the model was sent, and
    serves no others; "retrieved" by all that retrieval returned. ``on_new_query``: what a replay is
    served that asks what the baseline never asked: everything "kept" (the default for chains), what is
    kept of a live retrieval ("filter", the default where tools are called), or "error".
    ``on_no_retrieval``: whether the answer of a replay that retrieves nothing is an "error" or is to be
    accepted. ``stub_tools``: results of tools, by name, that are not to run. ``allow_length``: replies
    cut off at their length limit count. ``ignore``: regular expressions of what may differ between the
    baseline's model requests and those of a replay on all sources, such as a request number.
    ``replay_bound``: a replay may make so many times the baseline's model requests, tool calls,
    retrievals and steps; past that its answer is unknown. ``print_replays=True`` shows what replays print
    and warn of, too; else only the first run is heard, and what goes to stderr or to a log.

    Callbacks and tracers see an explanation as one run, "rag_rule_explanation", with the application's
    own and a "rag_rule_replay" for each replay inside it, which ends once it was judged and has the
    verdict. All that happens in a replay has the tag "rag-rule-replay", and in its metadata
    ``Explanation.id`` and the id of the explained run. ``trace_replays=False`` keeps replays from all of
    them, LangSmith and OpenTelemetry included.

    The rest is as for ``rag_rule_explainer.Explainer``, ``limiter`` too. A ``max_concurrency`` in the
    config of a call takes the place of the limiter and of the usual ``concurrency``, and bounds what all
    calls with that value have in flight together; of a ``concurrency`` that was given as well, the
    smaller one holds.

    The application runs once on the input, and what it retrieves is recorded. Then it is replayed, with
    subsets of the recorded documents served instead of retrieving: through its sync entry under
    ``explain`` and ``invoke`` (unless it has none), its async entry under ``aexplain`` and ``ainvoke``.

    Every run finds what LangChain's own classes remember as it was before, and keeps what it writes to
    itself: message histories, whoever reads and writes them; the memories of langchain_classic;
    LangGraph's checkpointers and long-term stores; key-value stores, docstores, and what is written to a
    vector store. Afterwards ``explain`` and ``verify`` leave the real ones as they were, ``invoke`` and
    ``stream`` as one ordinary run would. What is in memory is copied; of a history or a store that is
    kept elsewhere, what is used is read once, and what a run writes stands before that, whatever else its
    class would do with it. Writes to a vector store that cannot be copied are held back. A cache of model
    replies is read, and no replay writes to it. A vector store or another store that the application
    makes in its run is that run's own. Not seen are plain variables, files and databases of the
    application's own, and threads that do not have the run's context.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    application: Runnable[Any, Any]
    question_of: QuestionOf = question_in
    _manner: Manner = PrivateAttr()
    _explainer: Explainer = PrivateAttr()
    _explainers: dict[int, Explainer] = PrivateAttr(default_factory=dict[int, Explainer])
    _make: Callable[[int | None], Explainer] = PrivateAttr()
    _own_concurrency: int | None = PrivateAttr(default=None)

    @showing_settings
    def __init__(  # noqa: PLR0913 -- each a setting of its own
        self,
        application: RunnableLike[Input, Output] | Callable[[], Runnable[Input, Output]],
        predicate: PredicateLike | None = None,
        *,
        omission_predicate: PredicateLike | None = None,
        question_of: QuestionOf = question_in,
        answer_of: AnswerOf = answer_in,
        retrievers: Sequence[object] = (),
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
        chosen = Settings.of(settings, fields, type(self).__init__)
        chosen = chosen.accepting(length=allow_length)
        coerced = as_application(application, reads_answers=answer_of is not answer_in)
        super().__init__(application=coerced, question_of=question_of)  # pyright: ignore[reportCallIssue] -- pydantic's own constructor
        self._manner = Manner(
            answer_of,
            tuple(map(_instance_of, Manner.instances(retrievers))),
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

        def make(concurrency: int | None) -> Explainer:
            bounded = chosen if concurrency is None else replace(chosen, concurrency=concurrency)
            return Explainer(
                predicate=predicate,
                omission_predicate=omission_predicate,
                settings=bounded,
                progress=progress,
                limiter=limiter if concurrency is None else None,
            )

        says = "concurrency" in fields or (settings is not None and settings != Settings())
        self._own_concurrency = chosen.concurrency if says else None
        self._make = make
        self._explainer = make(None)

    def explain(
        self,
        input: Input,  # noqa: A002 -- as Runnable says
        config: RunnableConfig | None = None,
        *,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        **kwargs: Any,
    ) -> Explanation:
        """Returns the rules of the answer to ``input``, blocking; see ``Explainer.explain``.

        ``documents``: served instead of retrieving, so that no retriever is called: documents, texts, or
        JSON objects as they were logged. ``add_documents``: returned by every retrieval as well.
        ``pinned``: ids of documents that are always retained and in no rule. ``baseline``: a logged
        answer (or output) to explain; if the application now answers otherwise, that is the first of the
        explanation's warnings. ``kwargs``: what every run of the application is given by name, such as a
        graph's ``context=``; each has a copy of its own. Raises InvalidInput for one that the application
        does not take and that looks like a keyword from here, or like a setting.

        Raises NoSourcesCaptured where no retrieval was seen, ReplayMissedGate where a replay did not
        retrieve, SourceLeak where the model was sent a document that was left out, UnknownQuery,
        StateShared where what a run writes could not be kept from the others, such as a search of what
        was held back, and what ``Explainer.explain`` raises.
        """

        def explained(config: RunnableConfig, trace: TracedExplanation) -> Explanation:
            case = self._case(input, config, documents, add_documents, pinned, baseline, kwargs)
            return self._call(case, config, trace).explained().explanation

        return as_one_run(explained, input, config)

    async def aexplain(
        self,
        input: Input,  # noqa: A002 -- as Runnable says
        config: RunnableConfig | None = None,
        *,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        **kwargs: Any,
    ) -> Explanation:
        """Returns the same on the caller's loop, through the application's async entry."""

        async def explained(config: RunnableConfig, trace: TracedExplanation) -> Explanation:
            case = self._case(input, config, documents, add_documents, pinned, baseline, kwargs)
            return (await self._call(case, config, trace).aexplained()).explanation

        return await as_one_async_run(explained, input, config)

    def verify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        input: Input,  # noqa: A002 -- as Runnable says
        config: RunnableConfig | None = None,
        *,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        **kwargs: Any,
    ) -> Verification:
        """Returns whether one rule of the answer to ``input`` holds, blocking: "whenever the sources of
        these ids are retained" (or omitted); see ``Explainer.verify``.

        The rest is as for ``explain``. Raises InvalidInput for an id that nothing retrieved has.
        """

        def verified(config: RunnableConfig, trace: TracedExplanation) -> Verification:
            case = self._case(input, config, documents, add_documents, pinned, baseline, kwargs)
            return self._call(case, config, trace).verified(antecedent, kind)

        return as_one_run(verified, input, config)

    async def averify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        input: Input,  # noqa: A002 -- as Runnable says
        config: RunnableConfig | None = None,
        *,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        **kwargs: Any,
    ) -> Verification:
        """Returns the same on the caller's loop, through the application's async entry."""

        async def verified(config: RunnableConfig, trace: TracedExplanation) -> Verification:
            case = self._case(input, config, documents, add_documents, pinned, baseline, kwargs)
            return await self._call(case, config, trace).averified(antecedent, kind)

        return await as_one_async_run(verified, input, config)

    def estimate(
        self,
        input: Input,  # noqa: A002 -- as Runnable says
        config: RunnableConfig | None = None,
        *,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        assuming: Assumptions | None = None,
        **kwargs: Any,
    ) -> Estimate:
        """Returns what explaining the answer to ``input`` would take at best, typically and at worst,
        before it is paid.

        Retrieves once, and stops where a model would first be shown what was retrieved; models that are
        asked before that, such as to rewrite the question, are, and the estimate says what they spent.
        ``assuming``: what nobody knows before: tokens of an answer, seconds of a replay, whose price.
        Raises what ``explain`` raises before it replays anything.
        """
        case = self._case(input, config, documents, add_documents, pinned, None, kwargs)
        return self._call(case, config).estimate(assuming)

    @override
    def invoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Explained[Output]:
        """Runs the application and explains its answer, as one traced run."""
        return self._invoked(input, config, kwargs, forgiving=False)

    def answered(
        self, given: Any, config: RunnableConfig | None, keywords: Mapping[str, Any]
    ) -> Explained[Any] | Unexplained[Any]:
        """``invoke``, but once the application has answered, its output comes back in any case."""
        return self._invoked(given, config, keywords, forgiving=True)

    def _invoked(
        self,
        given: Any,
        config: RunnableConfig | None,
        keywords: Mapping[str, Any],
        *,
        forgiving: bool,
    ) -> Any:
        trace = TracedExplanation()

        def explained(
            given: Any,
            run_manager: CallbackManagerForChainRun,  # noqa: ARG001 -- passed by name
            config: RunnableConfig,
            **keywords: Any,
        ) -> Any:
            with inside_root(config, trace):
                call = self._ordinary_call(given, config, keywords, trace, forgiving=forgiving)
                return handed_back(call.answered()) if forgiving else call.explained()

        config = root_config(config, trace)
        with heard(trace, asked(config)):
            return self._call_with_config(cast("Any", explained), given, config, **keywords)

    @override
    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Explained[Output]:
        """Runs the application and explains its answer, as one traced run, on the caller's loop."""
        return await self._ainvoked(input, config, kwargs, forgiving=False)

    async def aanswered(
        self, given: Any, config: RunnableConfig | None, keywords: Mapping[str, Any]
    ) -> Explained[Any] | Unexplained[Any]:
        """``answered``, on the caller's loop."""
        return await self._ainvoked(given, config, keywords, forgiving=True)

    async def _ainvoked(
        self,
        given: Any,
        config: RunnableConfig | None,
        keywords: Mapping[str, Any],
        *,
        forgiving: bool,
    ) -> Any:
        trace = TracedExplanation()

        async def explained(
            given: Any,
            run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG001 -- passed by name
            config: RunnableConfig,
            **keywords: Any,
        ) -> Any:
            with inside_root(config, trace):
                call = self._ordinary_call(given, config, keywords, trace, forgiving=forgiving)
                return handed_back(await call.aanswered()) if forgiving else await call.aexplained()

        config = root_config(config, trace)
        with heard(trace, await threads.shared().run(asked, config)):
            return await self._acall_with_config(cast("Any", explained), given, config, **keywords)

    @override
    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Explained[Output]]:
        """Yields the output's chunks as they come, each an ``AnswerChunk``; then all of it, explained."""
        return self.transform(iter([input]), config, **kwargs)

    def answer_streamed(
        self, given: Any, config: RunnableConfig | None, keywords: Mapping[str, Any]
    ) -> Iterator[Explained[Any] | Unexplained[Any]]:
        """``stream``, of which the last chunk may be ``Unexplained``."""
        return self._transformed(iter([given]), config, keywords, forgiving=True)

    @override
    async def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Explained[Output]]:
        """Yields the same on the caller's loop."""

        async def only() -> AsyncIterator[Input]:
            yield input

        async for chunk in self.atransform(only(), config, **kwargs):
            yield chunk

    async def aanswer_streamed(
        self, given: Any, config: RunnableConfig | None, keywords: Mapping[str, Any]
    ) -> AsyncIterator[Explained[Any] | Unexplained[Any]]:
        """``answer_streamed``, on the caller's loop."""

        async def only() -> AsyncIterator[Any]:
            yield given

        async for chunk in self._atransformed(only(), config, keywords, forgiving=True):
            yield chunk

    @override
    def transform(
        self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Explained[Output]]:
        """``stream`` of an input that is streamed itself."""
        return self._transformed(input, config, kwargs, forgiving=False)

    def _transformed(
        self,
        given: Iterator[Any],
        config: RunnableConfig | None,
        keywords: Mapping[str, Any],
        *,
        forgiving: bool,
    ) -> Iterator[Any]:
        trace = TracedExplanation()

        def streaming(
            given: Iterator[Any],
            run_manager: CallbackManagerForChainRun,  # noqa: ARG001 -- passed by name
            config: RunnableConfig,
            **keywords: Any,
        ) -> Iterator[Any]:
            with beside_root(config, trace):
                call = self._ordinary_call(
                    whole(given), config, keywords, trace, streams=True, forgiving=forgiving
                )
                finish = call.answer_streamed if forgiving else call.streamed
                yield from streamed(call, self.application, finish)

        config = root_config(config, trace)
        return self._transform_stream_with_config(given, streaming, config, **keywords)

    @override
    async def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Explained[Output]]:
        """Yields the same on the caller's loop."""
        async for chunk in self._atransformed(input, config, kwargs, forgiving=False):
            yield chunk

    async def _atransformed(
        self,
        given: AsyncIterator[Any],
        config: RunnableConfig | None,
        keywords: Mapping[str, Any],
        *,
        forgiving: bool,
    ) -> AsyncIterator[Any]:
        trace = TracedExplanation()

        async def streaming(
            given: AsyncIterator[Any],
            run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG001 -- passed by name
            config: RunnableConfig,
            **keywords: Any,
        ) -> AsyncIterator[Any]:
            everything = whole([each async for each in given])
            with beside_root(config, trace):
                call = self._ordinary_call(
                    everything, config, keywords, trace, streams=True, forgiving=forgiving
                )
                finish = call.aanswer_streamed if forgiving else call.astreamed
                async for chunk in astreamed(call, self.application, finish):
                    yield chunk

        config = root_config(config, trace)
        async for chunk in self._atransform_stream_with_config(given, streaming, config, **keywords):
            yield chunk

    @property
    @override
    def InputType(self) -> Any:
        """Returns what the application's own returns."""
        return self.application.InputType

    @property
    @override
    def OutputType(self) -> Any:
        """``Explained``."""
        return Explained

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """Returns what the application's own returns."""
        return self.application.get_input_schema(config)

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Returns the application's: what may be configured in it may be configured here."""
        return self.application.config_specs

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Returns the application's graph, and its explanation after that."""
        graph = self.application.get_graph(config)
        last, explained = graph.last_node(), graph.add_node(self, id="RuleExplainer")
        if last is not None:
            graph.add_edge(last, explained)
        return graph

    @property
    def retrievers(self) -> tuple[object, ...]:
        """Returns the only instances that are recorded and served; empty for all of them."""
        return self._manner.retrievers

    @property
    def accepts(self) -> tuple[str, ...]:
        """Names the finish reasons that count as those of whole replies, beside the known ones."""
        return self._manner.accepts

    def recorded_call(
        self, given: Any, config: RunnableConfig | None, trace: TracedExplanation
    ) -> Call[Found]:
        """Returns a call about a run that was made elsewhere, and is not made again."""
        return self._call(self._case(given, config), config, trace)

    def _ordinary_call(
        self,
        given: Any,
        config: RunnableConfig,
        keywords: Mapping[str, Any],
        trace: TracedExplanation,
        *,
        streams: bool = False,
        forgiving: bool = False,
    ) -> Call[Found]:
        apart = STREAM_ONLY if streams else ()
        of_streams = {name: value for name, value in keywords.items() if name in apart}
        rest = {name: value for name, value in keywords.items() if name not in apart}
        self._check(config, rest)
        more: dict[str, Any] = {"config": config, "keywords": rest, "forgiving": forgiving}
        case = Case.of_the_users_run(given, self.question_of, **more)
        call = self._call(case, config, trace, of_streams)
        call.events = ProgressEvents(config)
        return call

    def _case(
        self,
        given: Any,
        config: RunnableConfig | None,
        documents: Sequence[DocumentLike] | None = None,
        add_documents: Sequence[DocumentLike] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        keywords: Mapping[str, Any] | None = None,
    ) -> Case:
        self._check(config, keywords or {})
        return Case(
            given,
            self.question_of(given),
            config or {},
            None if documents is None else documents_in("documents", documents),
            documents_in("add_documents", add_documents),
            ids_in(pinned),
            baseline,
            keywords=dict(keywords or {}),
        )

    def _check(self, config: RunnableConfig | None, keywords: Mapping[str, Any]) -> None:
        if participation() is not None:
            raise refused(
                InvalidInput(
                    "a RuleExplainer was invoked inside an application that is being explained; "
                    "put the application it wraps (.application) in its place"
                )
            )
        check_config(config)
        check_keywords(keywords, self.application, _OF_QUESTIONS, keywords_of(type(self).__init__))

    def _call(
        self,
        case: Case,
        config: RunnableConfig | None,
        trace: TracedExplanation | None = None,
        of_streams: Mapping[str, Any] | None = None,
    ) -> Call[Found]:
        application = LangChainApplication(self.application, of_streams or {})
        return Call(
            ApplicationRun(application, case, self._manner, trace),
            self._bounded(config),
            ProgressEvents(),
        )

    def _bounded(self, config: RunnableConfig | None) -> Explainer:
        bound = (config or {}).get("max_concurrency")
        if bound is None:
            return self._explainer
        if self._own_concurrency is not None:
            # Whoever said both meant both.
            bound = min(bound, self._own_concurrency)
        # One for each bound, so that all calls under it share what it bounds.
        return self._explainers.setdefault(bound, self._make(bound))


def _instance_of(retriever: object) -> object:
    """Returns the retriever itself, where it was given with a config bound to it."""
    while isinstance(retriever, RunnableBinding):
        retriever = cast("RunnableBinding[Any, Any]", retriever).bound
    return retriever
