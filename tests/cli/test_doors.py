"""How people come in: by module, by a pipe, by the names that they know."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runs import BUILT, QUESTION, RagRules, explanation_of, jsonl
from tests.support.openai_server import OpenAIServer


def asked(file: object, *more: object) -> tuple[object, ...]:
    return ("explain", "--question", QUESTION, "--sources", file, "--predicate", "contains:1889", *more)


@pytest.mark.waits
@pytest.mark.slow
def test_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rag_rule_explainer", "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip()


def test_a_short_way_to_the_help_and_completion(rag_rules: RagRules) -> None:
    told = rag_rules("-h")
    assert (told.code, told.out) == (0, rag_rules("--help").out)
    assert "--install-completion" in told.out
    assert rag_rules("explain", "-h").code == 0


def test_sources_from_a_pipe_and_as_langchain_writes_them(
    rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [{"page_content": each["text"], "id": each["id"], "metadata": {"page": 1}} for each in BUILT]
    piped = io.TextIOWrapper(io.BytesIO("\n".join(map(json.dumps, lines)).encode()))
    monkeypatch.setattr(sys, "stdin", piped)
    explanation = explanation_of(rag_rules(*asked("-", "--json")))
    assert [source.id for source in explanation.sources] == ["plaque", "leaflet", "menu"]
    assert explanation.sources[0].metadata == {"page": 1}
    assert [rule.sources for rule in explanation.retention_rules] == [("plaque",)]


def test_what_is_piped_may_be_wrong(rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    told = rag_rules(*asked("-"))
    assert told.code == 2
    assert "standard input is not UTF-8 text" in told.err


def test_a_false_condition_ends_it_without_a_terminal(rag_rules: RagRules, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "s.jsonl", *BUILT)
    given = ("explain", "--question", QUESTION, "--sources", file, "--predicate", "contains:1950")
    told = rag_rules(*given)
    assert (told.code, told.out) == (2, "")
    assert "with all sources the condition is not met: the answer does not contain '1950'" in told.err
    assert "--yes" in told.err
    agreed = rag_rules(*given, "--yes")
    assert agreed.code == 0
    assert "WARNING: with all sources the condition is not met" in agreed.out


def test_a_store_by_its_place_alone(rag_rules: RagRules, tmp_path: Path) -> None:
    file, store = jsonl(tmp_path / "s.jsonl", *BUILT), tmp_path / "answers.db"
    first = rag_rules(*asked(file, "--store", store))
    assert "answers are stored under the namespace 'offline reader'" in first.err
    assert "; 0 replays were made" in rag_rules(*asked(file, "--store", store)).err


@pytest.mark.waits
def test_a_key_by_another_name(
    rag_rules: RagRules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = jsonl(tmp_path / "s.jsonl", *BUILT[:1])
    with OpenAIServer(lambda _: "1889") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        given = asked(file, "--model", "m", "--key", "MY_KEY", "--rules", "omission")
        refused = rag_rules(*given).err
        assert "the variable that is named for the key is not set" in refused
        assert "MY_KEY" not in refused  # it may be the key itself
        monkeypatch.setenv("MY_KEY", "any")
        assert rag_rules(*given).code == 0
        assert server.requests
    told = rag_rules(*asked(file, "--key", "MY_KEY"))
    assert "--key goes with --model only" in told.err
