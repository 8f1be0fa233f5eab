"""Tracers that the application brings itself see no hidden replay; its other handlers stay its own."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.tracers.schemas import Run
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD
from tests.integrations.langchain.chains import bad_with, retriever_of, step


class Tracing(BaseTracer):
    """Stands for the tracer of any service."""

    def __init__(self) -> None:
        super().__init__()
        self.roots: list[Run] = []

    @override
    def _persist_run(self, run: Run) -> None:
        self.roots.append(run)


class Listening(BaseCallbackHandler):
    def __init__(self) -> None:
        self.questions: list[Any] = []

    @override
    def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
        self.questions.append(query)


def chain() -> Any:
    return retriever_of("ab") | bad_with("b")


def bound(handler: BaseCallbackHandler) -> Any:
    return chain().with_config(callbacks=[handler])


def passed(handler: BaseCallbackHandler) -> Any:
    return RunnableLambda(lambda given: chain().invoke(given, {"callbacks": [handler]}))


def explain(app: Any, *, traced: bool) -> Explanation:
    return RuleExplainer(app, predicate=BAD, trace_replays=traced).explain("?")


@pytest.mark.parametrize("bring", [bound, passed])
@pytest.mark.parametrize("traced", [True, False])
def test_a_tracer_that_the_application_brings_sees_only_replays_that_are_shown(
    bring: Any, traced: bool
) -> None:
    tracer = Tracing()
    explanation = explain(bring(tracer), traced=traced)
    # A tracer that is bound to the application is known beforehand, and gets one root with all runs.
    replays = 1 if bring is bound else explanation.counts.replays
    assert len(tracer.roots) == (replays if traced else 1)


@pytest.mark.parametrize("bring", [bound, passed])
def test_a_handler_that_is_no_tracer_stays_a_part_of_the_application(bring: Any) -> None:
    handler = Listening()
    explanation = explain(bring(handler), traced=False)
    assert len(handler.questions) == explanation.counts.replays


@pytest.mark.parametrize("bring", [bound, passed])
@pytest.mark.filterwarnings("ignore:The `copy` method:DeprecationWarning")
def test_runs_that_an_application_collects_for_itself_are_those_of_its_replay(bring: Any) -> None:
    """Were the collector silenced, the application would read the baseline's answer in every replay."""
    collector = RunCollectorCallbackHandler()
    collecting = bring(collector)

    def ask(given: str) -> str:
        collecting.invoke(given)
        return str(collector.traced_runs[-1].outputs)

    explanation = explain(step(ask), traced=False)
    assert {probe.kept: probe.error for probe in explanation.probes if probe.error} == {}
    assert [rule.sources for rule in explanation.retention_rules] == [("b",)]


# The oldest releases copy what they collect by a method that pydantic gives up.
@pytest.mark.filterwarnings("ignore:The `copy` method:DeprecationWarning")
def test_listeners_and_collected_runs_stay_parts_of_the_application() -> None:
    ended: list[Run] = []

    def ask(given: str) -> str:
        with collect_runs() as collected:
            answer = chain().with_listeners(on_end=ended.append).invoke(given)
        return answer if collected.traced_runs[0].outputs else "nothing was collected"

    explanation = explain(step(ask), traced=False)
    assert explanation.rules
    assert len(ended) == explanation.counts.replays
    assert {probe.kept: probe.error for probe in explanation.probes if probe.error} == {}
