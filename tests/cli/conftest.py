"""``rag-rules`` in this process, and something to explain."""

from pathlib import Path

import pytest

from rag_rule_explainer.cli import main
from tests.cli.runs import BUILT, RagRules, Run, jsonl


@pytest.fixture
def rag_rules(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> RagRules:
    """Runs the command in this process, without a key and without a wish for colours."""
    # Two runs print the same, whenever they are.
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1750000000")
    for name in ("OPENAI_API_KEY", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> Run:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Run(end.value.code, printed.out, printed.err)

    return run


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "sources.jsonl", *BUILT)


@pytest.fixture
def with_key(rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch) -> RagRules:
    monkeypatch.setenv("OPENAI_API_KEY", "any value")
    return rag_rules
