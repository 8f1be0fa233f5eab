"""Sampled searches on the command line."""

from pathlib import Path

import pytest

from tests.cli.runs import QUESTION, RagRules, assert_refused, explanation_of, jsonl, rules_of


@pytest.fixture
def many(tmp_path: Path) -> Path:
    filler = [{"id": f"f{n}", "text": f"Soup {n} is served at noon."} for n in range(28)]
    tower = {"id": "plaque", "text": "The iron tower was built in 1889."}
    return jsonl(tmp_path / "many.jsonl", *filler, tower)


def test_many_sources_are_sampled_unasked(rag_rules: RagRules, many: Path) -> None:
    run = rag_rules("explain", "--question", QUESTION, "--sources", many)
    assert run.code == 0, run.err
    assert "whenever plaque is retained, the answer stays the same" in run.out
    assert "tested: held on 59 random subsets of 2^28" in run.out
    assert "with 95 % confidence it fails on at most 5 % of such" in run.out
    assert "complete: no other rule passed the tests" in run.out
    assert "all but plaque" in run.out


def test_the_statement_is_the_users(rag_rules: RagRules, many: Path) -> None:
    stated = ("--max-violation", 0.1, "--confidence", 0.9, "--jointly")
    options = (*stated, "--sizes", "3,5", "--max-rules", 2, "--neighbours")
    asked = ("explain", "--question", QUESTION, "--sources", many, "--miner", "sampled", "--json")
    explanation = explanation_of(rag_rules(*asked, *options))
    assert "whenever plaque is retained, the answer stays the same" in rules_of(explanation)
    said = explanation.retention_rules[0].evidence
    for words in ("with 3 or 5 retained", "with 90 % confidence no rule here", "more than 10 %"):
        assert words in said
    assert explanation.settings["miner"] == {
        "max_violation": 0.1,
        "confidence": 0.9,
        "jointly": True,
        "sizes": [3, 5],
        "max_rules": 2,
        "neighbours": True,
        "if_many": False,
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-violation", 0.1), ("--max-violation", "--miner sampled")),
        (("--miner", "exact", "--jointly"), ("--jointly", "--miner sampled")),
        (("--miner", "sampled", "--max-violation", 5), ("--max-violation is 5", "between 0 and 1")),
        (("--miner", "sampled", "--sizes", "few"), ("--sizes is 'few'", "such as 5")),
        (("--miner", "sampled", "--min-confidence", 0.9), ("min_confidence", "leave one of them out")),
    ],
)
def test_what_does_not_fit_is_refused(
    rag_rules: RagRules, many: Path, options: tuple[object, ...], said: tuple[str, ...]
) -> None:
    run = rag_rules("explain", "--question", QUESTION, "--sources", many, *options)
    assert_refused(run, *said)


def test_an_estimate_of_a_sampled_search(rag_rules: RagRules, many: Path) -> None:
    run = rag_rules("estimate", "--question", QUESTION, "--sources", many)
    assert run.code == 0, run.err
    assert "each rule is tested on random subsets" in run.out
    assert "stops after 500 replays" in run.out


def test_groups_are_divided_on_request(rag_rules: RagRules, many: Path) -> None:
    run = rag_rules("explain", "--question", QUESTION, "--sources", many, "--miner", "grouped")
    assert run.code == 0, run.err
    assert "whenever plaque is retained, the answer stays the same" in run.out
    assert "relative to " in run.out
    assert "miner: grouped (asked for; 29 sources" in run.out
    assert "there may be rules that name others" in run.out


def test_what_is_said_of_draws_is_not_for_groups(rag_rules: RagRules, many: Path) -> None:
    asked = ("explain", "--question", QUESTION, "--sources", many, "--miner", "grouped")
    assert_refused(rag_rules(*asked, "--jointly"), "--jointly", "--miner sampled")


def test_groups_by_title(rag_rules: RagRules, tmp_path: Path) -> None:
    soups = [{"title": f"Menu {n // 4}", "text": f"Soup {n} is served at noon."} for n in range(16)]
    tower = {"id": "plaque", "title": "Tower", "text": "The iron tower was built in 1889."}
    sources = jsonl(tmp_path / "titled.jsonl", *soups, tower)
    asked = ("explain", "--question", QUESTION, "--sources", sources, "--granularity")
    run = rag_rules(*asked, "title")
    assert run.code == 0, run.err
    assert "whenever plaque is retained, the answer stays the same" in run.out
    assert "groups: 5 by title" in run.out
    assert_refused(rag_rules(*asked, "author"), "'author'", "'title'")


def test_batches_on_request(rag_rules: RagRules, many: Path) -> None:
    asked = ("--question", QUESTION, "--sources", many, "--partition")
    run = rag_rules("explain", *asked, 5)
    assert run.code == 0, run.err
    assert "whenever plaque is retained, the answer stays the same" in run.out
    assert "29 sources in 6 batches of at most 5, the others left out for retention rules" in run.out
    held_out = rag_rules("explain", *asked, 5, "--others", "omitted", "--rules", "omission")
    assert "whenever plaque and all sources of other batches are omitted" in held_out.out
    estimate = rag_rules("estimate", *asked, 5)
    assert "each batch is mined by itself" in estimate.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--others", "retained"), ("--others", "--partition")),
        (("--partition", 30), ("partition is by 30", "from 1 to 20")),
        (("--partition", "author"), ("partition names 'author'", "metadata")),
        (("--partition", 5, "--miner", "grouped"), ("partition mines each batch exactly",)),
    ],
)
def test_batches_that_cannot_be_are_refused(
    rag_rules: RagRules, many: Path, options: tuple[object, ...], said: tuple[str, ...]
) -> None:
    run = rag_rules("explain", "--question", QUESTION, "--sources", many, *options)
    assert_refused(run, *said)


def test_near_duplicates_are_tied_on_request(rag_rules: RagRules, tmp_path: Path) -> None:
    soups = [{"id": f"f{n}", "text": f"Soup {n} is served at noon."} for n in range(4)]
    built = "The iron tower was built in 1889."
    copies = [{"id": "plaque", "text": built}, {"id": "copy", "text": built.upper()}]
    sources = jsonl(tmp_path / "copied.jsonl", *soups, *copies)
    asked = ("--question", QUESTION, "--sources", sources)
    run = rag_rules("explain", *asked, "--merge-duplicates")
    assert run.code == 0, run.err
    assert "whenever plaque (with its near-duplicate copy) is omitted, the answer changes" in run.out
    assert "plaque and copy are tied as near-duplicates" in run.out
    alike = rag_rules("explain", *asked, "--merge-duplicates", "--similarity", 0.3, "--json")
    assert [len(tie.sources) for tie in explanation_of(alike).ties] == [4, 2]
    verified = ("verify", "--rule", "copy", "--kind", "omission", *asked)
    assert rag_rules(*verified).code == 1
    assert rag_rules(*verified, "--merge-duplicates").code == 0
    assert rag_rules("estimate", *asked, "--merge-duplicates").code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--similarity", 0.9), ("--similarity", "--merge-duplicates")),
        (("--merge-duplicates", "--similarity", 2), ("--similarity is 2.0", "up to 1.0")),
    ],
)
def test_a_similarity_that_cannot_be_is_refused(
    rag_rules: RagRules, many: Path, options: tuple[object, ...], said: tuple[str, ...]
) -> None:
    run = rag_rules("explain", "--question", QUESTION, "--sources", many, *options)
    assert_refused(run, *said)
