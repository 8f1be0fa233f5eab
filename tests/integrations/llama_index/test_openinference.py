"""What OpenInference exports of an explanation of a LlamaIndex application."""

import asyncio
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index_rag_rule_explainer import RuleExplainer, RuleExplanationHandler, explained
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

from rag_rule_explainer.instrumentation.rewinding.companies import is_of_own
from tests.integrations.exported import Exported, check_marked, metadata
from tests.integrations.known import BAD
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.representing import SELDOM

if tuple(map(int, version("llama-index-core").split(".")[:3])) < (0, 14, 19):
    pytest.skip(
        "what OpenInference imports of LlamaIndex is in releases from 0.14.19 on", allow_module_level=True
    )


@pytest.fixture
def exported() -> Iterator[Exported]:
    exported, instrumentor = Exported(), LlamaIndexInstrumentor()
    instrumentor.instrument(tracer_provider=exported.provider, skip_dep_check=True)
    yield exported
    instrumentor.uninstrument()


def explainer_of(**parameters: bool) -> RuleExplainer:
    # Options of all kinds.
    return RuleExplainer(engine_of(retriever_of("bd")), predicate=BAD, **parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_question_is_one_trace_and_every_span_of_a_replay_is_marked(
    exported: Exported, awaiting: bool
) -> None:
    explainer = explainer_of()
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    assert exported.roots == ["rag_rule_explanation"]
    (root,) = exported.named("rag_rule_explanation")
    assert metadata(root)["rag_rule_explanation"] == explanation.id
    check_marked(exported, explanation)


def test_the_rules_that_a_response_carries_belong_to_its_own_trace(exported: Exported) -> None:
    response = explained(explainer_of()).query("why?")
    assert exported.roots == ["ExplainedQueryEngine.query"]
    told = {metadata(each)["rag_rule_explanation"] for each in exported.inside_replays()}
    assert told == {response.metadata["rag_rules"]["id"]}


@pytest.mark.parametrize("awaiting", SELDOM)
def test_the_rules_of_a_stream_belong_to_the_trace_of_its_beginning(
    exported: Exported, awaiting: bool
) -> None:
    retriever = retriever_of("bd")
    chat = explained(ContextChatEngine.from_defaults(retriever=retriever, llm=Telling()), predicate=BAD)

    async def ask() -> None:
        response = await chat.astream_chat("why?")
        assert [each async for each in response.async_response_gen()]

    if awaiting:
        asyncio.run(ask())
    else:
        assert list(chat.stream_chat("why?").response_gen)
    (root,) = exported.named(f"ExplainedChatEngine.{'astream_chat' if awaiting else 'stream_chat'}")
    (explanation,) = exported.named("rag_rule_explanation")
    assert explanation.parent is not None
    assert explanation.parent == root.context
    assert exported.inside_replays()


@pytest.mark.parametrize("awaiting", SELDOM)
def test_one_that_is_made_by_itself_is_one_more_trace_and_names_the_run(
    exported: Exported, awaiting: bool
) -> None:
    engine = engine_of(retriever_of("bd"))
    handler = RuleExplanationHandler(RuleExplainer(engine, predicate=BAD), auto=True)
    get_dispatcher().add_span_handler(handler)

    async def ask() -> None:
        await engine.aquery("why?")
        await handler.finished()

    try:
        asyncio.run(ask()) if awaiting else engine.query("why?")
    finally:
        get_dispatcher().span_handlers.remove(handler)
    ((run_id, explanation),) = handler.explanations.items()
    asked = "RetrieverQueryEngine.aquery" if awaiting else "RetrieverQueryEngine.query"
    assert exported.roots == [asked, "rag_rule_explanation"]
    check_marked(exported, explanation, run_id)


def test_replays_can_be_kept_from_it(exported: Exported) -> None:
    explanation = explainer_of(trace_replays=False).explain("why?")
    assert explanation.counts.replays > 2
    assert exported.roots == ["rag_rule_explanation"]
    assert exported.tagged == exported.inside_replays() == []
    assert len(exported.named("RetrieverQueryEngine.query")) == 1


def test_what_the_tracer_keeps_is_no_state_of_the_application(exported: Exported) -> None:
    assert exported.provider is not None
    (kept,) = [
        each
        for each in get_dispatcher().event_handlers
        if type(each).__module__.startswith("openinference.")
    ]
    assert not is_of_own(kept)
