"""What OpenTelemetry is told of a plain explainer, in processes that export spans."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Source
from tests.integrations.exported import Exported, attributes

pytestmark = pytest.mark.waits


def traced(way: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tests.traced", way], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def told() -> Any:
    return traced("explained")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("how", ["once", "voted"])
def test_an_explanation_is_one_span_with_one_for_each_replay(told: Any, how: str) -> None:
    spans = told[how]["spans"]
    assert len({each["trace"] for each in spans}) == 1
    (root,) = [each for each in spans if each["inside"] is None]
    assert root["name"] == "rag_rule_explanation"
    (first,) = [each for each in spans if each["name"] == "rag_rule_baseline"]
    replays = [each for each in spans if each["name"] == "rag_rule_replay"]
    assert len(replays) == told[how]["replays"] - 1
    for each in (root, first, *replays):
        assert each["rag_rule_explanation"] == told[how]["id"]
    for each in (root, *replays):
        assert each["rag_rule_explained_run"] == first["id"]
    assert {each["inside"] for each in (first, *replays)} == {"rag_rule_explanation"}
    models = [each for each in spans if each["name"] == "model"]
    assert len(models) == told[how]["replays"]
    assert {each["inside"] for each in models} == {"rag_rule_baseline", "rag_rule_replay"}


@pytest.mark.parametrize("how", ["once", "voted"])
def test_each_replay_says_what_was_retained_and_what_was_found(told: Any, how: str) -> None:
    replays = [each for each in told[how]["spans"] if each["name"] == "rag_rule_replay"]
    assert {(each["rag_rule_kept"], each["rag_rule_verdict"]) for each in replays} == {
        ("memo,mail", "holds"),
        ("memo", "breaks"),
        ("mail", "breaks"),
        ("", "unknown"),
    }
    assert {each["rag_rule_condition"] for each in replays} == {"the answer stays the same"}
    (reason,) = {each["rag_rule_reason"] for each in replays if not each["rag_rule_kept"]}
    assert reason == "ValueError: nothing to read"
    numbers = [each["rag_rule_number"] for each in replays]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("how", ["once", "voted"])
def test_spans_that_the_application_makes_itself_are_marked(told: Any, how: str) -> None:
    models = [each for each in told[how]["spans"] if each["name"] == "model"]
    assert {each["rag_rule_explanation"] for each in models} == {told[how]["id"]}
    assert sorted({each["rag_rule_kept"] for each in models}) == ["", "mail", "memo", "memo,mail"]
    assert {tag for each in models for tag in each["tag.tags"]} == {
        "rag-rule-baseline",
        "rag-rule-replay",
    }
    assert all(json.loads(each["metadata"])["rag_rule_kind"] for each in models)
    # A replay's own span has its verdict, once it was judged; what it did has not.
    assert not any("rag_rule_verdict" in each for each in models)


def test_what_happens_outside_of_replays_is_as_it_was(told: Any) -> None:
    (outside,) = told["outside"]["spans"]
    assert set(outside) == {"name", "inside", "trace", "id", "mine"}


def test_replays_can_be_kept_from_it_with_all_that_the_application_traces(told: Any) -> None:
    names = [each["name"] for each in told["silent"]["spans"]]
    assert sorted(names) == ["model", "rag_rule_baseline", "rag_rule_explanation"]


def test_what_replays_give_to_threads_is_marked_or_silenced_as_they_are() -> None:
    told = traced("threads")
    spans = [each for each in told["told"]["spans"] if each["name"] in {"pool", "open pool", "thread"}]
    replays = [each for each in told["told"]["spans"] if each["name"] == "rag_rule_replay"]
    assert len(spans) == 3 * (len(replays) + 1)
    assert {each["rag_rule_explanation"] for each in spans} == {told["told"]["id"]}
    assert {each["rag_rule_kind"] for each in spans} == {"baseline", "repeat check", "replay"}
    numbers = [each["rag_rule_number"] for each in spans]
    assert {numbers.count(each) for each in numbers} == {3}
    silent = [each["name"] for each in told["silent"]["spans"]]
    assert sorted(silent) == ["open pool", "pool", "rag_rule_baseline", "rag_rule_explanation", "thread"]
    # A pool that lives longer serves others unmarked, and Python is what it was.
    (after,) = told["afterwards"]
    assert set(after) == {"name", "inside", "trace", "id"}
    assert told["alike"]


def test_an_explanation_is_one_trace_of_a_provider_that_only_the_application_knows() -> None:
    exported = Exported()
    tracer = exported.provider.get_tracer("the application's")

    def replay(_: str, shown: Sequence[Source]) -> str:
        with tracer.start_as_current_span("model"):
            return "postponed" if len(shown) == 2 else "on Friday"

    found = Explainer(replay).explain("when?", [Source("memo", "..."), Source("mail", "...")])
    assert exported.roots == ["rag_rule_explanation"]
    (first,) = exported.named("rag_rule_baseline")
    replays = exported.named("rag_rule_replay")
    assert len(replays) == found.counts.replays - 1
    assert len(exported.named("model")) == found.counts.replays
    assert {attributes(each)["rag_rule_verdict"] for each in replays} == {"holds", "breaks"}
    assert first.context is not None
    runs = {
        attributes(each).get("rag_rule_explained_run") for each in (*replays, *exported.named("model"))
    }
    assert runs == {None, f"{first.context.span_id:016x}"}
    assert "rag_rule_kept" not in attributes(exported.named("rag_rule_explanation")[0])


def test_nothing_is_exported_where_nobody_would_receive_it() -> None:
    dead = traced("dead")
    assert dead["sent"] == []
    assert dead["notes"][-1].startswith(f"{dead['endpoint']} gave no answer within 2 seconds")


@pytest.mark.slow
def test_an_exporter_that_answers_receives_everything_beside_one_that_does_not() -> None:
    beside = traced("beside")
    assert beside["sent"] == []
    assert [each for each in beside["notes"] if each.startswith(beside["endpoint"])]
    names = [each["name"] for each in beside["spans"]]
    assert names.count("rag_rule_explanation") == 1
    assert names.count("rag_rule_replay") + names.count("rag_rule_baseline") == beside["replays"]


def test_an_explanation_has_an_id_that_its_json_keeps() -> None:
    explainer = Explainer(lambda _, shown: str(len(shown)))
    first, second = (explainer.explain("?", [Source("a", "..")]) for _ in range(2))
    assert first.id != second.id
    assert Explanation.model_validate_json(first.model_dump_json()).id == first.id
