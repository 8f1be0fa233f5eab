"""What goes wrong when somebody else's LlamaIndex application is replayed, each once."""

import asyncio
import json
import threading
from collections import Counter
from functools import partial
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.agent.workflow.multi_agent_workflow import handoff
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatStartEvent
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.schema import ImageNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool
from llama_index.core.workflow import Context
from llama_index_instrumentation.span.base import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from llama_index_rag_rule_explainer import RuleExplainer, RuleProgressEvent, explained
from llama_index_rag_rule_explainer.application import EMPTY_ANSWER
from pydantic import PrivateAttr
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput, UnknownQuery, condition
from rag_rule_explainer.instrumentation.recording.remarks import NEW_RETRIEVAL
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, ids, omission, retention, sets, shown_in
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, bad_with_b_and_d, nodes
from tests.integrations.llama_index.zoo.agents import agent, async_tool, sync_tool, texts_of
from tests.integrations.llama_index.zoo.chats import buffered, chatting
from tests.representing import SELDOM

# Agents of LlamaIndex look at attributes that Pydantic deprecates.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_without_nodes_no_model_is_asked_and_the_probe_says_so() -> None:
    llm = Telling()
    explanation = RuleExplainer(engine_of(retriever_of(), llm), predicate=BAD, miner="exact").explain(
        "why?"
    )
    (nothing,) = (probe for probe in explanation.probes if not probe.kept)
    assert nothing.answers[0].text == "Empty Response"
    assert nothing.answers[0].note == EMPTY_ANSWER
    assert "" not in llm.asked
    assert all(probe.answers[0].note != EMPTY_ANSWER for probe in explanation.probes if probe.kept)


def test_what_no_sources_at_all_count_as_can_be_said() -> None:
    explainer = RuleExplainer(
        engine_of(retriever_of()), predicate=BAD, miner="exact", answer_without_sources="bad all the same"
    )
    explanation = explainer.explain("why?")
    (nothing,) = (probe for probe in explanation.probes if not probe.kept)
    assert nothing.answers[0].text == "bad all the same"
    assert omission(explanation) == set()


def test_sources_are_those_retrieved_and_not_those_of_the_response() -> None:
    engine = CitationQueryEngine.from_args(
        None,  # type: ignore[arg-type] -- the retriever is all that it uses
        retriever=retriever_of("abcd"),
        llm=Telling(),
        citation_chunk_size=8,
        citation_chunk_overlap=0,
    )
    cited: Any = engine.query("why?")
    assert len(cited.source_nodes) > 4
    assert [node.node.node_id for node in cited.source_nodes] != list("abcd")
    explanation = RuleExplainer(engine, predicate=BAD).explain("why?")
    # In chunks of eight tokens no text is recognised; they were handed to the synthesizer all the same.
    assert ids(explanation) == list("abcd")
    assert explanation.held_out == ()
    answer = RuleExplainer(engine, predicate=condition(lambda case: len(case.kept) > 2, "long"))
    assert retention(answer.explain("why?")) == sets("abc", "abd", "acd", "bcd")


def asking_sub_questions(*engines: Any) -> SubQuestionQueryEngine:
    asked = [{"sub_question": f"what is {n}?", "tool_name": f"engine_{n}"} for n in range(len(engines))]
    writer = Telling(script=[("sub-questions", f"```json\n{json.dumps(asked)}\n```")])
    return SubQuestionQueryEngine.from_defaults(
        [
            QueryEngineTool.from_defaults(each, name=f"engine_{n}", description="Knows.")
            for n, each in enumerate(engines)
        ],
        llm=Telling(),
        question_gen=LLMQuestionGenerator.from_defaults(writer),
        use_async=False,
        verbose=False,
    )


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_sub_question_that_fails_and_is_swallowed_is_no_verdict(awaiting: bool) -> None:
    def says(prompt: str) -> str:
        if shown_in(prompt) == "d":
            raise ConnectionError("the model is down")
        return bad_with_b_and_d(prompt)

    engine = asking_sub_questions(
        engine_of(retriever_of("ab")), engine_of(retriever_of("cd"), Telling(says=says))
    )
    explainer = RuleExplainer(engine, predicate=BAD, miner="exact", retries=0)
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    failed = {probe.kept for probe in explanation.probes if "the model is down" in probe.error}
    assert failed
    assert all("d" in kept and "c" not in kept for kept in failed)
    assert not explanation.complete
    assert all("the model is down" in each.reason for each in explanation.unresolved)


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_synthesizer_that_swallows_the_errors_of_its_model_is_no_verdict(awaiting: bool) -> None:
    def says(prompt: str) -> str:
        if shown_in(prompt) == "bd":
            raise ValueError("rate limit")
        return bad_with_b_and_d(prompt)

    engine = engine_of(retriever_of("abcd"), Telling(says=says))
    # In later releases, a ValueError of the model becomes the framework's constant, "Empty Response".
    explainer = RuleExplainer(engine, predicate=BAD, retries=0)
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    assert {each.kept for each in explanation.unresolved if "rate limit" in each.reason} == {("b", "d")}
    assert retention(explanation) == sets("abd", "bcd")


