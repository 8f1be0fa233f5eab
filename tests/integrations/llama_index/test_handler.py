"""Ordinary runs, explained from what LlamaIndex's instrumentation tells of them."""

import asyncio
import gc
import time
from collections.abc import Iterator
from typing import Any, cast

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index_rag_rule_explainer import RuleExplainer, RuleExplanationHandler
from llama_index_rag_rule_explainer.awaiting import entries
from llama_index_rag_rule_explainer.interception import interception

from rag_rule_explainer import Explanation, InvalidInput, NoSourcesCaptured, condition
from tests.integrations.known import BAD, blames_b_and_d, check_unexplained, retention, sets
from tests.integrations.llama_index.crossing import crossed
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.chats import PAST, buffered, condensing, remembered
from tests.integrations.llama_index.zoo.combined import routed, sub_questions
from tests.integrations.llama_index.zoo.queries import AsyncOwn, Own, cited, hypothetical, reranked

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _nothing_stays_intercepted() -> Iterator[None]:
    yield
    if interception.active:
        gc.collect()
    assert not interception.active
    if entries.active:
        gc.collect()
    assert not entries.active
    assert not [h for h in get_dispatcher().span_handlers if isinstance(h, RuleExplanationHandler)]


@pytest.fixture
def handling() -> Iterator[Any]:
    added: list[RuleExplanationHandler] = []

    def handling(engine: Any, auto: bool = True, **parameters: Any) -> RuleExplanationHandler:
        handler = RuleExplanationHandler(RuleExplainer(engine, predicate=BAD, **parameters), auto=auto)
        get_dispatcher().add_span_handler(handler)
        added.append(handler)
        return handler

    yield handling
    for each in added:
        get_dispatcher().span_handlers.remove(each)
        each.close()


def rules_of(response: Any) -> Explanation:
    return Explanation.model_validate(response.metadata["rag_rules"])


def when_attached(response: Any) -> Any:
    """Some releases do not wait for the thread that puts the answer into the memory."""
    deadline = time.monotonic() + 60
    while not hasattr(response, "metadata") and time.monotonic() < deadline:
        time.sleep(0.01)
    return response


ENGINES = {
    "ordinary": lambda: engine_of(retriever_of()),
    "reranked": lambda: reranked().application,
    "cited": lambda: cited()().application,
    "hypothetical": lambda: hypothetical()().application,
    "routed": lambda: routed()().application,
    "sub-questions": lambda: sub_questions(False)().application,
    # Its end is told by no event, and by a span all the same.
    "custom": lambda: Own(retriever=retriever_of(), llm=Telling()),
    "custom, async": lambda: AsyncOwn(retriever=retriever_of(), llm=Telling()),
}


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    ("name", "awaiting"),
    crossed(
        list(ENGINES),
        [False, True],
        fast=[
            *((name, False) for name in ENGINES if name != "custom, async"),
            ("ordinary", True),
            ("custom, async", True),
        ],
    ),
)
def test_the_rules_of_an_ordinary_run_are_attached_to_its_response(
    name: str, awaiting: bool, handling: Any
) -> None:
    engine = ENGINES[name]()
    handler = handling(engine)

    response = asyncio.run(engine.aquery("why?")) if awaiting else engine.query("why?")
    assert handler.errors == {}
    explanation = rules_of(response)
    assert blames_b_and_d(explanation)
    assert explanation.counts.baseline == 0
    assert explanation == handler.explanations[handler.runs[-1]]


def test_an_async_run_that_was_begun_before_the_handler_is_explained_beside_it() -> None:
    engine = engine_of(retriever_of("bd"))
    begun_earlier = engine.aquery
    handler = RuleExplanationHandler(RuleExplainer(engine, predicate=BAD), auto=True)

    async def asynchronously() -> Any:
        response = await begun_earlier("why?")
        assert "rag_rules" not in (response.metadata or {})
        await handler.finished()
        return response

    get_dispatcher().add_span_handler(handler)
    try:
        response = asyncio.run(asynchronously())
    finally:
        get_dispatcher().span_handlers.remove(handler)
    assert retention(rules_of(response)) == sets("bd")
    handler.close()
    assert not entries.active


