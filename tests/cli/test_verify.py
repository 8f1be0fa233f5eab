"""``rag-rules verify``."""

import json
import sys
from pathlib import Path

import pytest

from rag_rule_explainer import Explanation
from tests.cli.runs import QUESTION, RagRules, assert_refused, folder

ASKED = ("verify", "--question", QUESTION, "--predicate", "contains:1889")


def test_a_rule_that_holds_exits_with_0(rag_rules: RagRules, sources: Path) -> None:
    run = rag_rules(*ASKED, "--sources", sources, "--rule", "plaque", "--kind", "retention")
    assert run.code == 0, run.err
    assert run.out.startswith(
        "held: whenever plaque is retained, the answer contains '1889' "
        "[proved on all 4 subsets; perhaps not minimal]\n"
    )
    assert "miner: verify (the rule speaks about 4 subsets, all of which are tried)" in run.out


def test_a_rule_that_breaks_exits_with_1_and_shows_where(rag_rules: RagRules, sources: Path) -> None:
    rule = ("--rule", "leaflet, menu", "--kind", "omission")
    run = rag_rules(*ASKED, "--sources", sources, *rule)
    assert run.code == 1
    assert run.out.startswith("broken: omitting leaflet and menu does not undo it")
    as_json = rag_rules(*ASKED, "--sources", sources, *rule, "--json")
    assert as_json.code == 1
    explanation = Explanation.model_validate_json(as_json.out)
    assert explanation.witnesses[0].kept == ("plaque",)
    assert json.loads(as_json.out)["settings"]["rules"] == "omission"


def test_one_that_is_stopped_exits_with_3(rag_rules: RagRules, sources: Path) -> None:
    limited = ("--max-replays", 3, "--miner", "exact")
    run = rag_rules(*ASKED, "--sources", sources, *limited, "--rule", "plaque", "--kind", "retention")
    assert run.code == 3
    assert run.out.startswith("undecided: ")
    assert "the limit of 3 replays" in run.out


def test_a_statement_may_be_asked_for(rag_rules: RagRules, tmp_path: Path) -> None:
    texts = {f"f{n}.txt": f"Soup {n} is served at noon." for n in range(20)}
    directory = folder(tmp_path / "d", {**texts, "plaque.txt": "The iron tower was built in 1889."})
    stated = ("--miner", "sampled", "--max-violation", 0.1, "--confidence", 0.9)
    rule = ("--rule", "plaque.txt", "--kind", "retention")
    run = rag_rules(*ASKED, "--sources", directory, *stated, *rule)
    assert run.code == 0, run.err + run.out
    assert "held on 22 random subsets of 1048576" in run.out


def test_an_application_is_asked_as_it_is(
    rag_rules: RagRules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = """
from langchain_core.documents import Document
from langchain_rag_rule_explainer import lexical_chain
TEXTS = {"plaque": "The iron tower was built in 1889.", "menu": "Soup is served at noon."}
chain = lexical_chain([Document(id=i, page_content=t) for i, t in TEXTS.items()], k=2)
"""
    folder(tmp_path, {"verified_app.py": application})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    named = ("--app", "verified_app:chain", "--rule", "plaque", "--kind", "omission")
    run = rag_rules(*ASKED, *named)
    assert run.code == 0, run.err
    assert run.out.startswith(
        "held: whenever plaque is omitted, the answer does not contain '1889' [proved"
    )


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            ("--rule", "tower", "--kind", "omission"),
            ("'tower', which is no source", "'plaque'"),
        ),
        (("--rule", " , ", "--kind", "omission"), ("names no source", "--rule D2,D4")),
        (("--kind", "omission"), ("--rule",)),
        (("--rule", "menu"), ("--kind",)),
        (("--rule", "menu", "--kind", "both"), ("'both' is not one of", "retention")),
        (("--rule", "menu", "--kind", "omission", "--pinned", "menu"), ("pinned",)),
    ],
)
def test_what_is_no_rule_is_refused(
    rag_rules: RagRules, sources: Path, rule: tuple[str, ...], said: tuple[str, ...]
) -> None:
    assert_refused(rag_rules(*ASKED, "--sources", sources, *rule), *said)
