"""What is exported of an explanation of a function whose model is traced by OpenInference."""

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = [pytest.mark.waits, pytest.mark.slow]


@pytest.fixture(scope="module", params=["global", "own"])
def told(request: pytest.FixtureRequest) -> Any:
    program = [sys.executable, "-m", "tests.integrations.plain.traced", request.param]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_question_is_one_trace_and_every_span_of_a_replay_is_marked(told: Any, way: str) -> None:
    spans = told[way]["spans"]
    assert [each["name"] for each in spans if each["inside"] is None] == ["rag_rule_explanation"]
    assert {each["rag_rule_explanation"] for each in spans} == {told[way]["id"]}
    requests = [each for each in spans if each["name"] == "ChatCompletion"]
    assert [each["inside"] for each in requests].count("rag_rule_replay") == told[way]["replays"] - 1
    tags = [tag for each in requests for tag in each["tag.tags"]]
    assert sorted(tags) == ["rag-rule-baseline"] + (told[way]["replays"] - 1) * ["rag-rule-replay"]
    replays = [each for each in spans if each["name"] == "rag_rule_replay"]
    assert len(replays) == told[way]["replays"] - 1
    assert {each["rag_rule_verdict"] for each in replays} == {"holds", "breaks"}
    (first,) = [each for each in spans if each["name"] == "rag_rule_baseline"]
    assert {each["rag_rule_explained_run"] for each in replays} == {first["id"]}


@pytest.mark.parametrize("way", ["sync", "async"])
def test_replays_can_be_kept_from_it(told: Any, way: str) -> None:
    silent = told[f"{way}, silent"]
    assert silent["replays"] > 2
    names = [each["name"] for each in silent["spans"]]
    assert names == ["ChatCompletion", "rag_rule_baseline", "rag_rule_explanation"]