@pytest.mark.waits
def test_while_an_async_run_waits_for_its_rules_the_loop_goes_on() -> None:
    engine = engine_of(retriever_of())
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def held(case: Any) -> bool:
        inside.set()
        await go_on.wait()
        return "bad" in case.answer.text

    handler = RuleExplanationHandler(RuleExplainer(engine, predicate=condition(held, "held")), auto=True)
    get_dispatcher().add_span_handler(handler)

    async def asynchronously() -> Any:
        asking = asyncio.ensure_future(engine.aquery("why?"))
        await inside.wait()
        assert not asking.done()
        go_on.set()
        return await asking

    try:
        response = asyncio.run(asynchronously())
    finally:
        get_dispatcher().span_handlers.remove(handler)
    assert blames_b_and_d(rules_of(response))


def test_nothing_is_retrieved_and_no_baseline_is_asked_again(handling: Any) -> None:
    retriever, llm = retriever_of(), Telling()
    engine = engine_of(retriever, llm)
    handler = handling(engine, auto=False, check_repeatable=False)
    engine.query("why?")
    explanation = handler.explain()
    assert retriever.live == ["why?"]
    assert llm.asked.count("abd") == 1
    assert blames_b_and_d(explanation)
    assert blames_b_and_d(asyncio.run(handler.aexplain(handler.runs[0])))


def test_a_streamed_run_has_its_rules_when_its_stream_has_ended(handling: Any) -> None:
    engine = engine_of(retriever_of(), streaming=True)
    handler = handling(engine)
    response: Any = engine.query("why?")
    assert "rag_rules" not in (response.metadata or {})
    assert "".join(response.response_gen).startswith("bad news")
    assert blames_b_and_d(rules_of(response))

    async def asynchronously() -> Any:
        response: Any = await engine.aquery("why?")
        pieces = [piece async for piece in response.async_response_gen()]
        assert "".join(pieces).startswith("bad news")
        return response

    assert blames_b_and_d(rules_of(asyncio.run(asynchronously())))
    assert handler.errors == {}


def test_a_stream_that_nobody_reads_is_let_go(handling: Any) -> None:
    engine = engine_of(retriever_of(), streaming=True)
    handler = handling(engine)
    response = engine.query("why?")
    assert interception.active
    del response
    gc.collect()
    assert not interception.active
    assert handler.runs == ()


CHATS, MEMORIES = [ContextChatEngine, CondensePlusContextChatEngine], [remembered, buffered]


@pytest.mark.waits
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("kind", "memory"), crossed(CHATS, MEMORIES, fast=list(zip(CHATS, MEMORIES, strict=True)))
)
def test_chat_engines_are_explained_in_their_conversation(kind: Any, memory: Any, handling: Any) -> None:
    own = memory()
    engine = kind.from_defaults(retriever=retriever_of(), llm=condensing(), memory=own)
    handler = handling(engine)
    response = engine.chat("why?")
    assert handler.errors == {}
    assert blames_b_and_d(rules_of(response))
    assert len(own.get_all()) == len(PAST) + 2

    streamed = engine.stream_chat("why?")
    "".join(streamed.response_gen)
    assert blames_b_and_d(rules_of(when_attached(streamed)))
    assert len(own.get_all()) == len(PAST) + 4

    async def asynchronously() -> list[Any]:
        response = await engine.achat("why?")
        assert "rag_rules" in response.metadata
        streamed = await engine.astream_chat("why?")
        assert [piece async for piece in streamed.async_response_gen()]
        while len(handler.explanations) < 4:  # noqa: ASYNC110 -- the engine's task is nobody's to await
            await asyncio.sleep(0.01)
        await handler.finished()
        return [response, streamed]

    assert all(blames_b_and_d(rules_of(each)) for each in asyncio.run(asynchronously()))
    assert handler.errors == {}
    assert len(own.get_all()) == len(PAST) + 8


def test_only_that_very_engine_is_recorded(handling: Any) -> None:
    engine, other = engine_of(retriever_of()), engine_of(retriever_of("abc"))
    handler = handling(engine, auto=False)
    other.query("why?")
    assert handler.runs == ()
    with pytest.raises(InvalidInput, match="no run has ended"):
        handler.explain()
    engine.query("why?")
    other.query("how come?")
    assert len(handler.runs) == 1
    assert handler.explain().question == "why?"
    with pytest.raises(InvalidInput, match="with the id nothing"):
        handler.explain("nothing")


