"""Limits, prices, a store and estimates on the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import QUESTION, RagRules, assert_refused


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


def test_a_store_saves_what_was_paid(rag_rules: RagRules, sources: Path, tmp_path: Path) -> None:
    def run(*more: str) -> str:
        place = ("--store", str(tmp_path / "answers.db"), "--namespace", "v1")
        told = rag_rules("explain", "--question", QUESTION, "--sources", sources, *place, *more)
        assert told.code == 0
        return told.err

    assert "0 answers came from the store; 9 replays were made" in run()
    assert "9 answers came from the store; 0 replays were made" in run("--predicate", "contains:1889")
    info = rag_rules("store", "info", tmp_path / "answers.db")
    assert "9 answers to 1 question" in info.out


def test_an_estimate_is_a_table(rag_rules: RagRules, sources: Path) -> None:
    told = rag_rules(
        *("estimate", "--question", QUESTION, "--sources", sources, "--rules", "retention"),
        *("--price", "m=1000000,0", "--seconds-per-replay", "3", "--answer-tokens", "7"),
    )
    assert told.code == 0
    head, *rows = told.out.splitlines()[1:5]
    assert head.split() == ["replays", "tokens", "in", "tokens", "out", "cost", "seconds"]
    assert [row.split()[:2] for row in rows] == [["best", "5"], ["typical", "5"], ["worst", "9"]]
    as_json = json.loads(
        rag_rules("estimate", "--question", QUESTION, "--sources", sources, "--json").out
    )
    assert as_json["worst"]["replays"] == 9


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--max-replays", "3"), "the limit of 3 replays is reached"),
        (("--max-seconds", "0.000001"), "seconds is reached"),
    ],
)
def test_a_limit_is_told(
    rag_rules: RagRules, sources: Path, options: tuple[str, ...], reason: str
) -> None:
    told = rag_rules("explain", "--question", QUESTION, "--sources", sources, *options)
    assert told.code == 0
    assert reason in told.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--namespace", "v1"), "--store is missing"),
        (("--store", "mysql://x", "--namespace", "v1"), "mysql"),
        (("--price", "m"), "--price 'm' is no price"),
        (("--price", "m=1,x"), "is no price"),
        (("--price", "m=1,-2"), "the price of output is -2.0"),
        (
            ("--max-cost", "1"),
            "--max-cost needs the price of tokens; give those of a million tokens",
        ),
        (("--max-seconds", "-1"), "--max-seconds is -1.0; give a number above 0, or leave it out"),
        (("--timeout", "0"), "--timeout is 0.0"),
        (("--speculate", "1.5"), "--speculate is 1.5"),
    ],
)
def test_bad_options(rag_rules: RagRules, sources: Path, options: tuple[str, ...], said: str) -> None:
    run = rag_rules("explain", "--question", QUESTION, "--sources", sources, *options)
    assert_refused(run, said)
