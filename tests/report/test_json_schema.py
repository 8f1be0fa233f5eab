"""The published JSON Schema: it is that of the model, and every saved explanation keeps to it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pydantic
import pytest

from rag_rule_explainer import Explanation, Noise, Sampled
from rag_rule_explainer.report.json_schema import explanation_schema
from tests.comparison.explaining import explained, needs
from tests.report.hostile import hostile_explanations, hostile_texts

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "explanation.json"
SAVED = sorted((Path(__file__).parent / "version_1").glob("*.json"))


@cache
def validator() -> Any:
    import jsonschema  # here, since it takes a second, which every worker would spend

    schema = json.loads(PUBLISHED.read_text(encoding="ascii"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check(explanation: Explanation) -> None:
    saved = json.loads(explanation.to_json())
    assert [error.message for error in validator().iter_errors(saved)] == []


@pytest.mark.skipif(
    tuple(map(int, pydantic.VERSION.split(".")[:2])) < (2, 12), reason="an older pydantic says less"
)
def test_the_published_schema_is_that_of_today() -> None:
    said = "rag-rules schema --out docs/schema/explanation.json writes it anew"
    assert json.loads(PUBLISHED.read_text(encoding="ascii")) == json.loads(explanation_schema()), said


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"miner": "grouped"},
        {"miner": Sampled(max_violation=0.2)},
        {"noise": Noise(samples=3)},
        {"noise": Noise(min_confidence=0.5)},
        {"pinned": ["D1"], "merge_duplicates": True},
        {"limits": 3},
    ],
)
def test_what_is_saved_keeps_to_it(options: dict[str, Any]) -> None:
    check(explained(needs("D1", "D2"), **options))
    check(explained(lambda shown: ValueError("away") if len(shown) == 2 else True, **options))


def test_hostile_texts_keep_to_it() -> None:
    for explanation in hostile_explanations(hostile_texts(40)):
        check(explanation)


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_what_earlier_versions_saved_keeps_to_it(path: Path) -> None:
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert [error.message for error in validator().iter_errors(saved)] == []


@pytest.mark.parametrize("change", [{"seed": "1"}, {"unknown": 1}, {"schema_version": 99}, {"probes": 1}])
def test_what_is_no_explanation_does_not(change: dict[str, Any]) -> None:
    saved = {**json.loads(explained(needs("D1")).to_json()), **change}
    assert not validator().is_valid(saved)