def test_models_that_failed_in_the_baseline_as_well_are_a_part_of_the_application() -> None:
    class Down(Telling):
        def _reply(self, prompt: str) -> str:
            raise ConnectionError("always down")

    down, llm = Down(), Telling()
    retriever = retriever_of()

    def answer(question: str) -> str:
        found = texts_of(retriever.retrieve(question))
        try:
            return str(down.complete(found))
        except ConnectionError:
            return str(llm.complete(found))

    assert blames_b_and_d(RuleExplainer(answer, predicate=BAD).explain("why?"))


class Heard(BaseEventHandler):
    """Remembers the tags of events."""

    _tags: list[tuple[str, dict[str, Any]]] = PrivateAttr(default_factory=list)
    _events: list[Any] = PrivateAttr(default_factory=list)

    @override
    def handle(self, event: Any, **kwargs: Any) -> None:
        self._tags.append((event.class_name(), dict(event.tags)))
        self._events.append(event)

    @property
    def tags(self) -> list[tuple[str, dict[str, Any]]]:
        return self._tags

    @property
    def events(self) -> list[Any]:
        return self._events


MARKS = {f"rag_rule_{each}" for each in ("explanation", "explained_run", "kept", "kind", "number")}


class Spans(BaseSpanHandler[BaseSpan]):
    """Remembers the ids, names and tags of spans."""

    _ids: list[str] = PrivateAttr(default_factory=list)
    _begun: list[tuple[str, dict[str, Any]]] = PrivateAttr(default_factory=list)

    @property
    def ids(self) -> list[str]:
        return self._ids

    @property
    def begun(self) -> list[tuple[str, dict[str, Any]]]:
        return self._begun

    @override
    def new_span(self, id_: str, *args: Any, tags: Any = None, **kwargs: Any) -> None:
        self._ids.append(id_)
        self._begun.append((id_.split("-", maxsplit=1)[0], dict(tags or {})))

    @override
    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    @override
    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
        return None


@pytest.fixture
def heard() -> Any:
    handler, dispatcher = Heard(), get_dispatcher()
    dispatcher.add_event_handler(handler)
    yield handler
    dispatcher.event_handlers.remove(handler)


@pytest.fixture
def spans() -> Any:
    handler, dispatcher = Spans(), get_dispatcher()
    dispatcher.add_span_handler(handler)
    yield handler
    dispatcher.span_handlers.remove(handler)


@pytest.mark.parametrize("awaiting", SELDOM)
def test_every_event_and_span_of_a_replay_says_which_one_it_belongs_to(
    heard: Heard, spans: Spans, awaiting: bool
) -> None:
    explainer = RuleExplainer(engine_of(retriever_of("bd")), predicate=BAD, miner="exhaustive")
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    models = [tags for name, tags in heard.tags if name == "LLMChatStartEvent"]
    replays = Counter(tags["rag_rule_kept"] for tags in models if tags.get("rag-rule-replay"))
    # The last comparison is on one of them alone.
    assert sorted(replays) == ["b", "b,d", "d"]
    assert replays["b,d"] == 1
    assert sorted([replays["b"], replays["d"]]) == [1, 2]
    mine = {"rag_rule_explanation": explanation.id}
    baselines = [tags for tags in models if tags.get("rag-rule-baseline")]
    assert baselines == [{"rag-rule-baseline": True, **mine}]
    assert len(models) == 5
    inner = [tags for name, tags in spans.begun if name.endswith((".query", ".aquery"))]
    assert len(inner) == 6
    assert {frozenset(tags) for tags in inner} == {
        frozenset({"rag-rule-baseline", "rag_rule_explanation"}),
        frozenset({"rag-rule-replay", *MARKS}),
    }
    assert {tags["rag_rule_explanation"] for tags in inner} == {explanation.id}
    assert sum(name == "rag_rule_explanation" for name, _ in spans.begun) == 1
    assert sum(name == "rag_rule_replay" for name, _ in spans.begun) == 5
    told = {tags["rag_rule_explained_run"] for tags in inner if tags.get("rag-rule-replay")}
    assert told == {next(each for each in spans.ids if each.startswith("RetrieverQueryEngine."))}


