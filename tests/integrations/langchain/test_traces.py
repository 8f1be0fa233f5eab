"""What a tracer is told about replays."""

import asyncio
import threading
import uuid
from collections.abc import Sequence
from typing import Any, cast

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.tracers import BaseTracer, Run
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from tests.integrations.known import BAD
from tests.integrations.langchain.chains import Counting, bad_with, named, retriever_of
from tests.representing import SELDOM


class Watching(BaseCallbackHandler):
    """Remembers what a tracer would be told."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.chains: list[dict[str, Any]] = []
        self.verdicts: list[str] = []
        self.found: list[tuple[dict[str, Any], list[str]]] = []
        self._retrievals: dict[uuid.UUID, dict[str, Any]] = {}

    @override
    def on_chain_start(self, *_: Any, **told: Any) -> None:
        with self.lock:
            self.chains.append(told)

    @override
    def on_chain_end(self, outputs: Any, **_: Any) -> None:
        if isinstance(outputs, dict):
            self.verdicts += [str(cast("Any", outputs).get("rag_rule_verdict", ""))]

    @override
    def on_retriever_start(self, *_: Any, run_id: uuid.UUID, **told: Any) -> None:
        with self.lock:
            self._retrievals[run_id] = told

    @override
    def on_retriever_end(self, documents: Sequence[Document], *, run_id: uuid.UUID, **_: Any) -> None:
        with self.lock:
            self.found.append((self._retrievals[run_id], [each.page_content for each in documents]))


def test_every_replay_is_a_run_with_its_own_name_tag_and_sources() -> None:
    watching = Watching()
    chain = retriever_of("abc") | bad_with("b")
    explainer = RuleExplainer(chain, predicate=BAD, miner="exhaustive", check_repeatable=False)
    explainer.explain("?", {"callbacks": [watching], "tags": ["mine"], "metadata": {"user": "me"}})
    replays = [told for told in watching.chains if told["name"] == "rag_rule_replay"]
    kept = {told["metadata"]["rag_rule_kept"] for told in replays}
    assert kept == {"", "a", "b", "c", "a,b", "a,c", "b,c"}
    assert len(replays) == 7
    for told in replays:
        assert set(told["tags"]) >= {"mine", "rag-rule-replay"}
        assert told["metadata"]["user"] == "me"


def test_the_trace_of_a_replay_shows_the_retriever_and_the_subset_it_was_served() -> None:
    watching = Watching()
    retriever = Counting(documents=named("abc"), tags=["index"], metadata={"store": "s"})
    explainer = RuleExplainer(retriever | bad_with("b"), predicate=BAD, miner="exhaustive")
    explainer.invoke("?", {"callbacks": [watching]})
    (_, first), *replayed = watching.found
    assert first == ["a", "b", "c"]
    assert len(replayed) == 8
    for told, documents in replayed:
        assert told["metadata"]["rag_rule_kept"] == ",".join(documents)
        assert told["metadata"]["store"] == "s"
        assert told["name"] == "Counting"
        assert {"rag-rule-replay", "index"} <= set(told["tags"])


def test_invoke_is_one_run_that_the_replays_belong_to() -> None:
    watching = Watching()
    explainer = RuleExplainer(retriever_of("ab") | bad_with("b"), predicate=BAD)
    mine = uuid.uuid4()
    explainer.invoke("?", {"callbacks": [watching], "run_id": mine, "run_name": "my explanation"})
    first, *rest = watching.chains
    assert (first["run_id"], first["name"]) == (mine, "my explanation")
    replays = [told for told in rest if told["name"] == "rag_rule_replay"]
    assert replays
    assert {told["parent_run_id"] for told in replays} == {mine}


def test_the_id_of_a_run_is_not_used_for_all_its_replays() -> None:
    watching = Watching()
    explainer = RuleExplainer(retriever_of("ab") | bad_with("b"), predicate=BAD)
    mine = uuid.uuid4()
    explainer.explain("?", {"callbacks": [watching], "run_id": mine})
    runs = [told["run_id"] for told in watching.chains]
    assert len(set(runs)) == len(runs)
    assert runs[0] == mine


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("call", ["explain", "aexplain", "invoke", "ainvoke", "stream", "astream"])
@pytest.mark.parametrize("is_passed_too", [False, True])
def test_a_tracer_that_is_bound_to_the_application_gets_one_root(call: str, is_passed_too: bool) -> None:
    tracer = Roots()
    chain = retriever_of("ab") | bad_with("b")
    explainer = RuleExplainer(chain.with_config(callbacks=[tracer]), predicate=BAD)
    config: Any = {"callbacks": [tracer]} if is_passed_too else None

    async def asked() -> None:
        if call == "astream":
            _ = [each async for each in explainer.astream("?", config)]
        else:
            await getattr(explainer, call)("?", config)

    if call.startswith("a"):
        asyncio.run(asked())
    elif call == "stream":
        _ = list(explainer.stream("?", config))
    else:
        getattr(explainer, call)("?", config)
    assert [root.name for root in tracer.roots] == ["rag_rule_explanation"]
    names = [each.name for each in tracer.roots[0].child_runs]
    assert names.count("rag_rule_replay") == len(set(map(id, tracer.roots[0].child_runs))) - 1 > 2


class Roots(BaseTracer):
    """Keeps the runs that have no parent."""

    def __init__(self) -> None:
        super().__init__()
        self.roots: list[Run] = []

    @override
    def _persist_run(self, run: Run) -> None:
        self.roots.append(run)


class Failing(BaseCallbackHandler):
    """Raises what LangChain does not swallow, at the end of each replay."""

    raise_error = True

    @override
    def on_chain_end(self, outputs: Any, **_: Any) -> None:
        if isinstance(outputs, dict) and "rag_rule_verdict" in outputs:
            raise RuntimeError("the handler is broken")


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_handler_that_fails_takes_the_verdict_from_no_other(awaiting: bool) -> None:
    watching = Watching()
    explainer = RuleExplainer(retriever_of("ab") | bad_with("b"), predicate=BAD)
    config: Any = {"callbacks": [Failing(), watching]}
    found = asyncio.run(explainer.aexplain("?", config)) if awaiting else explainer.explain("?", config)
    told = [each for each in watching.verdicts if each]
    assert len(told) == found.counts.replays - found.counts.baseline
    assert set(told) == {"holds", "breaks"}
