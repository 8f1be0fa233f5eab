"""What OpenInference exports of an explanation of a LangChain application."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer, RuleExplanationHandler
from openinference.instrumentation.langchain import LangChainInstrumentor

from rag_rule_explainer import Explanation
from tests.integrations.exported import Exported, attributes, check_marked, metadata
from tests.integrations.known import BAD
from tests.integrations.langchain.chains import bad_with, retriever_of
from tests.representing import SELDOM


@pytest.fixture
def exported() -> Iterator[Exported]:
    exported, instrumentor = Exported(), LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=exported.provider, skip_dep_check=True)
    yield exported
    instrumentor.uninstrument()


def chain() -> Any:
    return retriever_of("ab") | bad_with("b")


async def _last(explainer: Any) -> Explanation:
    return [each async for each in explainer.astream("?")][-1].explanation


WAYS = {
    "explain": lambda explainer: explainer.explain("?"),
    "aexplain": lambda explainer: asyncio.run(explainer.aexplain("?")),
    "invoke": lambda explainer: explainer.invoke("?").explanation,
    "stream": lambda explainer: list(explainer.stream("?"))[-1].explanation,
    "astream": lambda explainer: asyncio.run(_last(explainer)),
    "verify": lambda explainer: explainer.verify(["b"], "retention", "?").explanation,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_question_is_one_trace_and_every_span_of_a_replay_is_marked(
    exported: Exported, way: str
) -> None:
    explanation = WAYS[way](RuleExplainer(chain(), predicate=BAD, miner="exhaustive"))
    assert exported.roots == ["rag_rule_explanation"]
    (root,) = exported.named("rag_rule_explanation")
    assert metadata(root)["rag_rule_explanation"] == explanation.id
    ran = attributes(root)["rag_rule_explained_run"]
    replayed = {metadata(each)["rag_rule_explained_run"] for each in exported.inside_replays()}
    assert {ran} == replayed
    if way != "verify":  # which needs no subset that breaks it
        check_marked(exported, explanation)


@pytest.mark.parametrize("awaiting", SELDOM)
def test_one_that_is_made_by_itself_is_one_more_trace_and_names_the_run(
    exported: Exported, awaiting: bool
) -> None:
    app = chain()
    handler = RuleExplanationHandler(RuleExplainer(app, predicate=BAD), auto=True)

    async def ask() -> None:
        await app.ainvoke("?", {"callbacks": [handler]})
        await handler.finished()

    asyncio.run(ask()) if awaiting else app.invoke("?", {"callbacks": [handler]})
    ((run_id, explanation),) = handler.explanations.items()
    assert exported.roots == ["RunnableSequence", "rag_rule_explanation"]
    check_marked(exported, explanation, str(run_id))


def test_replays_can_be_kept_from_it(exported: Exported) -> None:
    explanation = RuleExplainer(chain(), predicate=BAD, trace_replays=False).explain("?")
    assert explanation.counts.replays > 2
    assert exported.roots == ["rag_rule_explanation"]
    assert exported.tagged == exported.inside_replays() == []
    baseline = RuleExplainer(chain(), predicate=BAD).application
    alone = len(exported.spans) - 1
    baseline.invoke("?")
    assert len(exported.spans) - 1 == 2 * alone  # nothing but the root, and what the chain makes


def test_a_replay_that_fails_says_so(exported: Exported) -> None:
    def answer(found: list[Any]) -> str:
        if len(found) == 1:
            raise ValueError("no")
        return "bad" if found else "good"

    RuleExplainer(retriever_of("ab") | answer, predicate=BAD, retries=0).explain("?")
    own = [metadata(each) for each in exported.named("rag_rule_replay")]
    failed = [each for each in own if each["rag_rule_kept"] in {"a", "b"}]
    assert failed
    assert {each["rag_rule_verdict"] for each in failed} == {"unknown"}
    assert {each["rag_rule_reason"] for each in failed} == {"ValueError: no"}
    assert {each["rag_rule_condition"] for each in failed} == {"the answer contains 'bad'"}


@pytest.mark.parametrize("traced", [True, False])
def test_spans_that_the_application_makes_itself_are_marked(exported: Exported, traced: bool) -> None:
    tracer = exported.provider.get_tracer("the application's")

    def noting(found: Any) -> Any:
        with tracer.start_as_current_span("own", attributes={"tag.tags": ["mine"]}):
            return found

    app: Any = retriever_of("ab") | noting | bad_with("b")
    explanation = RuleExplainer(app, predicate=BAD, trace_replays=traced).explain("?")
    first, *replayed = exported.named("own")
    ran_first = {key: attributes(first).get(f"rag_rule_{key}") for key in ("explanation", "kind")}
    assert ran_first == {"explanation": explanation.id, "kind": "baseline"}
    # Silenced also where the sampler takes all spans, whatever they belong to.
    replays = explanation.counts.replays - explanation.counts.baseline
    assert len(replayed) == (replays if traced else 0)
    told = [attributes(each) for each in replayed]
    assert [each["rag_rule_explanation"] for each in told] == len(told) * [explanation.id]
    assert len({each["rag_rule_number"] for each in told}) == len(told)
    assert [each["tag.tags"] for each in told] == len(told) * [("mine",)]


@pytest.mark.waits
def test_a_thread_of_a_replay_traces_as_the_replay_does(exported: Exported) -> None:
    tracer = exported.provider.get_tracer("the application's own")

    def noting(found: Any) -> Any:
        with tracer.start_as_current_span("own"):
            return found

    def elsewhere(found: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(noting, found).result()

    app: Any = retriever_of("ab") | RunnableLambda(elsewhere) | bad_with("b")
    explanation = RuleExplainer(app, predicate=BAD).explain("?")
    marked = [attributes(each).get("tag.tags") for each in exported.named("own")]
    replays = explanation.counts.replays - explanation.counts.baseline
    assert sum("rag-rule-replay" in str(tags) for tags in marked) == replays > 0
    assert ["rag-rule-baseline" in str(tags) for tags in marked] == [True] + replays * [False]