def test_the_runs_of_an_explainer_are_not_recorded(handling: Any) -> None:
    engine = engine_of(retriever_of())
    handler = handling(engine)
    handler.explainer.explain("why?")
    assert handler.runs == ()


def test_a_run_that_fails_is_forgotten_and_a_failing_explanation_leaves_the_response(
    handling: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Down(Telling):
        def _reply(self, prompt: str) -> str:
            raise ConnectionError("down")

    engine = engine_of(retriever_of(), Down())
    handler = handling(engine)
    with pytest.raises(ConnectionError, match="down"):
        engine.query("why?")
    assert handler.runs == ()
    empty = engine_of(retriever_of(""))
    handler = handling(empty)
    response: Any = empty.query("why?")
    assert str(response) == "Empty Response"
    (error,) = handler.errors.values()
    assert isinstance(error, NoSourcesCaptured)
    check_unexplained(response.metadata["rag_rules"], NoSourcesCaptured, "returned no nodes")
    assert caplog.text.count("the answer comes without rules: NoSourcesCaptured") == 1


def test_no_more_runs_are_kept_than_wanted() -> None:
    engine = engine_of(retriever_of("bd"))
    handler = RuleExplanationHandler(RuleExplainer(engine, predicate=BAD), keep=2)
    get_dispatcher().add_span_handler(handler)
    try:
        for n in range(5):
            engine.query(f"why {n}?")
    finally:
        get_dispatcher().span_handlers.remove(handler)
    assert len(handler.runs) == 2
    assert handler.explain(handler.runs[0]).question == "why 3?"


def test_runs_at_once_are_told_apart(handling: Any) -> None:
    engine = engine_of(retriever_of("bd"))
    handler = handling(engine, auto=False)

    async def both() -> None:
        await asyncio.gather(*(engine.aquery(f"why {n}?") for n in range(4)))

    asyncio.run(both())
    explained = [handler.explain(run) for run in handler.runs]
    assert {each.question for each in explained} == {f"why {n}?" for n in range(4)}
    assert all(retention(each) == sets("bd") for each in explained)


def test_what_the_dispatcher_does_not_tell_of_is_refused() -> None:
    agent = FunctionAgent(tools=[], llm=Telling())
    with pytest.raises(InvalidInput, match=r"wrap it in explained\(\.\.\.\)"):
        RuleExplanationHandler(RuleExplainer(agent))


def test_a_handler_that_was_added_for_events_says_how_to_add_it() -> None:
    engine = engine_of(retriever_of())
    handler: Any = RuleExplanationHandler(RuleExplainer(engine))
    get_dispatcher().add_event_handler(handler)
    try:
        engine.query("why?")
    finally:
        get_dispatcher().event_handlers.remove(handler)
    with pytest.raises(InvalidInput, match=r"add_span_handler\(handler\)"):
        handler.explain()


def test_a_stream_whose_response_nobody_keeps_is_a_run_as_well(handling: Any) -> None:
    engine = engine_of(retriever_of(), streaming=True)
    handler = handling(engine)
    text = ""
    pieces: Any = cast("Any", engine.query("why?")).response_gen
    for piece in pieces:
        if not text:
            gc.collect()
        text += piece
    assert text.startswith("bad news")
    assert handler.errors == {}
    assert blames_b_and_d(handler.explanations[handler.runs[-1]])


def test_runs_that_are_no_longer_remembered_are_explained_all_the_same() -> None:
    engine = engine_of(retriever_of("bd"))
    handler = RuleExplanationHandler(RuleExplainer(engine, predicate=BAD), auto=True, keep=1)
    get_dispatcher().add_span_handler(handler)

    async def several() -> list[Any]:
        return list(await asyncio.gather(*(engine.aquery(f"why {n}?") for n in range(3))))

    try:
        responses = asyncio.run(several())
    finally:
        get_dispatcher().span_handlers.remove(handler)
    assert handler.errors == {}
    assert all(blames_b_and_d(rules_of(each)) for each in responses)
