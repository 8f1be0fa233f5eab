"""What LangSmith is sent of an explanation; a server on this machine stands in for it."""

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.langchain import LangChainTracer, wait_for_all_tracers
from langchain_rag_rule_explainer import RuleExplainer, RuleExplanationHandler
from langgraph.graph import START, StateGraph
from langsmith import Client, traceable
from typing_extensions import NotRequired, TypedDict

from rag_rule_explainer import Explanation
from rag_rule_explainer.probing.tracing import endpoints
from rag_rule_explainer.probing.tracing.langsmith import why_dead
from rag_rule_explainer.rules import RuleKind
from tests.integrations.known import BAD
from tests.integrations.langchain.chains import bad_with, retriever_of
from tests.integrations.langsmith_server import LangSmith, closed_port, langsmith
from tests.representing import SELDOM

# The oldest releases of LangChain's tracer do so with a root run.
pytestmark = pytest.mark.filterwarnings("ignore:The `(dict|construct)` method is deprecated")


def chain() -> Any:
    return retriever_of("ab") | bad_with("b")


def verdicts(explanation: Explanation) -> dict[str, str]:
    return {
        ",".join(probe.kept): probe.verdicts[RuleKind.RETENTION].verdict.value
        for probe in explanation.probes
        if RuleKind.RETENTION in probe.verdicts
    }


def check_marked(server: LangSmith, explanation: Explanation, explained_run: str) -> None:
    """Every run of every replay says whose it is, and the replay's own run what was found."""
    assert server.replays
    for run in server.replays:
        told = run["extra"]["metadata"]
        assert told["rag_rule_explanation"] == explanation.id
        assert told["rag_rule_explained_run"] == explained_run
    known = verdicts(explanation)
    own = server.named("rag_rule_replay")
    assert len(own) == explanation.counts.replays - explanation.counts.baseline
    for run in own:
        told = run["extra"]["metadata"]
        assert told["rag_rule_verdict"] == run["outputs"]["rag_rule_verdict"]
        assert told["rag_rule_verdict"] == known.get(told["rag_rule_kept"], told["rag_rule_verdict"])
        assert told["rag_rule_condition"] == "the answer contains 'bad'"
        assert run["end_time"]
    assert {run["extra"]["metadata"]["rag_rule_verdict"] for run in own} == {"holds", "breaks"}


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_question_is_one_run_and_its_replays_have_their_verdicts(awaiting: bool) -> None:
    with langsmith() as (server, client):
        explainer = RuleExplainer(chain(), predicate=BAD)
        config: Any = {"callbacks": [LangChainTracer(client=client)]}
        explanation = (
            asyncio.run(explainer.aexplain("?", config)) if awaiting else explainer.explain("?", config)
        )
        client.flush()
        assert server.roots == ["rag_rule_explanation"]
        (root,) = server.named("rag_rule_explanation")
        (first,) = [
            run
            for run in server.runs.values()
            if run.get("parent_run_id") == root["id"] and run["name"] != "rag_rule_replay"
        ]
        check_marked(server, explanation, first["id"])
        assert root["extra"]["metadata"]["rag_rule_explanation"] == explanation.id
        assert root["extra"]["metadata"]["rag_rule_explained_run"] == first["id"]
        assert root["outputs"]["rules"] == [str(rule) for rule in explanation.rules]


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_run_that_is_explained_by_itself_stays_as_it_was_and_is_named(awaiting: bool) -> None:
    with langsmith() as (server, client):
        handler, app = RuleExplanationHandler(explainer := RuleExplainer(chain(), predicate=BAD)), chain()
        assert handler.explainer is explainer
        handler = RuleExplanationHandler(RuleExplainer(app, predicate=BAD), auto=True)
        config: Any = {"callbacks": [handler]}

        async def ask() -> None:
            await app.ainvoke("?", config)
            await handler.finished()

        with _traced_by(client):
            asyncio.run(ask()) if awaiting else app.invoke("?", config)
        client.flush()
        ((run_id, explanation),) = handler.explanations.items()
        assert sorted(server.roots) == ["RunnableSequence", "rag_rule_explanation"]
        assert "rag_rule_explanation" not in server.runs[str(run_id)]["extra"]["metadata"]
        check_marked(server, explanation, str(run_id))


def _traced_by(client: Client) -> Any:
    from langsmith import tracing_context

    return tracing_context(enabled=True, client=client)


@traceable(name="own")
def noting(found: Any) -> Any:
    return found


@pytest.mark.parametrize("traced", [True, False])
def test_what_the_application_traces_itself_is_marked_as_well(traced: bool) -> None:
    app: Any = retriever_of("ab") | noting | bad_with("b")
    with langsmith() as (server, client):
        with _traced_by(client):
            explanation = RuleExplainer(app, predicate=BAD, trace_replays=traced).explain("?")
        client.flush()
        first, *replayed = server.named("own")
        assert "rag-rule-replay" not in first["tags"]
        told = [run["extra"]["metadata"]["rag_rule_explanation"] for run in replayed]
        replays = explanation.counts.replays - explanation.counts.baseline
        assert told == [explanation.id] * (replays if traced else 0)
        assert all("rag-rule-replay" in run["tags"] for run in replayed)


