"""The package says what it said when the golden files were written.

A change of words fails the comparisons of JSON and of what is printed alone; one of rules, claims, counts
or tables fails the others. If it is meant:
``python -m tests.golden.write``, and look at the difference.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from rag_rule_explainer import Comparison, Explanation, JudgeCheck, Summary
from tests.golden import normal
from tests.golden.folders import empty_folder
from tests.golden.goldens import FILES
from tests.golden.kept import FILLED, restored
from tests.golden.rooms import ROOMS, SLOW, explanations, filled, made, written
from tests.golden.short import short

MODELS: Mapping[str, type[BaseModel]] = {
    "explanation.json": Explanation,
    "rag_rules.json": Explanation,
    "comparison.json": Comparison,
    "check.json": JudgeCheck,
    "summary.json": Summary,
}
MOST = 1_600_000
"""Bytes of all golden files."""


def marked(files: Iterable[Path]) -> list[Any]:
    """Rooms and names of golden files, without importing what makes them."""
    found = sorted({(file.relative_to(FILES).parts[0], file.stem) for file in files})
    return [
        pytest.param(room, name, id=f"{room}-{name}", marks=[pytest.mark.slow] if room in SLOW else [])
        for room, name in found
    ]


each_explanation = pytest.mark.parametrize(("room", "name"), marked(FILES.glob("*/*.txt")))
each_folder = pytest.mark.parametrize(
    ("room", "name"), marked(path for path in FILES.glob("*/*") if path.is_dir())
)
each_model = pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id="-".join(file.relative_to(FILES).parts))
        for file in sorted(FILES.glob("*/*/*.json"))
        if file.name in MODELS
    ],
)


def golden(room: str, name: str) -> str:
    return (FILES / room / name).read_text(encoding="utf-8")


def parsed(content: str) -> Any:
    """JSON, whose fractions are those of any machine."""
    return json.loads(content, parse_float=lambda written: float(f"{float(written):.9g}"))


@pytest.mark.spread(fast=2)
@each_explanation
def test_rules_claims_and_counts(room: str, name: str) -> None:
    assert made(room, name)[f"{name}.txt"] == golden(room, f"{name}.txt")


@each_explanation
def test_all_that_an_explanation_says(room: str, name: str) -> None:
    assert parsed(made(room, name)[f"{name}.json"]) == parsed(golden(room, f"{name}.json"))


@each_explanation
def test_an_explanation_is_read_back(room: str, name: str) -> None:
    content = golden(room, f"{name}.json")
    found = Explanation.model_validate_json(content)
    assert json.loads(found.model_dump_json()) == json.loads(content)
    assert short(found) == golden(room, f"{name}.txt")


def is_worded(file: str) -> bool:
    return file.endswith((".json", ".out"))


def in_folder(room: str, name: str) -> Iterator[str]:
    for file in sorted((FILES / room / name).iterdir()):
        yield f"{name}/{file.name}"


@pytest.mark.spread(fast=3)
@each_folder
def test_tables_and_counts_of_everything_else(room: str, name: str) -> None:
    now = filled(room, name)
    assert sorted(now) == list(in_folder(room, name))
    for file in now:
        if not is_worded(file):
            assert now[file] == golden(room, file)


@each_folder
def test_all_that_everything_else_says(room: str, name: str) -> None:
    now = filled(room, name)
    for file in filter(is_worded, now):
        read = parsed if file.endswith(".json") else str
        assert read(now[file]) == read(golden(room, file))


@each_model
def test_everything_else_is_read_back(file: Path) -> None:
    content = file.read_text(encoding="utf-8")
    found = MODELS[file.name].model_validate_json(content)
    assert json.loads(found.model_dump_json()) == json.loads(content)


@pytest.mark.parametrize("name", FILLED)
def test_a_store_of_then_is_not_paid_for_again(name: str) -> None:
    told = json.loads(golden("kept", f"store-{name}/answers.json"))
    with empty_folder() as folder:
        fresh = FILLED[name]()
    with empty_folder() as folder:
        restored(told, folder / "answers.db")
        again = FILLED[name]()
    # What failed then is all that is asked again.
    assert again.counts.replays == sum(bool(probe.error) for probe in fresh.probes)
    assert again.counts.judge_requests == 0
    assert again.counts.stored > 0
    assert again.rules == fresh.rules


@pytest.mark.parametrize(
    "room", [pytest.param(room, marks=[pytest.mark.slow] if room in SLOW else []) for room in ROOMS]
)
def test_there_is_a_file_for_each_and_no_other(room: str) -> None:
    files = {f"{name}.{kind}" for name in explanations(room) for kind in ("json", "txt")}
    assert {path.name for path in (FILES / room).iterdir()} == files | set(written(room))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            r"(?:retention|omission) {.*}: (\w+); ",
            {"proved", "tested", "voted", "relative", "confident", "unverified"},
        ),
        (r"miner (\w+),", {"exact", "exhaustive", "sampled", "grouped", "partitioned", "confidence"}),
        (r"scope (\w+)", {"given", "seen", "retrieved"}),
        (r"complete (\w+),", {"True", "False"}),
    ],
)
def test_no_kind_is_missing(line: str, wanted: set[str]) -> None:
    told = "".join(file.read_text(encoding="utf-8") for file in FILES.glob("*/*.txt"))
    assert set(re.findall(f"^{line}", told, re.MULTILINE)) >= wanted


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in FILES.rglob("*") if path.is_file()) < MOST


@pytest.mark.parametrize("field", ["id", "probes", "versions", "made_at", "application"])
def test_a_field_that_is_renamed_is_seen(field: str) -> None:
    told = json.loads(golden("plain", "pair-of-three.json"))
    assert normal.explanation(told) == told
    with pytest.raises(KeyError):
        normal.explanation({key: value for key, value in told.items() if key != field})