def test_a_trace_shows_the_nodes_that_a_replay_was_served(heard: Heard) -> None:
    RuleExplainer(engine_of(retriever_of("bd")), predicate=BAD, miner="exhaustive").explain("why?")
    served = {
        (event.tags.get("rag_rule_kept"), ",".join(node.node_id for node in event.nodes))
        for event in heard.events
        if isinstance(event, RetrievalEndEvent)
    }
    assert served == {(None, "b,d"), ("b,d", "b,d"), ("b", "b"), ("d", "d"), ("", "")}


def test_replays_can_be_kept_from_all_handlers(heard: Heard, spans: Spans) -> None:
    explainer = RuleExplainer(engine_of(retriever_of()), predicate=BAD, trace_replays=False)
    explanation = explainer.explain("why?")
    assert blames_b_and_d(explanation)
    assert sum(isinstance(event, LLMChatStartEvent) for event in heard.events) == 1
    # A workflow that another test gave up may end now, and is heard of by everybody.
    replays = [tags for _, tags in [*heard.tags, *spans.begun] if "rag-rule-replay" in tags]
    assert not [tags for tags in replays if tags["rag_rule_explanation"] == explanation.id]


def test_the_users_own_tags_stay(heard: Heard) -> None:
    with instrument_tags({"tenant": "north"}):
        RuleExplainer(engine_of(retriever_of("bd")), predicate=BAD).explain("why?")
    assert all(tags["tenant"] == "north" for _, tags in heard.tags)


def test_progress_is_told_as_events(heard: Heard) -> None:
    RuleExplainer(engine_of(retriever_of("bd")), predicate=BAD, miner="exhaustive").explain("why?")
    told = [event for event in heard.events if isinstance(event, RuleProgressEvent)]
    assert [event.probes for event in told][-1] == told[-1].upper_bound == 4


class Legacy(BaseCallbackHandler):
    """The callback manager of old, which is not used."""

    def __init__(self) -> None:
        super().__init__([], [])
        self.traces = 0

    @override
    def start_trace(self, trace_id: str | None = None) -> None:
        self.traces += 1

    @override
    def end_trace(self, trace_id: Any = None, trace_map: Any = None) -> None: ...

    @override
    def on_event_start(self, *args: Any, **kwargs: Any) -> str:
        return ""

    @override
    def on_event_end(self, *args: Any, **kwargs: Any) -> None: ...


def test_the_legacy_callback_manager_is_left_as_it_is() -> None:
    handler = Legacy()
    manager = CallbackManager([handler])
    engine = engine_of(retriever_of(), callback_manager=manager)
    assert blames_b_and_d(RuleExplainer(engine, predicate=BAD).explain("why?"))
    assert manager.handlers == [handler]


