"""``rag-rules recheck``."""

from pathlib import Path

import pytest

from rag_rule_explainer import Explanation
from tests.cli.runs import QUESTION, RagRules, assert_refused, jsonl

ASKED = ("recheck", "--question", QUESTION, "--predicate", "contains:1889")


def test_what_fills_the_gap_brings_it_back_and_leaves_too(rag_rules: RagRules, tmp_path: Path) -> None:
    built = "The iron tower was built in 1889"
    texts = {"one": f"{built}.", "two": "The iron tower was painted.", "three": f"{built}, says a guide."}
    sources = jsonl(tmp_path / "s.jsonl", *({"id": name, "text": text} for name, text in texts.items()))
    run = rag_rules(*ASKED, "--sources", sources, "--top-k", 1)
    assert run.code == 0, run.err
    first, second, *_ = run.out.splitlines()
    assert first.startswith("round 1: without one: back through three (promoted by the backfill)")
    assert second.startswith("round 2: without one and three: gone, on every subset")


def test_new_texts_and_more_documents_come_from_files(
    rag_rules: RagRules, sources: Path, tmp_path: Path
) -> None:
    new = jsonl(tmp_path / "new.jsonl", {"id": "plaque", "text": "The iron tower was built of iron."})
    more = jsonl(tmp_path / "more.jsonl", {"id": "book", "text": "The iron tower was built in 1066."})
    asked = (*ASKED, "--sources", sources, "--top-k", 3, "--replace", new, "--add", more, "--json")
    run = rag_rules(*asked)
    assert run.code == 0, run.err
    texts = {each.id: each.text for each in Explanation.model_validate_json(run.out).sources}
    assert texts["plaque"] == "The iron tower was built of iron."
    assert "book" in texts
    assert "with plaque rewritten, with 1 added: gone" in run.err


def test_as_many_are_shown_as_top_k_allows(rag_rules: RagRules, tmp_path: Path) -> None:
    """Only one of the documents matches the question before another one is added."""
    one = {"id": "one", "text": "The iron tower was built in 1889."}
    sources = jsonl(tmp_path / "s.jsonl", one, {"id": "zoo", "text": "Zebras graze."})
    more = jsonl(tmp_path / "more.jsonl", {"id": "book", "text": "The iron tower was built in 1066."})
    run = rag_rules(*ASKED, "--sources", sources, "--top-k", 5, "--add", more, "--rounds", 1, "--json")
    assert run.code in {0, 1}, run.err
    shown = {each.id for each in Explanation.model_validate_json(run.out).sources}
    assert shown == {"one", "book"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "give --top-k"),
        (("--top-k", 2, "--exclude", ""), "--exclude names no document"),
        (("--top-k", 2, "--exclude", "nobody"), "'nobody', which is no source"),
        (("--top-k", 2, "--replace", "nowhere.jsonl"), "there is no nowhere.jsonl"),
    ],
)
def test_bad_input_is_refused(
    rag_rules: RagRules, sources: Path, options: tuple[object, ...], said: str
) -> None:
    assert_refused(rag_rules(*ASKED, "--sources", sources, *options), said)
