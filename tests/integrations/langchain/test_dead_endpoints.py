"""Where nobody takes traces, an explanation adds nothing that a process waits for at its end.

How many seconds that is, beside the bare application, is measured in tests/benchmarks.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.tracers.langchain import wait_for_all_tracers
from langchain_rag_rule_explainer import RuleExplainer, RuleExplanationHandler, explained
from langsmith import Client, tracing_context
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_rule_explainer.probing.tracing import endpoints
from tests.integrations.exported import Exported
from tests.integrations.known import BAD
from tests.integrations.langchain.chains import bad_with, retriever_of
from tests.integrations.langchain.ending import DEAF, TRACERS, deaf, ended
from tests.integrations.langsmith_server import langsmith


def chain() -> Any:
    return retriever_of("ab") | bad_with("b")


def _auto() -> None:
    app = chain()
    handler = RuleExplanationHandler(RuleExplainer(app, predicate=BAD), auto=True)
    app.invoke("?", {"callbacks": [handler]})
    ((_, explanation),) = handler.explanations.items()
    assert explanation.rules


def _verify() -> None:
    assert RuleExplainer(chain(), predicate=BAD).verify(["b"], "retention", "?").explanation.probes


def _stream() -> None:
    *_, last = RuleExplainer(chain(), predicate=BAD).stream("?")
    assert last.explanation.rules


WAYS: dict[str, Callable[[], object]] = {
    "explain": lambda: RuleExplainer(chain(), predicate=BAD).explain("?"),
    "invoke": lambda: RuleExplainer(chain(), predicate=BAD).invoke("?"),
    "explained": lambda: explained(chain(), predicate=BAD).invoke("?"),
    "silent": lambda: RuleExplainer(chain(), predicate=BAD, trace_replays=False).explain("?"),
    "stream": _stream,
    "verify": _verify,
    "auto": _auto,
    "twice": lambda: [RuleExplainer(chain(), predicate=BAD).explain("?") for _ in range(2)],
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never answers need not be waited for."""
    monkeypatch.setattr(endpoints, "ANSWERS_WITHIN", 0.05)


@pytest.fixture(params=DEAF)
def unheard(request: pytest.FixtureRequest) -> Iterator[tuple[InMemorySpanExporter, list[Any]]]:
    """What is handed over for export to an endpoint where nobody is, as a batch would keep it; and the
    connections made to it."""
    exported, exporter, instrumentor = Exported(), InMemorySpanExporter(), LangChainInstrumentor()
    with deaf(request.param) as (url, connected):
        exporter._endpoint = f"{url}/v1/traces"  # pyright: ignore[reportAttributeAccessIssue] -- as exporters of OTLP keep it
        # Nothing public shows it.
        exported.provider._active_span_processor._span_processors = (SimpleSpanProcessor(exporter),)  # pyright: ignore[reportPrivateUsage]
        instrumentor.instrument(tracer_provider=exported.provider, skip_dep_check=True)
        yield exporter, connected
        instrumentor.uninstrument()


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("way", WAYS)
def test_no_span_of_an_explanation_waits_for_an_exporter(unheard: Any, way: str) -> None:
    exporter, connected = unheard
    chain().invoke("?")
    bare = sorted(each.name for each in exporter.get_finished_spans())
    exporter.clear()
    WAYS[way]()
    told = sorted(each.name for each in exporter.get_finished_spans())
    assert told == expected(way, bare)
    assert len(connected) <= 1  # it was asked whether it is there


@pytest.mark.spread(fast=2)
@pytest.mark.waits
@pytest.mark.parametrize("way", WAYS)
def test_no_run_of_an_explanation_waits_for_a_client(way: str) -> None:
    with langsmith(answers=False) as (server, client), tracing_context(enabled=True, client=client):
        chain().invoke("?")
        bare = sent(server, client)
        WAYS[way]()
        assert sent(server, client) == expected(way, bare)


@pytest.mark.waits
@pytest.mark.parametrize("awaiting", [False, True])
def test_nothing_is_sent_or_asked_where_langsmiths_tracing_is_local(awaiting: bool) -> None:
    """As in ``langsmith.evaluate(upload_results=False)``."""
    with langsmith() as (server, client), tracing_context(enabled="local", client=client):
        explainer = RuleExplainer(chain(), predicate=BAD)
        explanation = asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?")
        assert sent(server, client) == []
        assert f"{server.url}/info" not in endpoints._known  # pyright: ignore[reportPrivateUsage] -- what was asked
    assert [each for each in explanation.notes if "LangSmith's tracing is local here" in each]


def expected(way: str, bare: list[str]) -> list[str]:
    """The run of the user's own is traced as without an explanation. So is the first run of a stream,
    with the explanation around it, as its chunks do not wait until it is known who answers."""
    return {"auto": bare, "stream": sorted([*bare, "rag_rule_explanation"])}.get(way, [])


def sent(server: Any, client: Client) -> list[str]:
    wait_for_all_tracers()
    client.flush()
    names = sorted(run["name"] for run in server.runs.values())
    server.runs.clear()
    return names


@pytest.mark.slow
@pytest.mark.parametrize("kind", DEAF)
@pytest.mark.parametrize("tracer", TRACERS)
def test_a_process_does_not_wait_for_an_endpoint_that_gives_no_answer(tracer: str, kind: str) -> None:
    done = ended("explain", tracer, kind, most=120)
    assert done.by_itself
    # It was asked once whether it is there, and sent nothing, so that nothing is tried again.
    assert done.connections == (1 if kind == "mute" else 0)
    (said,) = done.said.splitlines()
    assert "where traces are sent, gave no answer" in said