class Renaming(BaseNodePostprocessor):
    """Changes its nodes in place, as many do."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> Any:
        for place, scored in enumerate(nodes):
            scored.score = float(place)
            scored.node.metadata["place"] = place
            scored.node.set_content(f"{place}. {scored.node.get_content()}")
        return nodes


@pytest.mark.parametrize("by_gate", [False, True])
def test_what_is_done_to_nodes_in_place_reaches_no_other_replay(by_gate: bool) -> None:
    retriever, llm, seen = retriever_of(), Telling(), list[str]()

    def answer(question: str) -> str:
        found = Renaming().postprocess_nodes(retriever.retrieve(question))
        seen.append(texts_of(found))
        return str(llm.complete(texts_of(found)))

    application = answer if by_gate else engine_of(retriever, llm, node_postprocessors=[Renaming()])
    explanation = RuleExplainer(application, predicate=BAD).explain("why?")
    assert blames_b_and_d(explanation)
    assert all("0. 0." not in each for each in seen)
    if by_gate:
        assert all("place" not in source.metadata for source in explanation.sources)


class Drifting(BaseRetriever):
    """Finds everything, under another score each time."""

    calls = 0

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.calls += 1
        return [
            NodeWithScore(
                node=node.model_copy(update={"metadata": {"score": self.calls}}), score=1 / self.calls
            )
            for node in nodes("abd")
        ]


def test_scores_that_change_make_no_other_source() -> None:
    retriever = Drifting()

    def twice(question: str) -> str:
        found = {each.node.get_content(): each for q in ("one", "two") for each in retriever.retrieve(q)}
        return str(Telling().complete(texts_of(found.values())))

    explanation = RuleExplainer(twice, predicate=BAD).explain("why?")
    assert ids(explanation) == list("abd")
    assert blames_b_and_d(explanation)


def varying(queries: list[str]) -> Any:
    """Rewrites its query from what it has found so far, as agents do."""
    retriever = retriever_of()

    def answer(question: str) -> str:
        first = retriever.retrieve(question)
        more = retriever.retrieve(f"{question} {len(first)}")
        queries.extend(retriever.live)
        return str(Telling().complete(texts_of({n.node_id: n for n in [*first, *more]}.values())))

    return retriever, answer


def test_a_query_that_the_baseline_never_asked_gets_what_is_kept() -> None:
    retriever, answer = varying([])
    explanation = RuleExplainer(answer, predicate=BAD).explain("why?")
    assert blames_b_and_d(explanation)
    assert NEW_RETRIEVAL in {a.note for probe in explanation.probes for a in probe.answers}
    # One real search for each new query shows that it finds the same.
    assert retriever.live == ["why?", "why? 3", *retriever.live[2:]]
    assert len(retriever.live) == len(set(retriever.live))


def test_a_query_that_the_baseline_never_asked_may_be_made_live_and_filtered() -> None:
    retriever, answer = varying([])
    explanation = RuleExplainer(answer, predicate=BAD, on_new_query="filter").explain("why?")
    assert blames_b_and_d(explanation)
    assert set(retriever.live) > {"why?", "why? 3", "why? 2"}


def test_a_query_that_the_baseline_never_asked_may_be_refused() -> None:
    _, answer = varying([])
    with pytest.raises(UnknownQuery, match="never asked"):
        RuleExplainer(answer, predicate=BAD, on_new_query="error").explain("why?")


def test_an_agents_tool_that_swallows_the_refusal_is_refused_all_the_same() -> None:
    retriever, number = retriever_of(), iter(range(1000))

    def search(query: str) -> str:
        """Finds documents."""
        return texts_of(retriever.retrieve(f"{query} {next(number)}"))

    application = FunctionAgent(tools=[FunctionTool.from_defaults(search)], llm=Telling())
    with pytest.raises(UnknownQuery, match="never asked"):
        RuleExplainer(application, predicate=BAD, on_new_query="error").explain("why?")


@pytest.mark.slow
def test_a_tool_that_acts_is_warned_of_and_can_be_stubbed() -> None:
    sent: list[str] = []
    retriever = retriever_of("bd")

    def notify(query: str) -> str:
        """Writes a mail."""
        sent.append(query)
        return texts_of([])

    class Both(Telling):
        @override
        def get_tool_calls_from_response(
            self, response: Any, error_on_no_tool_call: bool = True, **kwargs: Any
        ) -> Any:
            calls = super().get_tool_calls_from_response(response, **kwargs)
            return [
                call.model_copy(update={"tool_name": n, "tool_id": n})
                for call in calls
                for n in ("search", "notify")
            ]

    application = FunctionAgent(
        tools=[sync_tool(retriever), FunctionTool.from_defaults(notify)], llm=Both()
    )
    explanation = RuleExplainer(application, predicate=BAD).explain("why?")
    assert blames_b_and_d(explanation)
    assert "'notify' retrieved nothing" in explanation.warnings[0]
    assert len(sent) == explanation.counts.replays
    sent.clear()
    stubbed = RuleExplainer(application, predicate=BAD, stub_tools={"notify": "sent"}).explain("why?")
    assert blames_b_and_d(stubbed)
    assert (stubbed.warnings, sent) == ((), [])


@pytest.mark.parametrize("tool", [sync_tool, pytest.param(async_tool, marks=pytest.mark.slow)])
def test_two_explanations_of_one_agent_at_once_do_not_mix(tool: Any) -> None:
    application = agent(tool)().application

    async def both() -> list[Explanation]:
        bad = RuleExplainer(application, predicate=BAD, rules="retention")
        pinned = RuleExplainer(application, predicate=BAD, rules="retention")
        return list(await asyncio.gather(bad.aexplain("why?"), pinned.aexplain("why?", pinned=["d"])))

    first, second = asyncio.run(both())
    assert (retention(first), retention(second)) == (sets("bd"), sets("b"))


@pytest.mark.waits
def test_other_traffic_during_an_explanation_is_left_alone() -> None:
    retriever, others, going_on = retriever_of(), list[int](), threading.Event()

    def says(prompt: str) -> str:
        going_on.set()
        return bad_with_b_and_d(prompt)

    engine = engine_of(retriever, Telling(says=says))
    stop = threading.Event()

    def traffic() -> None:
        going_on.wait(120)
        while not stop.is_set():
            others.append(len(retriever.retrieve("mine")))

    thread = threading.Thread(target=traffic)
    thread.start()
    try:
        explanation = RuleExplainer(engine, predicate=BAD).explain("why?")
    finally:
        stop.set()
        thread.join()
    assert blames_b_and_d(explanation)
    assert others
    assert set(others) == {3}


@pytest.mark.waits
def test_a_background_task_that_outlives_its_replay_gets_no_stale_nodes() -> None:
    retriever, outliving = retriever_of("ab"), list[asyncio.Task[Any]]()

    async def main() -> None:
        proceed = asyncio.Event()

        async def late() -> Any:
            await proceed.wait()
            return await retriever.aretrieve("late")

        async def answer(question: str) -> str:
            found = await retriever.aretrieve(question)
            outliving.append(asyncio.create_task(late()))
            return str(await Telling().acomplete(texts_of(found)))

        await RuleExplainer(answer, predicate=BAD).aexplain("why?")
        proceed.set()
        found = await asyncio.gather(*outliving)
        assert {len(each) for each in found} == {2}

    asyncio.run(main())


def test_an_explainer_inside_what_is_explained_is_told_what_to_do() -> None:
    inner = explained(engine_of(retriever_of()), predicate=BAD)
    application = asking_sub_questions(inner)
    with pytest.raises(InvalidInput, match="application that is being explained"):
        RuleExplainer(lambda q: str(inner.explainer.explain(q)), predicate=BAD).explain("why?")
    assert inner.explainer.application is not application


def test_a_chat_engine_that_is_asked_twice_is_explained_in_its_conversation() -> None:
    built = chatting(
        __import__("llama_index.core.chat_engine", fromlist=["x"]).ContextChatEngine, buffered
    )()
    engine = explained(built.application, predicate=BAD)
    first = engine.chat("why?")
    second = engine.chat("why not?")
    assert len(engine.chat_history) == 6
    assert [m.content for m in engine.chat_history][2:] == [
        "why?",
        first.response,
        "why not?",
        second.response,
    ]
    rules = Explanation.model_validate(second.metadata["rag_rules"])
    # What the model itself wrote before is no leak, and no source.
    assert ids(rules) == list("abd")
    engine.reset()
    assert engine.chat_history == []


def test_an_engine_whose_texts_are_too_short_says_that_seeing_is_unknown() -> None:
    short = Counting([TextNode(id_=name, text=name) for name in "xy"])
    explanation = RuleExplainer(engine_of(short), predicate=BAD).explain("why?")
    assert explanation.scope == "retrieved"
    assert any("seeing unknown" in note for note in explanation.notes)


def test_images_without_a_text_are_different_sources() -> None:
    first, second = (Counting([ImageNode(id_=name, image=name)]) for name in ("i1", "i2"))

    def answer(question: str) -> str:
        found = [*first.retrieve(question), *second.retrieve("what else?")]
        return "bad" if "i2" in {each.node_id for each in found} else "good"

    explanation = RuleExplainer(answer, predicate=BAD).explain("why?")
    assert ids(explanation) == ["i1", "i2"]
    assert retention(explanation) == {frozenset({"i2"})}


def test_nodes_that_share_an_id_are_all_served() -> None:
    """A postprocessor may cut a node in two."""

    class Cutting(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> Any:
            halves = [*nodes, *(each.model_copy(deep=True) for each in nodes)]
            for each in halves[len(nodes) :]:
                each.node.set_content(TEXTS["d"])
            return halves

    explanation = RuleExplainer(
        engine_of(retriever_of("b"), node_postprocessors=[Cutting()]), predicate=BAD
    ).explain("why?")
    assert len(explanation.sources) == 2
    assert [len(rule.sources) for rule in explanation.retention_rules] == [2]
    assert [len(rule.sources) for rule in explanation.omission_rules] == [1, 1]


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_retrieval_that_raised_in_the_baseline_raises_in_replays(awaiting: bool) -> None:
    class Down(Counting):
        @override
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            self.live.append("down")
            raise ConnectionError("the index is down")

    down, other, ways = Down([]), retriever_of(), list[str]()

    async def answer(question: str) -> str:
        try:
            found = await down.aretrieve(question)
            ways.append("first")
        except ConnectionError:
            found = await other.aretrieve(question)
            ways.append("second")
        return str(await Telling().acomplete(texts_of(found)))

    explainer = RuleExplainer(answer, predicate=BAD)
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    assert blames_b_and_d(explanation)
    assert set(ways) == {"second"}
    assert (down.live, other.live) == (["down"], ["why?"])


def test_a_search_that_raises_stop_iteration_raises_that() -> None:
    class Careless(Counting):
        @override
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return next(iter([]))

    def answer(question: str) -> str:
        try:
            return str(Careless([]).retrieve(question))
        except StopIteration:
            return texts_of(retriever_of().retrieve(question))

    assert blames_b_and_d(
        RuleExplainer(lambda q: str(Telling().complete(answer(q) or "nothing")), predicate=BAD).explain(
            "why?"
        )
    )


def test_an_explained_engine_in_an_agent_that_is_explained_is_an_engine_like_any_other() -> None:
    tool = QueryEngineTool.from_defaults(
        explained(engine_of(retriever_of()), predicate=BAD), name="ask", description="Answers."
    )
    explainer = RuleExplainer(FunctionAgent(tools=[tool], llm=Telling()), predicate=BAD)
    assert blames_b_and_d(explainer.explain("why?"))


def test_an_explainer_in_an_agent_is_named_although_the_agent_swallows_it() -> None:
    inner = RuleExplainer(engine_of(retriever_of()), predicate=BAD)

    def ask(query: str) -> str:
        """Answers."""
        return str(inner.explain(query))

    tool = FunctionTool.from_defaults(ask)
    with pytest.raises(InvalidInput, match="put the application it wraps"):
        RuleExplainer(FunctionAgent(tools=[tool], llm=Telling()), predicate=BAD).explain("why?")


def test_the_spans_of_a_retrieval_name_the_class_that_retrieves(spans: Spans) -> None:
    RuleExplainer(engine_of(retriever_of("bd")), predicate=BAD).explain("why?")
    names = {name for name, _ in spans.begun}
    assert {"Counting.retrieve", "ServedRetriever.retrieve"} <= names
    assert "BaseRetriever.retrieve" not in names


def test_handing_over_to_another_agent_is_no_action() -> None:
    """It is LlamaIndex's own tool; one of the application is an action, whatever its name."""
    retriever = retriever_of()

    def own(query: str) -> str:
        """Hands over to a human."""
        return query

    theirs = FunctionTool.from_defaults(async_fn=handoff, name="handoff")
    ours = FunctionTool.from_defaults(own, name="handoff")

    async def answer(question: str, *, is_ours: bool = False) -> str:
        context: Any = Context(FunctionAgent(llm=Telling()))
        for key, value in {"agents": ["b"], "current_agent_name": "a", "can_handoff_to": {}}.items():
            await context.store.set(key, value)
        await theirs.acall(ctx=context, to_agent="b", reason=question)
        if is_ours:
            await ours.acall(query=question)
        return str(await Telling().acomplete(texts_of(await retriever.aretrieve(question))))

    assert RuleExplainer(answer, predicate=BAD).explain("why?").warnings == ()
    (warning,) = RuleExplainer(partial(answer, is_ours=True), predicate=BAD).explain("why?").warnings
    assert "'handoff' retrieved nothing" in warning