def test_replays_can_be_kept_from_it() -> None:
    with langsmith() as (server, client):
        explainer = RuleExplainer(chain(), predicate=BAD, trace_replays=False)
        explainer.invoke("?", {"callbacks": [LangChainTracer(client=client)]})
        client.flush()
        assert server.roots == ["rag_rule_explanation"]
        assert server.replays == []


def test_nothing_is_sent_where_nobody_would_receive_it(caplog: pytest.LogCaptureFixture) -> None:
    client = Client(api_url=f"http://127.0.0.1:{closed_port()}", api_key="none", auto_batch_tracing=False)
    config: Any = {"callbacks": [LangChainTracer(client=client)]}
    explanation = RuleExplainer(chain(), predicate=BAD).explain("?", config)
    assert explanation.rules
    assert explanation.notes[-1] == why_dead(client)
    assert str(client.api_url) in why_dead(client)
    # A client that has something to send tells of each failure.
    assert [each for each in caplog.records if "POST" in each.getMessage()] == []
    client.close()


def streamed(app: Any, config: Any, *, awaiting: bool) -> Explanation:
    async def last() -> Any:
        return [each async for each in RuleExplainer(app, predicate=BAD).astream("?", config)][-1]

    if awaiting:
        return asyncio.run(last()).explanation
    found: Any = list(RuleExplainer(app, predicate=BAD).stream("?", config))[-1]
    return found.explanation


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_stream_asks_the_endpoint_of_its_own_tracer_alone(awaiting: bool) -> None:
    with langsmith() as (server, client):
        config: Any = {"callbacks": [LangChainTracer(client=client)]}
        explanation = streamed(chain(), config, awaiting=awaiting)
        client.flush()
        assert server.roots == ["rag_rule_explanation"]
        assert len(server.named("rag_rule_replay")) == explanation.counts.replays - 1
        assert dead_in(explanation) == []


def dead_in(explanation: Explanation) -> list[str]:
    return [note.split()[0] for note in explanation.notes if "gave no answer" in note]


def inside(client: Client, app: Any) -> Any:
    def ask(question: str) -> Any:
        with _traced_by(client):
            return app.invoke(question)

    return RunnableLambda(ask)


@pytest.mark.parametrize("awaiting", SELDOM)
def test_what_the_application_turns_on_inside_its_own_code_is_one_trace_as_well(awaiting: bool) -> None:
    with langsmith() as (server, client):
        app = inside(client, retriever_of("ab") | noting | bad_with("b"))
        explainer = RuleExplainer(app, predicate=BAD)
        explanation = asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?")
        client.flush()
        assert server.roots == ["rag_rule_explanation"]
        (root,) = server.named("rag_rule_explanation")
        assert {run["trace_id"] for run in server.runs.values()} == {root["id"]}
        for run in server.runs.values():
            above = server.runs.get(str(run.get("parent_run_id")))
            assert run["end_time"]
            assert above is None or run["dotted_order"].startswith(f"{above['dotted_order']}.")
        explained_run = root["extra"]["metadata"]["rag_rule_explained_run"]
        check_marked(server, explanation, explained_run)
        told = [run["extra"]["metadata"]["rag_rule_explanation"] for run in server.named("own")]
        assert told == explanation.counts.replays * [explanation.id]


@pytest.mark.parametrize("holder", ["stream", "bound", "passed", "inside"])
def test_replays_are_not_sent_where_nobody_answers_whoever_holds_the_tracer(
    holder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "ANSWERS_WITHIN", 0.05)
    with langsmith(answers=False) as (server, client):
        tracer = LangChainTracer(client=client)
        if holder == "stream":
            explanation = streamed(chain(), {"callbacks": [tracer]}, awaiting=False)
        else:
            apps: dict[str, Any] = {
                "bound": chain().with_config(callbacks=[tracer]),
                "passed": RunnableLambda(lambda given: chain().invoke(given, {"callbacks": [tracer]})),
                "inside": inside(client, chain()),
            }
            app = apps[holder]
            explanation = RuleExplainer(app, predicate=BAD).explain("?")
        assert explanation.rules
        # The runs of the first run are sent, as without an explanation, unless the tracer is found (bound
        # to the application, as in a config) before anything runs.
        assert bool(server.runs) is (holder != "bound")
        assert server.replays == []
        assert dead_in(explanation) == [f"{server.url}/info"]


class Said(TypedDict):
    question: str
    answer: NotRequired[str]


@pytest.mark.waits
@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_graph_is_told_of_once(awaiting: bool, caplog: pytest.LogCaptureFixture) -> None:
    def answer(given: Said) -> dict[str, str]:
        return {"answer": chain().invoke(given["question"])}

    async def aanswer(given: Said) -> dict[str, str]:
        return {"answer": await chain().ainvoke(given["question"])}

    graph = StateGraph(Said)
    graph.add_node("answer", RunnableLambda(answer, aanswer))
    graph.add_edge(START, "answer")
    with langsmith() as (server, client), _traced_by(client):
        explainer, given = RuleExplainer(graph.compile(), predicate=BAD), Said(question="?")
        if awaiting:
            asyncio.run(explainer.aexplain(given))
        else:
            explainer.explain(given)
        wait_for_all_tracers()
        client.flush()
        assert len(server.named("LangGraph")) > 4
    # A tracer that hears of a run a second time does not know its end any more.
    assert "No indexed run" not in caplog.text
